package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/wording"
)

func info(ctx context.Context, s *Session) error {
	s.Agent.ResolveModel(ctx)
	c := s.Agent.Snapshot()
	reads := readRule(s)
	rows := [][]string{
		{"agent", c.Agent},
		{"mode", orNone(c.Mode)},
		{"provider", orNone(c.Provider)},
		{"model", modelLine(c.ModelInfo.Name, c.ModelInfo.Capabilities)},
		{"think", c.ThinkMode},
		{"context", contextLine(s)},
		{"workdir", c.Workdir},
		{"session", sessionLine(s)},
		{"title", orNone(c.SessionTitle)},
		{"messages", fmt.Sprint(c.MessageCount)},
		{"todos", fmt.Sprintf("%d pending, %d in progress, %d in all", c.TodoPending, c.TodoInProgress, c.TodoTotal)},
		{
			"inputs",
			fmt.Sprintf(
				"%d, %d of them turns, %d model calls (at most %d per turn)",
				c.Stats.Interactions,
				c.Stats.Turns,
				c.Stats.Iterations,
				c.MaxSteps,
			),
		},
		{"tool calls", toolCallsLine(s)},
		{"tokens", fmt.Sprintf("%d in, %d out", c.Stats.TokensIn, c.Stats.TokensOut)},
		{"compactions", fmt.Sprint(c.Stats.Compactions)},
		{"duration", c.Stats.Duration.Round(time.Second).String()},
		{"auto", onOff(c.Auto)},
		{"done", onOff(c.DoneActive)},
		{"verbose", onOff(c.Features.ShowThinking)},
		{"sandbox", onOff(c.Features.Sandbox)},
		{"read before", fmt.Sprintf("write %s, delete %s", onOff(reads.Write), onOff(reads.Delete))},
	}
	s.Print(wording.Columns("", rows))
	return nil
}

func modelLine(name string, capabilities []string) string {
	line := orNone(name)
	if len(capabilities) > 0 {
		line += " (" + strings.Join(capabilities, ", ") + ")"
	}
	return line
}

func sessionLine(s *Session) string {
	log := s.Agent.Log()
	if log == nil {
		return "none: nothing is kept"
	}
	line := s.Agent.Snapshot().SessionID
	if name := log.Meta().Name; name != "" {
		line += ", named " + name
	}
	if !log.Saved() {
		line += " (not on disk yet)"
	}
	return line
}

func toolCallsLine(s *Session) string {
	stats := s.Agent.Snapshot().Stats
	line := fmt.Sprintf("%d, %d failed", stats.ToolCalls, stats.ToolErrors)
	const most = 5
	var top []string
	for _, t := range stats.TopTools[:min(most, len(stats.TopTools))] {
		top = append(top, fmt.Sprintf("%s %d", t.Name, t.Count))
	}
	if len(top) > 0 {
		line += " (" + strings.Join(top, ", ") + ")"
	}
	return line
}
