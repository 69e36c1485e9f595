// Package retry_later gives an overloaded provider a second chance, and a third. It
// shows OnError: retry a model call. The host allows three retries for each call.
package retry_later

import (
	"context"
	"fmt"
	"time"

	"github.com/idelchi/aura/sdk"
)

// The retries of one model call.
var (
	call    int
	retries int
)

// OnError runs when a provider error has survived every built-in recovery.
func OnError(ctx context.Context, c sdk.OnErrorContext) (sdk.Result, error) {
	if !c.Retryable { // A wrong key does not become right by waiting.
		return sdk.Result{}, nil
	}
	if c.Stats.Iterations != call {
		call, retries = c.Stats.Iterations, 0
	}
	seconds := 5
	if v, ok := c.PluginConfig["wait"].(int); ok && v >= 0 {
		seconds = v
	}
	wait := time.Duration(seconds<<retries) * time.Second
	retries++
	select {
	case <-time.After(wait):
	case <-ctx.Done(): // The user interrupts, or the deadline has come.
		return sdk.Result{}, ctx.Err()
	}
	return sdk.Result{
		Error:  &sdk.ErrorModification{Retry: true},
		Notice: fmt.Sprintf("%s, tried again after %s", c.ErrorType, wait),
	}, nil
}
