package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
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

// endedBy is what a signal means.
func endedBy(s os.Signal) *endedError {
	switch s {
	case syscall.SIGTERM:
		return errTerminated
	case syscall.SIGHUP:
		return errHungUp
	}
	return errInterrupted
}

// endings are the signals that ask the program to end.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup.
		list = append(list, syscall.SIGHUP)
	}
	return list
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
	signal.Notify(signals, endings()...)
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

// noteSignals remembers the signals that a face acts on by itself. The returned
// function ends that and returns what the last one means; nil if there was none.
func noteSignals() func() *endedError {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, endings()...)
	return func() (last *endedError) {
		signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				last = endedBy(s)
			default:
				return last
			}
		}
	}
}
