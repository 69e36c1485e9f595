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
)

// call runs f in the plugin, guarded and after waiting for its turn. Calls into one
// plugin do not overlap, so that its variables need no locks; only those that share
// may overlap with each other. The limit includes the waiting. A call that is left
// behind keeps its turn until it ends. f hands its context on to the plugin.
func call[T any](
	ctx context.Context, p *plugin, limit time.Duration, shared bool, f func(context.Context) (T, error),
) (T, error) {
	if p.remote {
		return guarded(ctx, p, foreign.Remote[T], limit, shared, f)
	}
	return guarded(ctx, p, foreign.Call[T], limit, shared, f)
}

// run is call for functions without context and error.
func run[T any](ctx context.Context, p *plugin, f func() T) (T, error) {
	return guarded(ctx, p, foreign.Call[T], p.limit, false, func(context.Context) (T, error) { return f(), nil })
}

// guarded is call by way of foreign.Call or foreign.Remote.
func guarded[T any](
	ctx context.Context, p *plugin,
	guard func(context.Context, *foreign.Guard, time.Duration, func(context.Context) (T, error)) (T, error),
	limit time.Duration, shared bool, f func(context.Context) (T, error),
) (T, error) {
	var begun atomic.Bool
	value, err := guard(ctx, p.guard, limit, func(ctx context.Context) (value T, err error) {
		if !p.gate.enter(ctx, p.guard.Ended(), shared) {
			if err := p.guard.Err(); err != nil {
				return value, err
			}
			return value, ctx.Err()
		}
		begun.Store(true)
		defer func() { p.leave(err, shared) }()
		if err := p.guard.Err(); err != nil { // The call before this one was the last.
			return value, err
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

// leave ends the turn of a call, or lets it end when the call does.
func (p *plugin) leave(err error, shared bool) {
	if pending, ok := errors.AsType[foreign.Pending](err); ok {
		go func() {
			<-pending.Done()
			p.gate.leave(shared)
		}()
		return
	}
	p.gate.leave(shared)
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
		if _, exited := errors.AsType[*native.ExitError](inner); !exited && !errors.As(inner, new(*native.Panic)) {
			return p.panicked(e.Value, e.Stack)
		}
		err = inner
	}
	if e, ok := errors.AsType[*native.Panic](err); ok {
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
