package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Exit codes. Those of signals are the ones that shells give.
const (
	exitOK         = 0
	exitError      = 1 // The run failed.
	exitUsage      = 2 // The command line was wrong.
	exitHangup     = 129
	exitInterrupt  = 130
	exitBrokenPipe = 141 // Nobody reads the output any more.
	exitTerminated = 143
)

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// codeError ends the program with a code; its reason has been reported.
type codeError int

func (c codeError) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// reportedError is the exit code for an error that has been reported.
func reportedError(err error) error {
	if ended, ok := errors.AsType[*endedError](err); ok {
		return codeError(ended.code)
	}
	return codeError(exitError)
}

// exitCode reports err to the user and chooses the exit code.
func (e *env) exitCode(err error) int {
	var code codeError
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, syscall.EPIPE) && brokenPipe(e.out):
		return exitBrokenPipe // Whoever closed the pipe knows.
	case errors.Is(err, context.Canceled):
		why := cmp.Or(e.ended.Load(), errInterrupted)
		if why != errBrokenPipe {
			fmt.Fprintf(e.err, "aura: %s\n", why)
		}
		return why.code
	case errors.As(err, &usage):
		fmt.Fprintf(e.err, "aura: %v\nRun \"aura --help\" for usage.\n", err)
		return exitUsage
	}
	fmt.Fprintf(e.err, "aura: %v\n", err)
	return exitError
}
