// Package loop_detection notices when the model makes the same tool call again and
// again and tells it that the result will not change.
package loop_detection

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// AfterToolExecution runs after every tool call that was executed. The last entry of
// ToolHistory is the call that has just finished.
func AfterToolExecution(_ context.Context, c sdk.AfterToolContext) (sdk.Result, error) {
	window := 2
	if v, ok := c.PluginConfig["window"].(int); ok {
		window = v
	}
	repeated := repetitions(c.ToolHistory)
	if window < 2 || repeated < window {
		return sdk.Result{}, nil
	}
	return sdk.Result{
		Message: fmt.Sprintf(
			"You called %s with the same arguments %d times in a row. The result will not change: use what you "+
				"have, or try something else.",
			c.ToolName,
			repeated,
		),
		Role:   sdk.RoleUser,
		Prefix: "[loop-detection] ",
	}, nil
}

// repetitions counts how many calls at the end of the history equal the last one.
// ArgsJSON has sorted keys, so equal arguments have equal texts.
func repetitions(history []sdk.ToolCall) int {
	n := 0
	for i := len(history) - 1; i >= 0; i-- {
		last := history[len(history)-1]
		if history[i].Name != last.Name || history[i].ArgsJSON != last.ArgsJSON {
			break
		}
		n++
	}
	return n
}
