package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

const editText = `Replace text in a file. old_string must occur exactly once, or replace_all must be true.

- old_string is matched exactly, with its indentation; give enough lines around the change to make it unique.
- Do not include the line numbers that Read shows.
- Line endings do not matter: those of the file are kept.
- The file must have been read before. The result is a diff.`

// maxDiff is how many lines of a diff are shown.
const maxDiff = 120

func editTool() tool.Tool {
	return tool.Tool{
		Name:        "Edit",
		Description: editText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"file_path":{"type":"string","minLength":1,"description":"The file, relative to the working directory or absolute."},
"old_string":{"type":"string","description":"The text to replace, exactly as it is in the file."},
"new_string":{"type":"string","description":"The text to put in its place; empty to delete."},
"replace_all":{"type":"boolean","description":"Replace every occurrence (default false)."}},
"required":["file_path","old_string","new_string"],"additionalProperties":false}`),
		Serial:      true,
		SideEffects: []string{"write"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			return overwrites(text(args, "file_path")), nil
		},
		Execute: edit,
	}
}

func edit(_ context.Context, call tool.Call) (tool.Result, error) {
	before, after := text(call.Args, "old_string"), text(call.Args, "new_string")
	switch {
	case before == "":
		return tool.Result{}, errors.New("old_string is empty: give the text to replace, or use Write to create a file")
	case before == after:
		return tool.Result{}, errors.New("old_string and new_string are the same: nothing to change")
	}
	path := absolute(call.Workdir, text(call.Args, "file_path"))
	shown := display(call.Workdir, path)
	content, err := load(call.Workdir, path)
	if err != nil {
		return tool.Result{}, err
	}
	before, after, places := locate(content, before, after)
	if len(places) == 0 {
		return tool.Result{}, fmt.Errorf("%s: old_string was not found%s", shown, nearest(content, before))
	}
	if len(places) > 1 && !flag(call.Args, "replace_all") {
		return tool.Result{}, fmt.Errorf(
			"%s: old_string occurs %d times (lines %s): add lines around it to make it unique, or set replace_all",
			shown,
			len(places),
			lineNumbers(content, places),
		)
	}
	edits := make([]udiff.Edit, len(places))
	for i, at := range places {
		edits[i] = udiff.Edit{Start: at, End: at + len(before), New: after}
	}
	changed, err := udiff.Apply(content, edits)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", shown, err)
	}
	if _, err := save(call.Workdir, path, changed); err != nil {
		return tool.Result{}, err
	}
	result := "edited " + shown
	if len(places) > 1 {
		result += fmt.Sprintf(": %d replacements", len(places))
	}
	if len(places) > maxDiff {
		return tool.Result{Text: result}, nil
	}
	if diff, err := udiff.ToUnified(shown, shown, content, edits, 3); err == nil {
		result += "\n" + cutLines(strings.ReplaceAll(diff, "\r\n", "\n"), maxDiff)
	}
	return tool.Result{Text: result}, nil
}

// locate finds where before occurs. Both texts come back with the line endings of
// the file: models write \n whatever the file has.
func locate(content, before, after string) (string, string, []int) {
	unix := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	dos := func(s string) string { return strings.ReplaceAll(unix(s), "\n", "\r\n") }
	crlf := strings.Count(content, "\r\n")
	if crlf > 0 && crlf == strings.Count(content, "\n") {
		before, after = dos(before), dos(after)
		return before, after, occurrences(content, before)
	}
	if places := occurrences(content, before); len(places) > 0 {
		return before, after, places
	}
	if crlf == 0 {
		if places := occurrences(content, unix(before)); len(places) > 0 {
			return unix(before), unix(after), places
		}
		return before, after, nil
	}
	return dos(before), dos(after), occurrences(content, dos(before))
}

func occurrences(content, part string) []int {
	var places []int
	for at := 0; ; {
		i := strings.Index(content[at:], part)
		if i < 0 {
			return places
		}
		places = append(places, at+i)
		at += i + len(part)
	}
}

// lineNumbers names the lines of the first places.
func lineNumbers(content string, places []int) string {
	const shown = 10
	var words []string
	line, from := 1, 0
	for i, at := range places {
		if i == shown {
			words = append(words, "...")
			break
		}
		line += strings.Count(content[from:at], "\n")
		from = at
		words = append(words, fmt.Sprint(line))
	}
	return strings.Join(words, ", ")
}

// nearest says where the file has something like the first line of wanted.
func nearest(content, wanted string) string {
	first := ""
	for line := range strings.Lines(wanted) {
		if first = strings.TrimSpace(line); first != "" {
			break
		}
	}
	if first == "" {
		return ""
	}
	lines := splitLines(content)
	best, score := -1, 0.5
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == first {
			best, score = i, 1
			break
		}
		if i < 20_000 {
			if s := similarity(trimmed, first); s > score {
				best, score = i, s
			}
		}
	}
	if best < 0 {
		return ": nothing in the file is like it; read the file again"
	}
	why := "; the most similar place is"
	if score == 1 {
		why = "; its first line is there but what follows, or the indentation, differs:"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s line %d:", why, best+1)
	for i := max(0, best-1); i < min(len(lines), best+4); i++ {
		fmt.Fprintf(&b, "\n%6d\t%s", i+1, cutLine(strings.TrimRight(lines[i], "\r"), 200))
	}
	return b.String()
}

// similarity is how many pairs of neighbouring bytes two lines share, from 0 to 1.
func similarity(a, b string) float64 {
	const longest = 300
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	if len(a) < 2 || len(b) < 2 || len(a) > 3*len(b) || len(b) > 3*len(a) {
		return 0
	}
	pairs := make(map[[2]byte]int, len(b))
	for i := range len(b) - 1 {
		pairs[[2]byte{b[i], b[i+1]}]++
	}
	common := 0
	for i := range len(a) - 1 {
		if p := [2]byte{a[i], a[i+1]}; pairs[p] > 0 {
			pairs[p]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2)
}

// splitLines is the lines of a text without their ends; a final newline begins no line.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// cutLines keeps the first lines of a text and says how many are missing.
func cutLines(s string, limit int) string {
	lines := splitLines(s)
	if len(lines) <= limit {
		return strings.TrimSuffix(s, "\n")
	}
	return strings.Join(lines[:limit], "\n") + fmt.Sprintf("\n[%d more lines]", len(lines)-limit)
}

// cutLine keeps the beginning of a line that is too long.
func cutLine(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return wording.Head(s, limit) + fmt.Sprintf("... [%d more bytes]", len(s)-limit)
}
