//go:build unix

package plain

import (
	"context"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func signalSelf(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

// HO-64: the context of the turn, under which requests, hooks and extensions run,
// ends at the first Ctrl+C.
func TestInterruptCancelsTheTurn(t *testing.T) {
	quits := make(chan struct{}, 4)
	i := Interrupts(t.Context(), func() { quits <- struct{}{} }, nil)
	defer i.Stop()
	for range 2 { // Each turn begins anew.
		ctx, end := i.Turn(t.Context())
		signalSelf(t, syscall.SIGINT)
		<-ctx.Done()
		if !Interrupted(ctx) {
			t.Errorf("cause is %v", context.Cause(ctx))
		}
		end()
		if len(quits) > 0 {
			t.Error("the first Ctrl+C quits")
		}
	}
	ctx, end := i.Turn(t.Context())
	defer end()
	signalSelf(t, syscall.SIGINT)
	<-ctx.Done()
	signalSelf(t, syscall.SIGINT)
	<-quits
}

func TestInterruptBetweenTurns(t *testing.T) {
	quits, hints := make(chan struct{}, 4), make(chan struct{}, 4)
	i := Interrupts(t.Context(), func() { quits <- struct{}{} }, func() { hints <- struct{}{} })
	defer i.Stop()
	signalSelf(t, syscall.SIGINT)
	<-hints
	i.Typed()
	i.Press() // As a key.
	<-hints
	if len(quits) > 0 {
		t.Error("quit although something was typed in between")
	}
	signalSelf(t, syscall.SIGINT)
	<-quits
}

func TestTerminationQuitsAtOnce(t *testing.T) {
	quits := make(chan struct{}, 4)
	i := Interrupts(t.Context(), func() { quits <- struct{}{} }, nil)
	defer i.Stop()
	ctx, end := i.Turn(t.Context())
	defer end()
	if s := i.Signal(); s != nil {
		t.Errorf("signal %v before any came", s)
	}
	signalSelf(t, syscall.SIGTERM)
	<-ctx.Done()
	<-quits
	if s := i.Signal(); s != syscall.SIGTERM {
		t.Errorf("signal %v", s)
	}
}

func TestInterruptsLeaveNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	i := Interrupts(ctx, func() {}, nil)
	turn, end := i.Turn(ctx)
	end()
	if Interrupted(turn) {
		t.Error("a turn that ended counts as interrupted")
	}
	cancel()
	i.Stop()
	i.Stop()
}
