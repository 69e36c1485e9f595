// Package empty_response handles answers with neither text nor tool calls, which
// some models send when they lose the thread: it asks the model to go on, a few
// times in a row at most.
package empty_response

import (
	"context"

	"github.com/idelchi/aura/sdk"
)

// nudges counts empty answers in a row. Package variables live until /reload, and
// calls into one plugin never overlap, so no lock is needed.
var nudges int

// AfterResponse runs after every answer, before its tools.
func AfterResponse(_ context.Context, c sdk.AfterResponseContext) (sdk.Result, error) {
	limit := 3
	if v, ok := c.PluginConfig["max_nudges"].(int); ok {
		limit = v
	}
	if !c.ResponseEmpty || c.Iteration == 1 { // A new turn counts anew.
		nudges = 0
	}
	if !c.ResponseEmpty || nudges >= limit {
		return sdk.Result{}, nil
	}
	nudges++
	return sdk.Result{
		Message: "Your last response was empty. Go on with the task: call a tool, or answer in words.",
		Role:    sdk.RoleUser,
		Prefix:  "[empty-response] ",
		Eject:   true,
	}, nil
}
