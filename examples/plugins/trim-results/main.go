// Package trim_results shortens old tool results on their way to the model. It shows
// TransformMessages: change the messages of one call. The history keeps all of them.
package trim_results

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// TransformMessages runs before every model call with the messages to be sent. It
// returns a copy; messages must stay in pairs of call and result.
func TransformMessages(_ context.Context, c sdk.TransformContext) ([]sdk.Message, error) {
	keep, limit := number(c.PluginConfig, "keep", 4), number(c.PluginConfig, "max_chars", 1000)
	out := make([]sdk.Message, len(c.Messages))
	copy(out, c.Messages)
	recent := 0
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Role != "tool" {
			continue
		}
		recent++
		text := []rune(out[i].Content)
		if recent > keep && len(text) > limit {
			out[i].Content = fmt.Sprintf(
				"%s\n[… %d characters left out; call the tool again if you need them]",
				string(text[:limit]),
				len(text)-limit,
			)
		}
	}
	return out, nil
}

func number(config map[string]any, key string, otherwise int) int {
	if v, ok := config[key].(int); ok && v >= 0 {
		return v
	}
	return otherwise
}
