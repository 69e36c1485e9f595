// Package foreign calls code that aura did not write: handlers, tools and commands
// of every kind of extension. A call has a deadline, a panic in it is an error, and
// code that does not return is left behind and switched off. It does not know how
// code is stopped: that is the one thing each kind brings.
package foreign

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lateness is how long a call may take to notice that its time is up.
	lateness = 100 * time.Millisecond
	// quitAfter is the same after the user cancelled, who does not wait for it.
	quitAfter = 5 * time.Second
)

// Why a guard is off.
const (
	Overdue  = "a call did not end when its time was up"
	Released = "it was released"
)

// Guard watches over the calls into one piece of foreign code, such as a plugin, and
// remembers whether it may still be called. A nil Guard is for code that is never
// switched off. A Guard may be used by several goroutines.
type Guard struct {
	name string
	stop func(why string)

	once  sync.Once
	off   atomic.Pointer[string]
	ended chan struct{} // Closed when the code is switched off.

	start sync.Once
	jobs  chan job    // For the goroutine that makes calls.
	busy  atomic.Bool // It has one.

	spare atomic.Pointer[time.Timer]
}

// NewGuard makes a guard. The name is what errors call the code: `plugin "careful"`.
// stop ends what runs in it, as far as that is possible; it is called once, when the
// code is switched off or released. nil does nothing; nobody need release such a guard.
func NewGuard(name string, stop func(why string)) *Guard {
	return &Guard{name: name, stop: stop, ended: make(chan struct{})}
}

// Err is the error of code that must not be called any more; nil while it may be.
func (g *Guard) Err() error {
	if g == nil {
		return nil
	}
	if why := g.off.Load(); why != nil {
		return &OffError{g.name, *why}
	}
	return nil
}

// Why is the reason why the code is switched off; empty while it is not.
func (g *Guard) Why() string {
	if g == nil {
		return ""
	}
	if why := g.off.Load(); why != nil {
		return *why
	}
	return ""
}

// SwitchOff makes the code unusable, with the reason, and stops it. It reports whether
// the code was usable until then.
func (g *Guard) SwitchOff(why string) (first bool) {
	if g == nil {
		return false
	}
	g.once.Do(func() {
		first = true
		g.off.Store(&why)
		close(g.ended)
		if g.stop != nil {
			g.stop(why)
		}
	})
	return first
}

// Release is SwitchOff for code that is no longer needed.
func (g *Guard) Release() { g.SwitchOff(Released) }

// Ended is closed when the code is switched off.
func (g *Guard) Ended() <-chan struct{} { return g.ended }

// Call runs f under a deadline; a limit of 0 is none, and f then runs in the goroutine
// of the caller. The error is a *PanicError if f panicked, a *LateError if it did not
// return in time, an *OffError if the code is switched off, or the cause of ctx if the
// caller gave up. What f returns after that is dropped.
func Call[T any](
	ctx context.Context, g *Guard, limit time.Duration, f func(context.Context) (T, error),
) (value T, err error) {
	if err := g.Err(); err != nil {
		return value, err
	}
	if limit <= 0 {
		value, err = protect(ctx, f)
		return value, g.stopped(err)
	}
	c := &call[T]{f: f, done: make(chan struct{})}
	c.ctx.Context, c.ctx.deadline = ctx, time.Now().Add(limit)
	defer c.ctx.end(context.Canceled)
	timer := g.timer(limit)
	g.run(c) // From here on the goroutine of the call waits for this one to let go of the processor.
	select {
	case <-c.done:
	case <-ctx.Done():
		c.ctx.end(ctx.Err())
	case <-timer.C:
		c.ctx.end(context.DeadlineExceeded)
	}
	g.putTimer(timer)
	if ctx.Err() != nil || c.ctx.Err() != nil || c.failed() {
		return value, g.overdue(ctx, limit, c.done)
	}
	return c.value, g.stopped(c.err)
}

