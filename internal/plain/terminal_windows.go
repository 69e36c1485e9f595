package plain

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"

	"github.com/idelchi/aura/internal/terminal"
)

// watchResize ticks when the terminal changes its size. A console tells that only
// among its key events, which are not read here; the next key redraws.
func watchResize() (<-chan os.Signal, func()) { return nil, func() {} }

// isGone reports whether err means that the terminal was closed.
func isGone(err error) bool { return errors.Is(err, os.ErrClosed) }

// enableEscapes makes a console obey escape sequences.
func enableEscapes(w io.Writer) func() {
	var mode uint32
	set := func(m uint32) {
		terminal.Control(w, func(fd int) { _ = windows.SetConsoleMode(windows.Handle(fd), m) })
	}
	terminal.Control(w, func(fd int) { _ = windows.GetConsoleMode(windows.Handle(fd), &mode) })
	set(mode | windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	return func() { set(mode) }
}

// flushInput forgets what was typed and not read.
func flushInput(fd int) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }

// pendingInput is for terminals that treat input themselves while no key is read.
func pendingInput(int) int { return 0 }
