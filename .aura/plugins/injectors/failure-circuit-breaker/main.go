// Package failure_circuit_breaker ends the guessing when nothing works: after so
// many different tool calls failed one after another it tells the model to stop and
// think. The same call repeated is counted once; that is a loop (loop-detection).
package failure_circuit_breaker

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// AfterToolExecution runs after every tool call that was executed.
func AfterToolExecution(_ context.Context, c sdk.AfterToolContext) (sdk.Result, error) {
	limit := 3
	if v, ok := c.PluginConfig["max_failures"].(int); ok {
		limit = v
	}
	failed := failures(c.ToolHistory)
	if limit < 1 || failed < limit {
		return sdk.Result{}, nil
	}
	r := sdk.Result{
		Message: fmt.Sprintf(
			"STOP: %d different tool calls failed one after another, the last with: %s\n"+
				"Do not try variations. Say what you know about the cause, and ask the user if you cannot find it.",
			failed, c.ToolError,
		),
		Role:   sdk.RoleUser,
		Prefix: "[failure-circuit-breaker] ",
	}
	if v, ok := c.PluginConfig["disable_tools"].(bool); ok && v {
		r.DisableTools = []string{"*"}
	}
	return r, nil
}

// failures counts the different calls that failed since the last success. The
// history holds the calls of the current turn, the newest last.
func failures(history []sdk.ToolCall) int {
	different := map[string]bool{}
	for i := len(history) - 1; i >= 0 && history[i].Error != ""; i-- {
		different[history[i].Name+" "+history[i].ArgsJSON] = true
	}
	return len(different)
}