// Remote is Call for code that runs elsewhere, as in another process: f runs in the
// goroutine of the caller, and returns when its context ends. If the code goes on, the
// error of f is a Pending.
func Remote[T any](
	ctx context.Context, g *Guard, limit time.Duration, f func(context.Context) (T, error),
) (value T, err error) {
	if err := g.Err(); err != nil {
		return value, err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	result, err := protect(limited, f)
	if pending, ok := errors.AsType[Pending](err); ok {
		return value, g.overdue(ctx, limit, pending.Done())
	}
	switch {
	case ctx.Err() != nil:
		return value, context.Cause(ctx)
	case err != nil && limited.Err() != nil:
		return value, &LateError{Limit: limit}
	}
	return result, g.stopped(err)
}

// Pending is an error of a call that has not ended.
type Pending interface {
	error
	Done() <-chan struct{} // Closed when it has.
}

// overdue is the error of a call whose time is up. done is closed when it has ended; if
// that does not happen soon, the code is switched off.
func (g *Guard) overdue(ctx context.Context, limit time.Duration, done <-chan struct{}) error {
	if ctx.Err() != nil {
		go g.expect(done, quitAfter)
		return context.Cause(ctx)
	}
	late := &LateError{Limit: limit}
	if !g.expect(done, lateness) && g != nil {
		late.Off = g.name
	}
	return late
}

// call is one call on its way.
type call[T any] struct {
	ctx  callContext
	f    func(context.Context) (T, error)
	done chan struct{} // Closed when it has returned.

	value T // Written before.
	err   error
}

func (c *call[T]) run() { c.value, c.err = protect(&c.ctx, c.f) }

func (c *call[T]) finish() { close(c.done) }

// failed reports whether a call that has returned did so with an error because its time
// was up.
func (c *call[T]) failed() bool { return c.err != nil && !time.Now().Before(c.ctx.deadline) }

// callContext is the context of a call. The caller, who waits for the call, ends it: a
// context of package context costs more than most calls do.
type callContext struct {
	context.Context // Of the caller.
	deadline        time.Time

	mu   sync.Mutex
	err  error         // Why it has ended.
	done chan struct{} // nil: nobody has asked.
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) {
	if d, ok := c.Context.Deadline(); ok && d.Before(c.deadline) {
		return d, true
	}
	return c.deadline, true
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err implements context.Context.
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// end ends the context, unless it has ended.
func (c *callContext) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	if c.err = err; c.done != nil {
		close(c.done)
	}
}

// stopped is the error of a call that has returned: code that was stopped meanwhile
// returns, but what it returns means nothing.
func (g *Guard) stopped(err error) error {
	if err == nil {
		return g.Err()
	}
	return err
}

// expect waits for a call whose time is up. If it does not end, the code is switched off.
func (g *Guard) expect(done <-chan struct{}, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		g.SwitchOff(Overdue)
		return false
	}
}

// job is a call for the goroutine of a guard.
type job interface {
	run()
	finish() // Tells the caller.
}

// run makes a call in another goroutine. Calls that do not overlap share one: its stack
// has grown to what this code needs, and growing it again for every call costs more
// than most calls do.
func (g *Guard) run(j job) {
	if g == nil || g.stop == nil || !g.busy.CompareAndSwap(false, true) {
		go func() {
			defer j.finish()
			j.run()
		}()
		return
	}
	g.start.Do(func() {
		g.jobs = make(chan job, 1)
		go g.work()
	})
	g.jobs <- j
}

// work makes calls until the code is switched off.
func (g *Guard) work() {
	for {
		var j job
		select {
		case j = <-g.jobs:
		case <-g.ended:
			if g.busy.CompareAndSwap(false, true) {
				return // For good: later calls get goroutines of their own.
			}
			j = <-g.jobs // It is on its way.
		}
		j.run()
		g.busy.Store(false) // Before the caller goes on: its next call finds this goroutine free.
		j.finish()
	}
}

// timer returns a timer that fires after d; putTimer takes it back.
func (g *Guard) timer(d time.Duration) *time.Timer {
	if g != nil {
		if t := g.spare.Swap(nil); t != nil {
			t.Reset(d)
			return t
		}
	}
	return time.NewTimer(d)
}

func (g *Guard) putTimer(t *time.Timer) {
	if t.Stop(); g != nil {
		g.spare.Store(t)
	}
}

// protect turns a panic of f into an error.
func protect[T any](ctx context.Context, f func(context.Context) (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			var zero T
			value, err = zero, &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return f(ctx)
}

// PanicError is a panic of foreign code.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// LateError is the error of a call that did not return in time.
type LateError struct {
	Limit time.Duration
	Off   string // What had to be switched off because the call does not stop; empty if nothing.
}

func (e *LateError) Error() string {
	if e.Off != "" {
		return fmt.Sprintf("timed out after %s and does not stop: %s is switched off until /reload", e.Limit, e.Off)
	}
	return fmt.Sprintf("timed out after %s", e.Limit)
}

// OffError is the error of code that is switched off.
type OffError struct{ Name, Why string }

func (e *OffError) Error() string {
	return fmt.Sprintf("%s is switched off: %s; /reload starts it again", e.Name, e.Why)
}
