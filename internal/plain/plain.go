// Package plain is the line-mode face of aura: a line editor for conversations on
// a terminal or a pipe, and the text and JSON outputs of a run. It is not the
// full-screen interface, runs no agent and takes no decision of its own.
package plain

import (
	"io"
	"os"
	"reflect"

	"golang.org/x/term"
)

// control calls f with the descriptor of v if v is an open file. It does not use
// File.Fd, which would take deadlines away from the file.
func control(v any, f func(fd int)) bool {
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

// IsTerminal reports whether v is a file that is a terminal.
func IsTerminal(v any) bool {
	is := false
	control(v, func(fd int) { is = term.IsTerminal(fd) })
	return is
}

// sameFile reports whether both writers end in the same file, pipe or terminal.
func sameFile(a, b io.Writer) bool {
	fa, ok := a.(*os.File)
	if !ok {
		return reflect.TypeOf(a).Comparable() && a == b
	}
	fb, ok := b.(*os.File)
	if !ok {
		return false
	}
	ia, err := fa.Stat()
	if err != nil {
		return false
	}
	ib, err := fb.Stat()
	return err == nil && os.SameFile(ia, ib)
}

// Colour decides whether escape codes may be written to w. FORCE_COLOR and
// CLICOLOR_FORCE (unless "0") say yes; NO_COLOR, TERM=dumb and everything that is
// not a terminal say no. env is os.Getenv in a program.
func Colour(w io.Writer, env func(string) string) bool {
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		if v := env(name); v != "" && v != "0" {
			return true
		}
	}
	return env("NO_COLOR") == "" && env("TERM") != "dumb" && IsTerminal(w)
}

// style writes colours, or does not. The zero value does not.
type style struct{ on bool }

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
func (s style) cyan(text string) string   { return s.paint("36", text) }
