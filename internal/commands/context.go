package commands

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/wording"
)

func contextState(ctx context.Context, s *Session) error {
	system, err := s.Agent.SystemPrompt(ctx)
	if err != nil {
		return err
	}
	c := s.Agent.Snapshot()
	rows := [][]string{
		{"context", contextLine(s)},
		{"last request", fmt.Sprintf("%d tokens, as the provider counted", c.Tokens.LastAPI)},
		{"compaction", compactionLine(s.Agent.Profile().Settings.Compaction)},
		{"system prompt", fmt.Sprintf("%d characters", len([]rune(system)))},
	}
	switch {
	case c.Tokens.LastAPI > 0:
	case c.Stats.Iterations > 0:
		rows[1][1] = "not counted by the provider"
	default:
		rows[1][1] = "none yet"
	}
	count, tokens := map[string]int{}, map[string]int{}
	for _, m := range s.Agent.Messages() {
		if m.Sent() {
			count[m.Role]++
			tokens[m.Role] += m.Tokens
		}
	}
	for _, role := range []string{message.User, message.Assistant, message.Tool} {
		rows = append(rows, []string{role + " messages", fmt.Sprintf("%d, about %d tokens", count[role], tokens[role])})
	}
	rows = append(rows, []string{"tools", fmt.Sprintf("%d offered", len(c.AvailableTools))})
	s.Print(wording.Columns("", rows))
	return nil
}

func contextLine(s *Session) string {
	t := s.Agent.Snapshot().Tokens
	if t.Max == 0 {
		return fmt.Sprintf("about %d tokens, the size of the window is unknown", t.Estimate)
	}
	return fmt.Sprintf("about %d of %d tokens (%.0f%%)", t.Estimate, t.Max, t.Percent)
}

func compactionLine(c agent.Compaction) string {
	switch {
	case c.Disabled:
		return "off"
	case c.MaxTokens > 0:
		return fmt.Sprintf("above %d tokens", c.MaxTokens)
	}
	return fmt.Sprintf("above %.0f%%", c.Threshold)
}
