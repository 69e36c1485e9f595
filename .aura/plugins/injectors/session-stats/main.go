// Package session_stats shows what the session has cost so far: turns, tool calls,
// context, the tools used most. It is a notice for the user; the model never
// sees it and pays nothing for it.
package session_stats

import (
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// BeforeChat runs before every model call, but speaks only before the first one of
// a turn.
func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	interval := number(c.PluginConfig, "interval", 5)
	if interval < 1 || c.Iteration != 1 || c.Stats.Turns%interval != 0 {
		return sdk.Result{}, nil
	}
	parts := []string{
		fmt.Sprintf("%d turns", c.Stats.Turns),
		fmt.Sprintf("%d tool calls (%d failed)", c.Stats.ToolCalls, c.Stats.ToolErrors),
		fmt.Sprintf("context %d tokens (%.0f%%)", c.Tokens.Estimate, c.Tokens.Percent),
	}
	if top := topTools(c.Stats.TopTools, number(c.PluginConfig, "top_tools", 3)); top != "" {
		parts = append(parts, "top tools: "+top)
	}
	return sdk.Result{Notice: strings.Join(parts, " | ")}, nil
}

// topTools names the first n tools; the host has sorted them.
func topTools(list []sdk.ToolCount, n int) string {
	var names []string
	for i, t := range list {
		if i >= n {
			break
		}
		names = append(names, fmt.Sprintf("%s %d", t.Name, t.Count))
	}
	return strings.Join(names, ", ")
}

// number reads a whole number of the configuration. YAML integers arrive as int.
func number(config map[string]any, key string, otherwise int) int {
	if v, ok := config[key].(int); ok {
		return v
	}
	return otherwise
}
