package plugin

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// unwatched is how long a call in place may take before somebody looks after it.
	// Nearly all have returned by then.
	unwatched = 20 * time.Millisecond
	// quitHere is quitAfter for a call in place, which the user has to wait for.
	quitHere = time.Second
)

// hook is invoke for hooks, in the goroutine of the caller if the program allows it:
// handing a call over costs more than most hooks do.
func (p *plugin) hook(ctx context.Context, f func(ctx context.Context) error) error {
	if p.stops {
		return p.here(ctx, p.limit, f)
	}
	return p.invoke(ctx, p.limit, false, f)
}

// here is call in the goroutine of the caller, for programs that stop when they are
// killed. The watch starts late, and until then costs a timer that is set and reset.
func (p *plugin) here(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	c := &placed{lazyContext: lazyContext{Context: ctx, deadline: time.Now().Add(limit)}, plugin: p}
	defer c.release()
	if err := p.enter(ctx, c, limit, false); err != nil {
		return err
	}
	defer p.gate.leave(false)
	if p.watched.Store(c); p.watch == nil {
		p.watch = time.AfterFunc(unwatched, func() { p.watched.Load().attend() })
	} else {
		p.watch.Reset(unwatched)
	}
	err := p.protect(c, f)
	p.watch.Stop()
	p.watched.Store(nil)
	if watcher := c.end.Swap(&ended); watcher != nil {
		close(*watcher)
	}
	if off := p.usable(); off != nil && err == nil {
		err = off // A call that was stopped returns zero values.
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.stopped.Load():
		return &lateError{limit, p.name}
	case time.Now().After(c.deadline):
		return &lateError{limit: limit}
	}
	return err
}

// placed is one call in place.
type placed struct {
	lazyContext
	plugin  *plugin
	end     atomic.Pointer[chan struct{}] // The channel of who waits for the end of the call; &ended afterwards.
	stopped atomic.Bool                   // It did not end by itself.
}

// ended marks calls that have returned.
var ended chan struct{}

// attend waits for the end of a call that takes long, and brings it about if it is
// overdue. Nothing happens to a call that has returned, or has just begun.
func (c *placed) attend() {
	if c == nil {
		return
	}
	done := make(chan struct{})
	if !c.end.CompareAndSwap(nil, &done) {
		return
	}
	patience := lateness
	select {
	case <-done:
		return
	case <-c.Done():
		if c.Context.Err() != nil {
			patience = quitHere
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		c.stopped.Store(true)
		c.plugin.stop(overdue)
	}
}

// lazyContext is a context with a deadline of its own that costs nothing until
// somebody waits for it.
type lazyContext struct {
	context.Context // Of the caller.
	deadline        time.Time

	mu     sync.Mutex
	over   bool
	real   context.Context // With the deadline; nil: nobody has asked.
	cancel context.CancelFunc
}

func (c *lazyContext) Deadline() (time.Time, bool) {
	if d, ok := c.Context.Deadline(); ok && d.Before(c.deadline) {
		return d, true
	}
	return c.deadline, true
}

func (c *lazyContext) Done() <-chan struct{} { return c.limited().Done() }

func (c *lazyContext) Err() error { return c.limited().Err() }

func (c *lazyContext) limited() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		if c.real, c.cancel = context.WithDeadline(c.Context, c.deadline); c.over {
			c.cancel()
		}
	}
	return c.real
}

// release ends the context.
func (c *lazyContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over = true; c.real != nil {
		c.cancel()
	}
}
