package line

import (
	"slices"
	"unicode"

	"github.com/idelchi/aura/internal/width"
)

// buffer is a text with a cursor.
type buffer struct {
	text []rune
	pos  int // Of the cursor, from 0 to len(text).
}

func (b *buffer) set(text []rune) { b.text, b.pos = text, len(text) }

func (b *buffer) insert(r []rune) {
	b.text = slices.Insert(b.text, b.pos, r...)
	b.pos += len(r)
}

// remove takes characters out and puts the cursor there.
func (b *buffer) remove(from, to int) {
	b.text = slices.Delete(b.text, from, to)
	b.pos = from
}

// previous is the position left of pos, with marks kept at their letter.
func (b *buffer) previous(pos int) int {
	for pos > 0 {
		if pos--; b.text[pos] == '\n' || width.Rune(b.text[pos]) > 0 {
			break
		}
	}
	return pos
}

// next is the position right of pos, with marks kept at their letter.
func (b *buffer) next(pos int) int {
	if pos < len(b.text) {
		pos++
	}
	for pos < len(b.text) && b.text[pos] != '\n' && width.Rune(b.text[pos]) == 0 {
		pos++
	}
	return pos
}

// start is where the run of such characters that ends at pos begins.
func (b *buffer) start(pos int, is func(rune) bool) int {
	for pos > 0 && is(b.text[pos-1]) {
		pos--
	}
	return pos
}

// stop is where the run of such characters that begins at pos ends.
func (b *buffer) stop(pos int, is func(rune) bool) int {
	for pos < len(b.text) && is(b.text[pos]) {
		pos++
	}
	return pos
}

func (b *buffer) lineStart() int { return b.start(b.pos, notLineEnd) }
func (b *buffer) lineEnd() int   { return b.stop(b.pos, notLineEnd) }

// wordStart is the beginning of the word left of the cursor.
func (b *buffer) wordStart() int { return b.start(b.start(b.pos, notWord), isWord) }

// wordEnd is the end of the word right of the cursor.
func (b *buffer) wordEnd() int { return b.stop(b.stop(b.pos, notWord), isWord) }

// blankWordStart is wordStart where only blanks end a word.
func (b *buffer) blankWordStart() int { return b.start(b.start(b.pos, unicode.IsSpace), notBlank) }

func notLineEnd(r rune) bool { return r != '\n' }
func notBlank(r rune) bool   { return !unicode.IsSpace(r) }
func notWord(r rune) bool    { return !isWord(r) }
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_' || isFolded(r)
}
