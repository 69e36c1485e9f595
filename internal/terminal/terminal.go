// Package terminal says what is a terminal, whether colors may be used on it, and what of a text is safe
// to show there. It reads no keys and draws nothing.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Control calls f with the descriptor of v if v is an open file. It does not use
// File.Fd, which would take deadlines away from the file.
func Control(v any, f func(fd int)) bool {
	file, ok := v.(*os.File)
	if !ok || file == nil {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	return conn.Control(func(fd uintptr) { f(int(fd)) }) == nil
}

// Is reports whether v is a file that is a terminal.
func Is(v any) bool {
	terminal := false
	Control(v, func(fd int) { terminal = term.IsTerminal(fd) })
	return terminal
}

// Color decides whether escape codes may be written to w. FORCE_COLOR and
// CLICOLOR_FORCE (unless "0") say yes; NO_COLOR, TERM=dumb and everything that is
// not a terminal say no. env is os.Getenv in a program.
func Color(w io.Writer, env func(string) string) bool {
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		if v := env(name); v != "" && v != "0" {
			return true
		}
	}
	return env("NO_COLOR") == "" && env("TERM") != "dumb" && Is(w)
}
