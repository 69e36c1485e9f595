package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/idelchi/aura/internal/foreign"
)

// Run executes the tool as everybody must: under its deadline and its guard. A panic in
// it is a *PanicError. A call that overran its deadline is a *foreign.LateError; one that
// the caller gave up is a *CancelledError. The arguments must satisfy the schema.
func (t *Tool) Run(ctx context.Context, call Call) (Result, error) {
	r, err := foreign.Call(ctx, t.Guard, t.Timeout, func(ctx context.Context) (Result, error) {
		return t.Execute(ctx, call)
	})
	if p, ok := errors.AsType[*foreign.PanicError](err); ok {
		return r, &PanicError{Tool: t.Name, Value: p.Value, Stack: p.Stack}
	}
	// A tool without a deadline is waited for, and says itself what became of it.
	if cause := context.Cause(ctx); t.Timeout > 0 && cause != nil &&
		(errors.Is(err, cause) || errors.Is(err, ctx.Err())) {
		return r, &CancelledError{cause}
	}
	return r, err
}

// Cancelled is what the model reads of a call that the user cancelled.
const Cancelled = "cancelled by the user"

// CancelledError is the error of a call that was left because its context ended.
type CancelledError struct{ Cause error }

func (e *CancelledError) Error() string { return Cancelled }
func (e *CancelledError) Unwrap() error { return e.Cause }

// PanicError is a panic of a tool, in the words that the model reads. The stack is for the
// log.
type PanicError struct {
	Tool  string
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("tool %s panicked: %v", e.Tool, e.Value) }
