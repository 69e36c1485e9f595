// Package foreign calls code that aura did not write: handlers, tools and commands
// of every kind of extension. A call has a deadline, a panic in it is an error, and
// code that does not return is left behind and switched off. It does not know how
// code is stopped: that is the one thing each kind brings.
package foreign

import (
	"context"
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
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := &call[T]{done: make(chan struct{})}
	g.run(func() { c.value, c.err = protect(limited, f) }, c.done)
	select {
	case <-c.done:
		switch {
		case ctx.Err() != nil:
			return value, context.Cause(ctx)
		case c.err != nil && limited.Err() != nil:
			return value, &LateError{Limit: limit}
		}
		return c.value, g.stopped(c.err)
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		go g.expect(c.done, quitAfter)
		return value, context.Cause(ctx)
	}
	if g.expect(c.done, lateness) {
		return value, &LateError{Limit: limit}
	}
	late := &LateError{Limit: limit}
	if g != nil {
		late.Off = g.name
	}
	return value, late
}

// call is what a call returned. It is written before done is closed.
type call[T any] struct {
	done  chan struct{}
	value T
	err   error
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

// run calls f in another goroutine and closes done. Calls that do not overlap share one:
// its stack has grown to what this code needs, and growing it again for every call costs
// more than most calls do.
func (g *Guard) run(f func(), done chan<- struct{}) {
	if g == nil || g.stop == nil || !g.busy.CompareAndSwap(false, true) {
		go func() {
			defer close(done)
			f()
		}()
		return
	}
	g.start.Do(func() {
		g.jobs = make(chan job, 1)
		go g.work()
	})
	g.jobs <- job{f, done}
}

// job is a call for the goroutine of a guard.
type job struct {
	f    func()
	done chan<- struct{}
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
		j.f()
		g.busy.Store(false) // Before the caller goes on: its next call finds this goroutine free.
		close(j.done)
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
