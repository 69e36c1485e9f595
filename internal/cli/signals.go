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

// The reasons for which a program ends early.
var (
	errInterrupted = &endedError{"interrupted", exitInterrupt}
	errTerminated  = &endedError{"terminated", exitTerminated}
	errHangup      = &endedError{"hung up", exitHangup}
	errBrokenPipe  = &endedError{"nobody reads the output", exitBrokenPipe}
)

// endedBy is what a signal means; nil for none.
func endedBy(s os.Signal) *endedError {
	switch s {
	case nil:
		return nil
	case syscall.SIGTERM:
		return errTerminated
	case syscall.SIGHUP:
		return errHangup
	}
	return errInterrupted
}

// interruptible returns a context that ends with the first Ctrl+C, with another signal
// that asks for the end, or when nobody reads the output any more. The cause says which.
// A second signal ends the program at once.
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
	unwatch := e.onBrokenPipe(func() { end(errBrokenPipe) })
	return ctx, func() {
		cancel(nil)
		unwatch()
	}
}

// onBrokenPipe calls do when a write fails because nobody reads standard output any
// more, until the returned function is called. Without it such a write kills the program.
func (e *env) onBrokenPipe(do func()) (stop func()) {
	broken, done := make(chan os.Signal, 1), make(chan struct{})
	notifyBrokenPipe(broken)
	go func() {
		for {
			select {
			case <-broken: // Of any pipe: perhaps that of a child.
				if brokenPipe(e.out) {
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
