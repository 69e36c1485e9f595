package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/idelchi/aura/internal/plain"
)

// endedError says why the program ends before it is done. It counts as
// context.Canceled.
type endedError struct {
	text string
	code int
}

func (e *endedError) Error() string        { return e.text }
func (e *endedError) Is(target error) bool { return target == context.Canceled }

// Why a program ends early; the codes are those that shells give.
var (
	errInterrupted = &endedError{"interrupted", exitInterrupt}
	errTerminated  = &endedError{"terminated", 143}
	errHungUp      = &endedError{"hung up", 129}
	errUnread      = &endedError{"nobody reads the output", exitUnread}
)

// endedBy is what a signal means; nil for none.
func endedBy(s os.Signal) *endedError {
	switch s {
	case nil:
		return nil
	case syscall.SIGTERM:
		return errTerminated
	case syscall.SIGHUP:
		return errHungUp
	}
	return errInterrupted
}

// interruptible returns a context that the first Ctrl+C ends, or another signal that
// asks for the end, or that nobody reads the output any more. The cause says which. A
// second signal ends the program at once.
func (e *env) interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	end := func(why *endedError) {
		e.ended.CompareAndSwap(nil, why)
		cancel(why)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, plain.Endings()...)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			end(endedBy(s))
		case <-ctx.Done():
		}
	}()
	watched := e.whenUnread(func() { end(errUnread) })
	return ctx, func() {
		cancel(nil)
		watched()
	}
}

// whenUnread calls do when something could not be written because nobody reads
// standard output any more, until the returned function is called. Without it such a
// program dies on the spot.
func (e *env) whenUnread(do func()) (stop func()) {
	broken, done := make(chan os.Signal, 1), make(chan struct{})
	notifyBrokenPipe(broken)
	go func() {
		for {
			select {
			case <-broken: // Of any pipe: perhaps that of a child.
				if unread(e.out) {
					do()
				}
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(broken)
		close(done)
	})
}
