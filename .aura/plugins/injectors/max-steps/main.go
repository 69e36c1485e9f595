// Package max_steps lets a turn that reaches its limit of model calls end with a
// summary instead of an error: on the last call there are no tools left to call.
package max_steps

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

// BeforeChat runs before every model call.
func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	if c.MaxSteps < 1 || c.Iteration < c.MaxSteps {
		return sdk.Result{}, nil
	}
	return sdk.Result{
		Message: fmt.Sprintf(
			"This is step %d of %d, the last one of this turn. Tools are disabled. "+
				"Say what you have done, what is left, and what the next step would be.",
			c.Iteration, c.MaxSteps,
		),
		Role:         sdk.RoleUser,
		Prefix:       "[max-steps] ",
		Eject:        true,
		DisableTools: []string{"*"}, // Until the end of the turn; the next one has them again.
	}, nil
}
