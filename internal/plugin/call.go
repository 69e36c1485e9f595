package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin/native"
	"github.com/idelchi/aura/internal/plugin/native/pipe"
)

// call runs f in the plugin, guarded and after waiting for its turn. Calls into one
// plugin do not overlap, so that its variables need no locks; only those that share
// may overlap with each other. The limit includes the waiting. A call that is left
// behind keeps its turn until it returns.
func call[T any](
	ctx context.Context, p *plugin, limit time.Duration, shared bool, f func(context.Context) (T, error),
) (T, error) {
	var begun atomic.Bool
	value, err := foreign.Call(ctx, p.guard, limit, func(ctx context.Context) (value T, err error) {
		if p.gate.enter(ctx, p.guard.Ended(), shared) {
			defer p.gate.leave(shared)
			begun.Store(true)
		}
		if err := p.guard.Err(); err != nil { // The call before this one was the last.
			return value, err
		}
		if !begun.Load() {
			return value, ctx.Err()
		}
		if p.taskEnv != nil {
			p.env.inject(p.taskEnv())
		}
		return f(ctx)
	})
	if err == nil {
		return value, nil
	}
	if _, late := errors.AsType[*foreign.LateError](err); late && !begun.Load() {
		err = fmt.Errorf("another call into the plugin has not finished after %s", limit)
	}
	return value, p.translate(err)
}

// run is call for functions without an error.
func run[T any](ctx context.Context, p *plugin, f func() T) (T, error) {
	return call(ctx, p, p.limit, false, func(context.Context) (T, error) { return f(), nil })
}

// panicError is a panic of plugin code.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("plugin panic: %v", e.value) }

// goneError is the error of a call during which the plugin's process ended.
type goneError struct {
	plugin string
	err    error
}

func (e *goneError) Error() string {
	return fmt.Sprintf("%v; plugin %q is switched off until /reload", e.err, e.plugin)
}

// translate words a panic and what happened in the plugin's own process. Functions
// without an error result have no other way than to panic with the latter.
func (p *plugin) translate(err error) error {
	if e, ok := errors.AsType[*foreign.PanicError](err); ok {
		inner, _ := e.Value.(error)
		if _, exited := errors.AsType[*native.ExitError](inner); !exited && !errors.As(inner, new(*pipe.Panic)) {
			return p.panicked(e.Value, e.Stack)
		}
		err = inner
	}
	if e, ok := errors.AsType[*pipe.Panic](err); ok {
		return p.panicked(e.Value, e.Stack)
	}
	if e, ok := errors.AsType[*native.ExitError](err); ok {
		p.guard.SwitchOff(e.Error())
		return &goneError{p.name, e}
	}
	return err
}

// panicked logs a panic and makes an error of it.
func (p *plugin) panicked(value any, stack string) error {
	p.log.Error("panic", "plugin", p.name, "value", fmt.Sprint(value), "stack", stack)
	return &panicError{value}
}

// asFault tells the pipeline which errors of a hook the user must hear of.
func asFault(err error) error {
	if e, ok := errors.AsType[*panicError](err); ok {
		return &lifecycle.Fault{Verdict: lifecycle.Panicked, Err: e}
	}
	if e, ok := errors.AsType[*goneError](err); ok {
		return &lifecycle.Fault{Verdict: lifecycle.Panicked, Err: e}
	}
	if e, ok := errors.AsType[*foreign.LateError](err); ok {
		return &lifecycle.Fault{Verdict: lifecycle.TimedOut, Err: e}
	}
	return err
}

// named adds the plugin to an error that would otherwise not say whose it is.
func (p *plugin) named(err error) error {
	if _, ok := errors.AsType[*panicError](err); ok {
		return fmt.Errorf("plugin %q: %w", p.name, err)
	}
	return err
}
