package render

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
)

// Scope is a choice of how long a decision holds.
type Scope struct {
	Key      rune
	Text     string
	Remember agent.Remember
}

// Scopes lists the choices there are for a call.
func Scopes(q agent.Approval) []Scope {
	return slices.DeleteFunc([]Scope{
		{'s', "in this session", agent.ForSession},
		{'p', "in this project", agent.ForProject},
		{'g', "everywhere", agent.ForAlways},
	}, func(s Scope) bool { return !q.Keeps(s.Remember) })
}

// Editable reports whether a pattern can be edited in one line: what is not shown as it is, such as the end of a
// line, would be lost, and another call be allowed than was seen.
func Editable(pattern string) bool { return terminal.OneLine(pattern) == pattern }

// Kind is what a line of a preview is, for its color.
type Kind uint8

const (
	Text    Kind = iota
	Added        // To a file.
	Removed      // From a file.
	Hunk         // Where in the file.
	Remark       // Beside the matter.
	Warning      // Something is not shown that should be.
)

// Line is a line of a preview. Nothing in it can drive a terminal or hide from the eye.
type Line struct {
	Text string
	Kind Kind
}

// DiffLine is a line of a diff, whose kind is in its first character.
func DiffLine(text string) Line {
	kind := Text
	switch {
	case strings.HasPrefix(text, "+"):
		kind = Added
	case strings.HasPrefix(text, "-"):
		kind = Removed
	case strings.HasPrefix(text, "@@"):
		kind = Hunk
	}
	return Line{text, kind}
}

const (
	previewCells = 160
	maxPreview   = 256 << 10 // Larger texts are not compared.
)

// Preview shows what a call will do: the command, or a path with the change as a diff. It reads the file that is
// about to be written; workdir is what paths are relative to. No more than limit lines of a change are shown.
func Preview(workdir, tool string, args map[string]any, limit int) []Line {
	p := preview{workdir, limit}
	text := func(name string) string { s, _ := args[name].(string); return s }
	switch {
	case tool == "Write" && text("path") != "":
		return append([]Line{oneLine(text("path"), Text)}, p.change(text("path"), text("content"))...)
	case tool == "Edit" && text("file_path") != "":
		return append([]Line{oneLine(text("file_path"), Text)}, p.diff(text("old_string"), text("new_string"))...)
	case tool == "Patch":
		return p.cut(strings.Split(text("patch"), "\n"))
	case text("command") != "":
		lines := command(text("command"))
		rest := maps.Clone(args)
		if delete(rest, "command"); len(rest) > 0 { // Where and how it runs matters too.
			lines = append(lines, oneLine(strings.TrimSpace(pairs(rest)), Remark))
		}
		return lines
	case len(args) == 0:
		return nil
	}
	return []Line{oneLine(strings.TrimSpace(pairs(args)), Text)}
}

// command shows a command in full if that is possible at all: what is approved must have been seen. Otherwise it
// says how much is missing.
func command(text string) []Line {
	const maxLines, maxBytes = 200, 4000
	lines := strings.Split(text, "\n")
	var out []Line
	for i, line := range lines {
		if i == maxLines || len(line) > maxBytes {
			missing := fmt.Sprintf("… not all of it is shown: %d bytes in %d lines", len(text), len(lines))
			return append(out, Line{missing, Warning})
		}
		out = append(out, Line{Text: terminal.Visible(line)})
	}
	return out
}

// preview shows changes.
type preview struct {
	workdir string
	limit   int // Lines.
}

// change compares a file with its new content.
func (p preview) change(path, content string) []Line {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.workdir, path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPreview {
		return p.diff("", content)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return p.diff("", content)
	}
	return p.diff(string(old), content)
}

// diff is the first lines of the difference of two texts.
func (p preview) diff(old, new string) []Line {
	if len(old)+len(new) > 2*maxPreview {
		return p.cut(strings.Split(width.Fit(new, p.limit*previewCells), "\n"))
	}
	if old == "" {
		var lines []string
		for line := range strings.Lines(new) {
			lines = append(lines, "+"+strings.TrimSuffix(line, "\n"))
		}
		return p.cut(lines)
	}
	_, body, _ := strings.Cut(udiff.Unified("a", "b", old, new), "+++ b\n")
	if body == "" {
		return []Line{{"(no change)", Remark}}
	}
	return p.cut(strings.Split(strings.TrimSuffix(body, "\n"), "\n"))
}

// cut shows the first lines of a change.
func (p preview) cut(lines []string) []Line {
	more := len(lines) - p.limit
	if more > 0 {
		lines = lines[:p.limit]
	}
	out := make([]Line, 0, len(lines)+1)
	for _, line := range lines {
		out = append(out, oneLine(line, DiffLine(line).Kind))
	}
	if more > 0 {
		out = append(out, Line{fmt.Sprintf("… %d more lines", more), Remark})
	}
	return out
}

// oneLine makes a text a line that is not too long to be read.
func oneLine(s string, kind Kind) Line {
	return Line{width.Fit(strings.ReplaceAll(terminal.Visible(s), "\n", "⏎ "), previewCells), kind}
}
