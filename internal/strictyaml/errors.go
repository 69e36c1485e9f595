package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in one file.
type Error struct {
	File string // Path of the file, or "--override".
	Line int    // From 1; 0 when the mistake has no line.
	Path string // Key path such as "tools.max_steps"; empty when the whole file is meant.
	Msg  string // What is wrong, and where possible what to write instead.
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	b.WriteString(": " + e.Msg)
	return b.String()
}

// maxShown keeps the report of a hopeless file readable.
const maxShown = 100

// Errors is every mistake found, one line each, ordered by file and line.
type Errors []*Error

func (e Errors) Error() string {
	var lines []string
	for i, err := range e {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("... and %d more", len(e)-maxShown))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single mistakes to errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// Err orders the mistakes and is nil when there are none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return e
}

// Add appends a mistake.
func (e *Errors) Add(file string, line int, path, format string, args ...any) {
	*e = append(*e, &Error{File: file, Line: line, Path: path, Msg: fmt.Sprintf(format, args...)})
}
