package plain

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Endings are the signals that ask a program to end. It must be called before any of
// them is watched.
func Endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup.
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// Interrupter decides what Ctrl+C means: the first one of a turn cancels the turn,
// the second one quits; between turns the second one in a row quits. SIGTERM and
// SIGHUP cancel the turn and quit at once.
type Interrupter struct {
	quit    func()
	hint    func()
	signals chan os.Signal
	done    chan struct{}
	ended   chan struct{}
	stop    sync.Once

	mu     sync.Mutex
	cancel context.CancelCauseFunc // Of the running turn; nil between turns.
	count  int
	last   os.Signal // nil: none came.
}

// Interrupts watches for signals until Stop is called or ctx ends. quit ends the
// program, or asks it to end; it may be called more than once and from another
// goroutine. hint, if not nil, is called when one more Ctrl+C between turns would quit.
func Interrupts(ctx context.Context, quit, hint func()) *Interrupter {
	i := &Interrupter{
		quit: quit, hint: hint, signals: make(chan os.Signal, 2), done: make(chan struct{}), ended: make(chan struct{}),
	}
	signal.Notify(i.signals, Endings()...)
	go i.run(ctx)
	return i
}

func (i *Interrupter) run(ctx context.Context) {
	defer close(i.ended)
	defer signal.Stop(i.signals)
	for {
		select {
		case s := <-i.signals:
			i.mu.Lock()
			if i.last = s; s != os.Interrupt {
				i.count++ // As if Ctrl+C had been pressed before.
			}
			i.mu.Unlock()
			i.Press()
		case <-ctx.Done():
			return
		case <-i.done:
			return
		}
	}
}

// Press is one Ctrl+C. The program calls it for those that come as keys instead of
// signals: when ReadLine returns ErrInterrupt, and from AskerOptions.Interrupt.
func (i *Interrupter) Press() {
	i.mu.Lock()
	i.count++
	again, cancel := i.count > 1, i.cancel
	i.mu.Unlock()
	if cancel != nil {
		cancel(ErrInterrupt)
	}
	switch {
	case again:
		i.quit()
	case cancel == nil && i.hint != nil:
		i.hint()
	}
}

// Turn returns the context of a turn, which the first Ctrl+C cancels with the
// cause ErrInterrupt, and the function that ends the turn.
func (i *Interrupter) Turn(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	i.mu.Lock()
	i.cancel, i.count = cancel, 0
	i.mu.Unlock()
	return ctx, func() {
		i.mu.Lock()
		i.cancel, i.count = nil, 0
		i.mu.Unlock()
		cancel(context.Canceled)
	}
}

// Signal is the last signal that came; nil if none did.
func (i *Interrupter) Signal() os.Signal {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.last
}

// Typed forgets a Ctrl+C between turns: the user has typed something since.
func (i *Interrupter) Typed() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cancel == nil {
		i.count = 0
	}
}

// Stop ends watching; Ctrl+C ends the program again. It may be called twice.
func (i *Interrupter) Stop() {
	i.stop.Do(func() { close(i.done) })
	<-i.ended
}

// Interrupted reports whether Ctrl+C cancelled the turn of ctx.
func Interrupted(ctx context.Context) bool { return context.Cause(ctx) == ErrInterrupt }
