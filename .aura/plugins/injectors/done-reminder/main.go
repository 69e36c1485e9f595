// Package done_reminder holds the model to its word: after /done on, a turn is over
// when the model calls the Done tool, not when it merely falls silent.
package done_reminder

import (
	"context"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// The reminders of one turn.
var (
	turn      int
	reminders int
)

// AfterResponse runs after every answer, before its tools.
func AfterResponse(_ context.Context, c sdk.AfterResponseContext) (sdk.Result, error) {
	limit := 3
	if v, ok := c.PluginConfig["max_reminders"].(int); ok {
		limit = v
	}
	if !c.DoneActive || c.HasToolCalls || strings.TrimSpace(c.Response) == "" {
		return sdk.Result{}, nil
	}
	if c.Stats.Turns != turn {
		turn, reminders = c.Stats.Turns, 0
	}
	if reminders >= limit {
		return sdk.Result{}, nil
	}
	reminders++
	return sdk.Result{
		Message: "You stopped without calling the Done tool. If the task is finished, call Done with a summary; " +
			"otherwise go on.",
		Role:   sdk.RoleUser,
		Prefix: "[done-reminder] ",
		Eject:  true,
	}, nil
}
