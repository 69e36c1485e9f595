package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/wording"
)

// editor is the text that the user types: several lines, with large pastes shown
// in short. It knows keys and no terminal.
type editor struct {
	text    []rune
	pos     int
	pastes  []string // A rune from pasteRune on stands for each of them.
	kill    []rune
	history *plain.History // nil: none.
	back    int            // How many entries back; 0 is the draft.
	draft   []rune
	width   int // Of the rows, as last drawn.
	single  bool
}

const (
	pasteRune  = 0xf0000 // Private use.
	maxPastes  = 1000
	pasteLines = 8   // Pastes of more lines,
	pasteBytes = 800 // or of more bytes, are folded.
	maxInput   = 4 << 20
)

// value is the text as it is sent.
func (e *editor) value() string {
	var b strings.Builder
	for _, r := range e.text {
		if i := int(r) - pasteRune; i >= 0 && i < len(e.pastes) {
			b.WriteString(e.pastes[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// typed is the text before the cursor.
func (e *editor) typed() string { return string(e.text[:e.pos]) }

func (e *editor) set(s string) {
	e.text, e.pastes, e.back = nil, nil, 0
	e.pos = 0
	e.insert(s)
}

func (e *editor) empty() bool { return len(e.text) == 0 }

// insert puts text at the cursor. Control characters do not get in.
func (e *editor) insert(s string) {
	if len(e.text)+len(s) > maxInput {
		return
	}
	var runes []rune
	for _, r := range strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n") {
		switch {
		case r == '\n' && e.single:
			r = ' '
		case r == '\n' || r == '\t':
		case unicode.IsControl(r) || r >= pasteRune && r < pasteRune+maxPastes:
			continue
		}
		runes = append(runes, r)
	}
	e.text = slices.Insert(e.text, e.pos, runes...)
	e.pos += len(runes)
}

// paste inserts what was pasted, in short if it is long.
func (e *editor) paste(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if e.single || len(e.pastes) >= maxPastes || len(s) > maxInput ||
		strings.Count(s, "\n") < pasteLines && len(s) < pasteBytes {
		e.insert(s)
		return
	}
	e.pastes = append(e.pastes, s)
	e.text = slices.Insert(e.text, e.pos, rune(pasteRune+len(e.pastes)-1))
	e.pos++
}

// shown is how a rune appears.
func (e *editor) shown(r rune) string {
	if i := int(r) - pasteRune; i >= 0 && i < len(e.pastes) {
		return fmt.Sprintf(
			"[paste %d: %s]",
			i+1,
			wording.Count(strings.Count(strings.TrimSuffix(e.pastes[i], "\n"), "\n")+1, "line"),
		)
	}
	if r == '\t' {
		return "    "
	}
	return string(r)
}

// row is a row of the editor.
type row struct {
	from, to int // Runes.
	text     string
}

// rows lays out the text and finds the cursor.
func (e *editor) rows(limit int) (rows []row, y, x int) {
	limit = max(limit, 4)
	e.width = limit
	var b strings.Builder
	from, col := 0, 0
	flush := func(to int) {
		rows = append(rows, row{from, to, b.String()})
		b.Reset()
		from, col = to, 0
	}
	for i, r := range e.text {
		s := e.shown(r)
		w := width(s)
		if r != '\n' && col+w > limit && col > 0 {
			flush(i)
		}
		if i == e.pos {
			y, x = len(rows), col
		}
		if r == '\n' {
			flush(i + 1)
			continue
		}
		if w > limit {
			s = fit(s, limit)
			w = width(s)
		}
		b.WriteString(s)
		col += w
	}
	if e.pos >= len(e.text) {
		if col >= limit {
			flush(len(e.text))
		}
		y, x = len(rows), col
	}
	flush(len(e.text))
	return rows, y, x
}

// key takes a key and reports whether it was one for editing.
func (e *editor) key(name, typed string) bool {
	switch name {
	case "left", "ctrl+b":
		e.pos = max(e.pos-1, 0)
	case "right":
		e.pos = min(e.pos+1, len(e.text))
	case "ctrl+left", "alt+left", "alt+b":
		e.pos = e.wordLeft()
	case "ctrl+right", "alt+right", "alt+f":
		e.pos = e.wordRight()
	case "home", "ctrl+a":
		e.pos = e.lineStart()
	case "end", "ctrl+e":
		e.pos = e.lineEnd()
	case "backspace", "ctrl+h":
		e.remove(max(e.pos-1, 0), e.pos)
	case "delete":
		e.remove(e.pos, min(e.pos+1, len(e.text)))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.cut(e.wordLeft(), e.pos)
	case "alt+d", "ctrl+delete":
		e.cut(e.pos, e.wordRight())
	case "ctrl+k":
		e.cut(e.pos, e.lineEnd())
	case "ctrl+u":
		e.cut(e.lineStart(), e.pos)
	case "ctrl+y":
		e.text = slices.Insert(e.text, e.pos, e.kill...)
		e.pos += len(e.kill)
	case "up", "ctrl+p":
		e.vertical(-1)
	case "down", "ctrl+n":
		e.vertical(1)
	default:
		if typed == "" {
			return false
		}
		e.insert(typed)
	}
	return true
}

func (e *editor) remove(from, to int) {
	e.text = slices.Delete(e.text, from, to)
	e.pos = from
}

func (e *editor) cut(from, to int) {
	e.kill = slices.Clone(e.text[from:to])
	e.remove(from, to)
}

func (e *editor) lineStart() int {
	i := e.pos
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := e.pos
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r >= pasteRune
}

func (e *editor) wordLeft() int {
	i := e.pos
	for i > 0 && !isWord(e.text[i-1]) {
		i--
	}
	for i > 0 && isWord(e.text[i-1]) {
		i--
	}
	return i
}

func (e *editor) wordRight() int {
	i := e.pos
	for i < len(e.text) && !isWord(e.text[i]) {
		i++
	}
	for i < len(e.text) && isWord(e.text[i]) {
		i++
	}
	return i
}

// vertical moves between rows, and beyond them through the history.
func (e *editor) vertical(by int) {
	rows, y, x := e.rows(e.width)
	if y+by >= 0 && y+by < len(rows) {
		target := rows[y+by]
		col, i := 0, target.from
		for i < target.to && e.text[i] != '\n' {
			w := width(e.shown(e.text[i]))
			if col+w > x {
				break
			}
			col += w
			i++
		}
		e.pos = i
		return
	}
	e.recall(e.back - by)
}

// recall shows an entry of the history; 0 is the draft.
func (e *editor) recall(back int) {
	if e.history == nil {
		return
	}
	list := e.history.Entries()
	if back < 0 || back > len(list) || back == e.back {
		return
	}
	if e.back == 0 {
		e.draft = e.text
	}
	if back == 0 {
		e.text = e.draft
	} else {
		e.text = []rune(list[len(list)-back])
	}
	e.back, e.pos = back, len(e.text)
}

// submit returns the text, remembers it and begins anew.
func (e *editor) submit() string {
	s := strings.TrimSpace(e.value())
	if e.history != nil && s != "" {
		e.history.Add(s)
	}
	e.set("")
	return s
}

// replaceWord puts a text in place of the word before the cursor.
func (e *editor) replaceWord(s string) {
	from := e.pos
	for from > 0 && !unicode.IsSpace(e.text[from-1]) {
		from--
	}
	e.remove(from, e.pos)
	e.insert(s)
}
