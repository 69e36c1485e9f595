//go:build unix

package plain

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// watchResize ticks when the terminal changes its size.
func watchResize() (<-chan os.Signal, func()) {
	ticks := make(chan os.Signal, 1)
	signal.Notify(ticks, syscall.SIGWINCH)
	return ticks, func() { signal.Stop(ticks) }
}

// isGone reports whether err means that the terminal was closed.
func isGone(err error) bool { return errors.Is(err, syscall.EIO) || errors.Is(err, os.ErrClosed) }

// enableEscapes is for consoles that have to be told.
func enableEscapes(io.Writer) func() { return func() {} }
