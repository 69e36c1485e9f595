// Package todo_reminder keeps a long autonomous turn on its course: every so many
// model calls it tells the model how much of its todo list is still open.
package todo_reminder

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// BeforeChat runs before every model call. plugin.yaml has the condition: auto mode
// is on and there are open todos.
func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	interval := 20
	if v, ok := c.PluginConfig["interval"].(int); ok {
		interval = v
	}
	// Iteration starts at 1 in each turn, so the plugin has nothing to count itself.
	if interval < 1 || c.Iteration == 0 || c.Iteration%interval != 0 {
		return sdk.Result{}, nil
	}
	return sdk.Result{
		Message: fmt.Sprintf(
			"You have %d pending and %d in-progress todos of %d. Check the list with TodoList, keep it up to "+
				"date, and go on with the next item.",
			c.TodoPending,
			c.TodoInProgress,
			c.TodoTotal,
		),
		Role:   sdk.RoleUser, // Models follow the user more readily than themselves.
		Prefix: "[todo-reminder] ",
		Eject:  true, // Seen by one model call; the next reminder has newer numbers.
	}, nil
}
