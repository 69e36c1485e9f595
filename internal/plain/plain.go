// Package plain is the line-mode face of aura: a line editor for conversations on
// a terminal or a pipe, and the text and JSON outputs of a run. It is not the
// full-screen interface, runs no agent and takes no decision of its own.
package plain

import (
	"io"
	"os"
	"reflect"

	"github.com/idelchi/aura/internal/render"
)

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

// style writes colors, or does not. The zero value does not.
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
func (s style) yellow(text string) string { return s.paint("33", text) }
func (s style) cyan(text string) string   { return s.paint("36", text) }

// line shows a line of a preview in the color of its kind.
func (s style) line(l render.Line) string {
	code := [...]string{
		render.Added: "32", render.Removed: "31", render.Hunk: "36", render.Remark: "2", render.Warning: "31",
	}[l.Kind]
	if code == "" {
		return l.Text
	}
	return s.paint(code, l.Text)
}
