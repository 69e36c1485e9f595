// Package turn_tracker tells the model, every few turns, how the conversation
// stands, and complains about very long answers.
package turn_tracker

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// warned is the last turn with a complaint. The complaint makes the model answer
// again; one per turn is enough.
var warned int

// BeforeChat runs before every model call, but speaks only before the first one of
// a turn.
func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	interval := number(c.PluginConfig, "interval", 3)
	if interval < 1 || c.Iteration != 1 || c.Stats.Turns%interval != 0 {
		return sdk.Result{}, nil
	}
	return sdk.Result{
		Message: fmt.Sprintf(
			"=== TURN %d | context: %d tokens (%.0f%%) | agent: %s | model: %s | messages: %d ===",
			c.Stats.Turns,
			c.Tokens.Estimate,
			c.Tokens.Percent,
			c.Agent,
			c.ModelInfo.Name,
			c.MessageCount,
		),
		Role:   sdk.RoleUser,
		Prefix: "[turn-tracker] ",
		Eject:  true,
	}, nil
}

// AfterResponse runs after every answer, before its tools.
func AfterResponse(_ context.Context, c sdk.AfterResponseContext) (sdk.Result, error) {
	limit, length := number(c.PluginConfig, "max_response", 5000), len(c.Response)
	if limit < 1 || length <= limit || c.Stats.Turns == warned {
		return sdk.Result{}, nil
	}
	warned = c.Stats.Turns
	return sdk.Result{
		Message: fmt.Sprintf(
			"Last response was %d characters -- that's very long. Consider asking for shorter answers.",
			length,
		),
		Prefix: "[turn-tracker] ",
	}, nil
}

// number reads a whole number of the configuration. YAML integers arrive as int.
func number(config map[string]any, key string, otherwise int) int {
	if v, ok := config[key].(int); ok {
		return v
	}
	return otherwise
}
