// Package line is the line editor of both faces as data: a text of one or more lines with a cursor, a kill
// buffer, history, search, completion, and its layout in rows. It is told keys by name. It reads and
// writes nothing and knows no terminal.
package line

import (
	"slices"
	"strings"
	"unicode"
)

// Options configures an Editor. The zero value edits several lines, without history and completion.
type Options struct {
	// History lists what was typed before, oldest first; nil is nothing.
	History func() []string
	// Complete returns candidates for the word left of the cursor. A word ends at a blank; pos is a byte offset
	// in text. One candidate is inserted with a blank after it, unless it ends in "/"; of several, what they have
	// in common.
	Complete func(text string, pos int) []string

	Single     bool // One line only: line ends become blanks.
	FoldPastes bool // Long pastes are shown in short, as in "[paste 1: 12 lines]".
}

// maxInput bounds the text, in characters, and what is pasted, in bytes.
const maxInput = 4 << 20

// action is what a key did, as far as the next key has to know.
type action uint8

const (
	otherwise action = iota
	killed
	completed // With several candidates that have no more in common.
)

// Editor is a text that is being edited.
type Editor struct {
	buffer
	opts   Options
	pastes pastes
	kill   []rune

	previously, last action // Of the key before, and of this one.

	walk       *walk // Through the history; nil: the text is the draft.
	find       *search
	candidates []string
	room       Room // As last laid out.
}

// New makes an editor without text.
func New(o Options) *Editor { return &Editor{opts: o} }

// Value is the text, with the pastes in full.
func (e *Editor) Value() string { return e.pastes.expand(e.text) }

// Before is the text left of the cursor. A folded paste is one character in it.
func (e *Editor) Before() string { return string(e.text[:e.pos]) }

// After is the text right of the cursor. A folded paste is one character in it.
func (e *Editor) After() string { return string(e.text[e.pos:]) }

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return len(e.text) == 0 }

// AtEnd reports whether the cursor is behind the text.
func (e *Editor) AtEnd() bool { return e.pos == len(e.text) }

// Set replaces the text and puts the cursor behind it. It ends a search; the kill buffer stays.
func (e *Editor) Set(s string) {
	e.set(nil)
	e.pastes, e.walk, e.find, e.last = nil, nil, nil, otherwise
	e.Insert(s)
}

// Insert puts text at the cursor. Control characters do not get in, nor does text with which the whole would
// be too long.
func (e *Editor) Insert(s string) { e.insert(e.clean(s)) }

// Paste inserts what was pasted, in short if it is long and the options say so. During a search it is searched for.
func (e *Editor) Paste(s string) {
	if e.find != nil {
		e.extendQuery(s)
		return
	}
	text := e.clean(s)
	whole := string(text)
	switch {
	case e.pastes.size()+len(whole) > maxInput:
	case e.opts.FoldPastes && !e.opts.Single && isLong(whole) && len(e.pastes) < maxPastes:
		e.insert([]rune{e.pastes.add(whole)})
	default:
		e.insert(text)
	}
}

// ReplaceWord puts a text in place of the word left of the cursor, up to a blank.
func (e *Editor) ReplaceWord(s string) {
	e.remove(e.start(e.pos, notBlank), e.pos)
	e.Insert(s)
}

// Candidates lists what Listed is about.
func (e *Editor) Candidates() []string { return e.candidates }

// clean returns the characters of a text that may be in this one.
func (e *Editor) clean(s string) []rune {
	runes := make([]rune, 0, len(s))
	cr := false
	for _, r := range s {
		after := cr
		cr = r == '\r'
		switch {
		case r == '\n' && after:
			continue
		case r == '\n' || r == '\r':
			if r = '\n'; e.opts.Single {
				r = ' '
			}
		case r == '\t':
		case unicode.IsControl(r) || isFolded(r):
			continue
		}
		runes = append(runes, r)
	}
	return runes
}

// insert puts characters at the cursor, if there is room for them.
func (e *Editor) insert(r []rune) {
	if len(r) > 0 && len(e.text)+len(r) <= maxInput {
		e.buffer.insert(r)
		e.walk = nil // An entry of the history that is edited is the new draft.
	}
}

func (e *Editor) remove(from, to int) {
	if from < to {
		e.buffer.remove(from, to)
		e.walk = nil
	}
}

// cut removes text into the kill buffer; cuts in a row are kept together.
func (e *Editor) cut(from, to int) {
	e.last = killed
	gone := slices.Clone(e.text[from:to])
	switch {
	case e.previously != killed && len(gone) > 0:
		e.kill = gone
	case e.previously == killed && from < e.pos:
		e.kill = append(gone, e.kill...)
	case e.previously == killed:
		e.kill = append(e.kill, gone...)
	}
	e.remove(from, to)
}

// submit completes the text, unless it ends in a backslash that asks for another line.
func (e *Editor) submit() Outcome {
	n := len(e.text)
	slashes := n - e.start(n, func(r rune) bool { return r == '\\' })
	if slashes%2 == 0 || e.opts.Single {
		return Submitted
	}
	e.remove(n-1, n)
	e.Insert("\n")
	return Edited
}

func (e *Editor) interrupt() Outcome {
	if e.Empty() {
		return Interrupted
	}
	e.Set("")
	return Edited
}

func (e *Editor) deleteOrEnd() Outcome {
	if e.Empty() {
		return Ended
	}
	e.remove(e.pos, e.next(e.pos))
	return Edited
}

// killEnd cuts up to the end of the line, or the line end itself.
func (e *Editor) killEnd() {
	to := e.lineEnd()
	if to == e.pos {
		to = e.next(to)
	}
	e.cut(e.pos, to)
}

// killStart cuts from the beginning of the line, or the end of the line above.
func (e *Editor) killStart() {
	from := e.lineStart()
	if from == e.pos {
		from = e.previous(from)
	}
	e.cut(from, e.pos)
}

// complete completes the word left of the cursor. If there are several candidates that have no more in common,
// doing it again lists them.
func (e *Editor) complete() Outcome {
	if e.opts.Complete == nil {
		return Edited
	}
	before := e.pastes.expand(e.text[:e.pos])
	word := e.pastes.expand(e.text[e.start(e.pos, notBlank):e.pos])
	found := slices.Clone(e.opts.Complete(e.Value(), len(before)))
	found = slices.DeleteFunc(found, func(c string) bool { return c == "" })
	if len(found) == 0 {
		return Edited
	}
	common := found[0]
	for _, c := range found[1:] {
		common = commonPrefix(common, c)
	}
	if len(found) == 1 && !strings.HasSuffix(common, "/") && !strings.HasSuffix(common, " ") {
		common += " "
	}
	if len(common) > len(word) || len(found) == 1 {
		e.ReplaceWord(common)
		return Edited
	}
	if e.last = completed; e.previously != completed {
		return Edited
	}
	e.candidates = found
	return Listed
}

func commonPrefix(a, b string) string {
	ra, rb := []rune(a), []rune(b)
	n := 0
	for n < len(ra) && n < len(rb) && ra[n] == rb[n] {
		n++
	}
	return string(ra[:n])
}
