package plugin

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin/native"
	"github.com/idelchi/aura/internal/plugin/native/pipe"
)

const (
	// lateness is how long a call may take to notice that its time is up.
	lateness = 100 * time.Millisecond
	// quitAfter is the same when the user ended the call, who does not wait for it.
	quitAfter = 5 * time.Second
)

// overdue is why a plugin with an endless call cannot be called.
const overdue = "a call did not end when its time was up"

// job is one call on its way into the plugin.
type job struct {
	shared bool
	ctx    context.Context
	f      func(context.Context) error
	done   chan error // Buffered: nobody may be waiting any more.
}

// panicError is a panic of plugin code.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("plugin panic: %v", e.value) }

// lateError is the error of a call that did not return in time.
type lateError struct {
	limit time.Duration
	off   string // Name of the plugin, if it had to be switched off.
}

func (e *lateError) Error() string {
	if e.off != "" {
		return fmt.Sprintf(
			"timed out after %s and does not stop: plugin %q is switched off until /reload",
			e.limit,
			e.off,
		)
	}
	return fmt.Sprintf("timed out after %s", e.limit)
}

// call runs f in the plugin: under a deadline, with panics turned into errors, and
// after waiting for its turn. Calls into one plugin do not overlap, so that its
// variables need no locks; only those that share may overlap with each other. A
// call that does not return in time is left behind and its plugin switched off.
func (p *plugin) call(ctx context.Context, limit time.Duration, shared bool, f func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.enter(ctx, limited, limit, shared); err != nil {
		return err
	}
	j := p.spare.Swap(nil)
	if j == nil {
		j = &job{done: make(chan error, 1)}
	}
	j.shared, j.ctx, j.f = shared, limited, f
	if shared {
		go p.perform(j)
	} else {
		p.hand(j)
	}
	select {
	case err := <-j.done:
		j.ctx, j.f = nil, nil
		p.spare.Store(j)
		return err
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		go p.expect(j, quitAfter)
		return context.Cause(ctx)
	}
	if p.expect(j, lateness) {
		return &lateError{limit: limit}
	}
	return &lateError{limit, p.name}
}

// invoke is call for functions that take the context. Where they return as soon as
// it ends, nobody else has to do it.
func (p *plugin) invoke(
	ctx context.Context,
	limit time.Duration,
	shared bool,
	f func(ctx context.Context) error,
) error {
	if !p.prompt {
		return p.call(ctx, limit, shared, f)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.enter(ctx, limited, limit, shared); err != nil {
		return err
	}
	err := p.protect(limited, f)
	pending, left := errors.AsType[*pipe.Pending](err)
	switch {
	case !left:
		p.gate.leave(shared)
		return err
	case ctx.Err() != nil:
		go p.settle(pending, quitAfter, shared)
		return context.Cause(ctx)
	case p.settle(pending, lateness, shared):
		return &lateError{limit: limit}
	}
	return &lateError{limit, p.name}
}

// settle waits for a call whose time is up; if it does not end, the plugin does.
func (p *plugin) settle(call *pipe.Pending, patience time.Duration, shared bool) bool {
	defer p.gate.leave(shared)
	if call.Wait(patience) {
		return true
	}
	p.stop(overdue)
	return false
}

// enter waits for the turn of a call. limited is ctx with the limit.
func (p *plugin) enter(ctx, limited context.Context, limit time.Duration, shared bool) error {
	if err := p.usable(); err != nil { // The call that made it so may hold the gate for ever.
		return err
	}
	if err := p.gate.enter(limited, shared); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("another call into the plugin has not finished after %s", limit)
	}
	if err := p.usable(); err != nil {
		p.gate.leave(shared)
		return err
	}
	return nil
}

// hand gives a job to the goroutine that runs those that do not overlap. One that
// lives as long as the plugin is five times cheaper than a new one per call.
func (p *plugin) hand(j *job) {
	p.work.Do(func() {
		p.jobs = make(chan *job)
		go func() {
			for {
				select {
				case j := <-p.jobs:
					p.perform(j)
				case <-p.guard.Ended():
					return
				}
			}
		}()
	})
	select {
	case p.jobs <- j:
	case <-p.guard.Ended():
		p.gate.leave(j.shared)
		j.done <- p.usable()
	}
}

// perform runs a job to its end.
func (p *plugin) perform(j *job) {
	err := p.protect(j.ctx, j.f)
	if off := p.usable(); off != nil && err == nil {
		err = off // A call that was stopped returns zero values.
	}
	p.gate.leave(j.shared)
	j.done <- err
}

// protect turns a panic into an error.
func (p *plugin) protect(ctx context.Context, f func(context.Context) error) (err error) {
	defer func() {
		v := recover()
		if failed, ok := v.(error); ok && elsewhere(failed) {
			v, err = nil, failed
		}
		if v != nil {
			p.log.Error("panic", "plugin", p.name, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = &panicError{v}
		}
		err = p.translate(err)
	}()
	if p.taskEnv != nil {
		p.env.inject(p.taskEnv())
	}
	return f(ctx)
}

// elsewhere reports whether an error tells of what happened in the plugin's own
// process. Functions without an error result have no other way than to panic with it.
func elsewhere(err error) bool {
	_, panicked := errors.AsType[*pipe.Panic](err)
	_, exited := errors.AsType[*native.ExitError](err)
	return panicked || exited
}

// translate words what happened in the plugin's own process.
func (p *plugin) translate(err error) error {
	if e, ok := errors.AsType[*pipe.Panic](err); ok {
		p.log.Error("panic", "plugin", p.name, "value", e.Value, "stack", e.Stack)
		return &panicError{e.Value}
	}
	if e, ok := errors.AsType[*native.ExitError](err); ok {
		p.stop(e.Error())
		return &goneError{p.name, e}
	}
	return err
}

// goneError is the error of a call during which the plugin's process ended.
type goneError struct {
	plugin string
	err    error
}

func (e *goneError) Error() string {
	return fmt.Sprintf("%v; plugin %q is switched off until /reload", e.err, e.plugin)
}

// expect waits for a job whose time is up; if it does not end, the plugin does.
func (p *plugin) expect(j *job, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-j.done:
		return true
	case <-p.guard.Ended():
		return true
	case <-timer.C:
		p.stop(overdue)
		return false
	}
}

// usable is the error of a plugin that must not be called any more.
func (p *plugin) usable() error {
	return p.guard.Err()
}

// asFault tells the pipeline which errors of a hook the user must hear of.
func asFault(err error) error {
	if e, ok := errors.AsType[*panicError](err); ok {
		return &lifecycle.Fault{Verdict: lifecycle.Panicked, Err: e}
	}
	if e, ok := errors.AsType[*goneError](err); ok {
		return &lifecycle.Fault{Verdict: lifecycle.Panicked, Err: e}
	}
	if e, ok := errors.AsType[*lateError](err); ok {
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
