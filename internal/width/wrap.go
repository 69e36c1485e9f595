package width

import "unicode/utf8"

// Line is a part of a text that is shown in one row: its bytes from From up to To. What lies
// between two lines of a text is not shown.
type Line struct{ From, To int }

// Fold breaks a text without line ends at the edge, so that every line has at most limit cells.
// A character that is wider than that has a line of its own. Nothing is left out.
func Fold(s string, limit int) []Line {
	limit = max(limit, 1)
	if len(s) <= limit && printable(s) {
		return []Line{{0, len(s)}}
	}
	var lines []Line
	from, col := 0, 0
	for i, r := range s {
		w := Rune(r)
		if col+w > limit && col > 0 {
			lines = append(lines, Line{from, i})
			from, col = i, 0
		}
		col += w
	}
	return append(lines, Line{from, len(s)})
}

// Wrap breaks a text between words, and inside of words that are longer than a line, so that
// every line has at most limit cells. Blanks at a break and at the end of a line, and line ends,
// are left out; blanks at the beginning of the text and of its own lines are kept where they fit.
func Wrap(s string, limit int) []Line {
	b := breaker{text: s, limit: max(limit, 1)}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case ' ', '\n':
			b.endWord(i)
			if b.word = i + 1; r == '\n' {
				b.endLine(i + 1)
			}
		default:
			b.cells += Rune(r)
		}
		i += size
	}
	if b.endWord(len(s)); b.to > b.from || len(b.lines) == 0 {
		b.endLine(len(s))
	}
	return b.lines
}

// breaker lays out a text word by word.
type breaker struct {
	text  string
	limit int
	lines []Line

	from, to int // The line so far.
	col      int // Its cells.
	word     int // Where the word begins: blanks may lie between to and it.
	cells    int // Of the word.
}

// endWord puts the word that ends at i on the line, or on the next one.
func (b *breaker) endWord(i int) {
	if b.word == i {
		return
	}
	gap := b.word - b.to
	if b.col+gap+b.cells > b.limit && b.to > b.from {
		b.endLine(b.word)
		gap = 0
	}
	switch {
	case b.col+gap+b.cells <= b.limit, b.col == 0 && gap < b.limit:
		b.col += gap
	default: // More blanks than fit.
		b.from = b.word
	}
	b.to = b.word
	if b.col+b.cells > b.limit {
		b.breakWord(i)
	} else {
		b.col += b.cells
	}
	b.to, b.cells = i, 0
}

// breakWord puts a word that is too long on the line and on as many more as it needs.
func (b *breaker) breakWord(end int) {
	for i, r := range b.text[b.word:end] {
		w := Rune(r)
		if b.col+w > b.limit && b.col > 0 {
			b.to = b.word + i
			b.endLine(b.to)
		}
		b.col += w
	}
}

// endLine ends the line; the next one begins at i.
func (b *breaker) endLine(i int) {
	b.lines = append(b.lines, Line{b.from, b.to})
	b.from, b.to, b.col = i, i, 0
}
