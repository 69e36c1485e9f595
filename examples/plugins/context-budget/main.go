// Package context_budget makes the model save room when the context fills up. It
// shows BeforeChat: add to the system prompt of a call, and tell the user.
package context_budget

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// told remembers that the user knows, until there is room again.
var told bool

// BeforeChat runs before every model call.
func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	threshold := 70
	if v, ok := c.PluginConfig["threshold"].(int); ok {
		threshold = v
	}
	if c.Tokens.Percent < float64(threshold) {
		told = false
		return sdk.Result{}, nil
	}
	text := fmt.Sprintf(
		"The context is %.0f%% full. Read only the parts of files that you need, keep answers short, and do not "+
			"repeat what was said.",
		c.Tokens.Percent,
	)
	r := sdk.Result{Request: &sdk.RequestModification{AppendSystem: &text}}
	if !told {
		told = true
		r.Notice = fmt.Sprintf(
			"the context is %.0f%% full (%d of %d tokens); /compact makes room",
			c.Tokens.Percent,
			c.Tokens.Estimate,
			c.Tokens.Max,
		)
	}
	return r, nil
}
