package plain

import (
	"log/slog"
	"time"

	"github.com/idelchi/aura/internal/agent"
)

// What follows is for the other face: both show the same foreign text under the
// same rules.

// Filter takes everything out of a stream of text that could drive a terminal.
// Escape sequences may be split between calls. The zero value is ready.
type Filter struct{ f filter }

// Clean returns the harmless part of the next piece of the stream.
func (f *Filter) Clean(s string) string { return f.f.clean(s) }

// Clean removes escape sequences and control characters from a text.
func Clean(s string) string { return stripEscapes(s) }

// Visible makes a text safe to judge by eye: what could drive a terminal, hide or
// reorder text is spelled out.
func Visible(s string) string { return visible(s) }

// OneLine is Visible for a label: line breaks become a sign.
func OneLine(s string) string { return oneLine(s) }

// Editable reports whether a pattern can be edited in one line: what is not shown as it is,
// such as the end of a line, would be lost, and another call be allowed than was seen.
func Editable(pattern string) bool { return oneLine(pattern) == pattern }

// Describe is a tool call in one line: the tool and what it is about.
func Describe(tool string, args map[string]any) string { return describe(tool, args) }

// Took is a duration for people.
func Took(d time.Duration) string { return took(d) }

// Preview shows what a call will do, without colours: the command, or a path with
// the change, whose lines begin as in a diff. It reads the file that is about to be
// written. No more than limit lines of a change are shown.
func Preview(workdir string, q agent.Approval, limit int) []string {
	a := &Asker{opts: AskerOptions{Workdir: workdir}, limit: limit}
	return a.preview(q)
}

// History is what was typed before, shared by the faces through a file.
type History struct{ h *history }

// OpenHistory reads the file; an empty path keeps the history in memory only. That
// the file cannot be read or written is only logged.
func OpenHistory(path string, log *slog.Logger) *History {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &History{openHistory(path, log)}
}

// Entries lists what was typed, oldest first. The list must not be changed.
func (h *History) Entries() []string { return h.h.entries }

// Add remembers an entry.
func (h *History) Add(entry string) { h.h.add(entry) }
