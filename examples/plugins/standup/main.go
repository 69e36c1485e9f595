// Package standup is a slash command: /standup [audience] asks the model for a short
// report and gives it the facts. It shows Command, ExecuteCommand and Forward.
package standup

import (
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// Command describes the command.
func Command() sdk.CommandSchema {
	return sdk.CommandSchema{
		Name:        "standup",
		Description: "Report on this session: done, next, blocked.",
		Hints:       []string{"audience"},
		Forward:     true, // The output goes to the model, as if the user had typed it.
		Silent:      true, // And is not shown.
	}
}

// ExecuteCommand makes the prompt. args is everything after the name.
func ExecuteCommand(_ context.Context, args string, c sdk.Context) (sdk.CommandResult, error) {
	audience := strings.TrimSpace(args)
	if audience == "" {
		audience = "the team"
	}
	facts := []string{
		fmt.Sprintf("%d turns, %d tool calls, %d of them failed", c.Stats.Turns, c.Stats.ToolCalls, c.Stats.ToolErrors),
		fmt.Sprintf("todos: %d pending, %d in progress, %d in all", c.TodoPending, c.TodoInProgress, c.TodoTotal),
	}
	for _, t := range c.Stats.TopTools {
		facts = append(facts, fmt.Sprintf("%s was used %d times", t.Name, t.Count))
	}
	return sdk.CommandResult{Output: fmt.Sprintf(
		"Write a stand-up report on this session for %s: what is done, what is next, what is blocked; one line "+
			"each, no preamble. Facts:\n- %s",
		audience,
		strings.Join(facts, "\n- "),
	)}, nil
}
