// Package todo_not_finished notices when the model stops although its todo list is
// not finished. What it says makes the loop go on; max_steps still bounds the turn.
package todo_not_finished

import (
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/sdk"
)

// AfterResponse runs after every answer, before its tools. plugin.yaml has the
// condition: auto mode is on and there are open todos.
func AfterResponse(_ context.Context, c sdk.AfterResponseContext) (sdk.Result, error) {
	// An answer with tool calls is still at work; an empty one is the business of
	// the plugin empty-response.
	if c.HasToolCalls || strings.TrimSpace(c.Response) == "" {
		return sdk.Result{}, nil
	}
	return sdk.Result{
		Message: fmt.Sprintf(
			"You stopped, but %d pending and %d in-progress todos are left. "+
				"Go on with the next one, or mark what is finished with TodoProgress.",
			c.TodoPending, c.TodoInProgress,
		),
		Role:   sdk.RoleUser,
		Prefix: "[todo-not-finished] ",
		Eject:  true,
	}, nil
}
