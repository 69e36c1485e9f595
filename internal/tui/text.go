package tui

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/wording"
)

// sgr is the parameters of a colour sequence; empty means none. Only the sixteen
// colours of the terminal are used, so that its theme decides what they are.
type sgr string

const (
	none      sgr = ""
	bold      sgr = "1"
	faint     sgr = "2"
	italic    sgr = "3"
	underline sgr = "4"
	reverse   sgr = "7"
	struck    sgr = "9"
	red       sgr = "31"
	green     sgr = "32"
	yellow    sgr = "33"
	blue      sgr = "34"
	magenta   sgr = "35"
	cyan      sgr = "36"
	grey      sgr = "90"
)

// with joins two styles.
func (s sgr) with(t sgr) sgr {
	switch {
	case s == none:
		return t
	case t == none:
		return s
	}
	return s + ";" + t
}

func (s sgr) paint(text string) string {
	if s == none || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// span is a piece of text in one style.
type span struct {
	text  string
	style sgr
}

// cells is the number of cells that a rune takes.
func cells(r rune) int {
	if r < 0x7f {
		if r < 0x20 {
			return 0
		}
		return 1
	}
	return runewidth.RuneWidth(r)
}

// width is the number of cells of a text without escape sequences.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

// fit cuts a text to at most n cells, with an ellipsis where something is missing.
func fit(s string, n int) string {
	if len(s) <= n && isASCII(s) {
		return s
	}
	used, last := 0, 0
	for i, r := range s {
		w := cells(r)
		if used+w > n {
			if n < 1 {
				return ""
			}
			return s[:last] + "…"
		}
		used += w
		if used <= n-1 {
			last = i + utf8.RuneLen(r)
		}
	}
	return s
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// pad fills a text to n cells.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

// breaker lays out spans in lines of limited width. It breaks between words, and
// inside of words that are longer than a line.
type breaker struct {
	limit int
	lines []string
	line  strings.Builder
	col   int
	space []span // Between the line and the word.
	gap   int
	word  []span
	wordw int
}

// wrap lays out spans in lines of at most limit cells.
func wrap(spans []span, limit int) []string {
	b := &breaker{limit: max(limit, 1)}
	for _, s := range spans {
		b.add(s)
	}
	b.flush()
	if b.line.Len() > 0 || len(b.lines) == 0 {
		b.end()
	}
	return b.lines
}

// wrapText is wrap for a text in one style.
func wrapText(text string, style sgr, limit int) []string {
	return wrap([]span{{strings.ReplaceAll(text, "\t", "    "), style}}, limit)
}

func (b *breaker) add(s span) {
	start := 0
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if r != ' ' && r != '\n' {
			b.wordw += cells(r)
			i += size
			continue
		}
		b.piece(s.text[start:i], s.style)
		b.flush()
		if r == '\n' {
			b.end()
		} else {
			b.space = append(b.space, span{" ", s.style})
			b.gap++
		}
		i += size
		start = i
	}
	b.piece(s.text[start:], s.style)
}

func (b *breaker) piece(text string, style sgr) {
	if text != "" {
		b.word = append(b.word, span{text, style})
	}
}

// flush puts the word on the line, or on the next one.
func (b *breaker) flush() {
	if len(b.word) == 0 {
		return
	}
	if b.col+b.gap+b.wordw > b.limit && b.col > 0 {
		b.end()
	}
	if b.col+b.gap+b.wordw <= b.limit || b.col == 0 && b.gap < b.limit {
		for _, s := range b.space {
			b.line.WriteString(s.style.paint(s.text))
		}
		b.col += b.gap
	}
	b.space, b.gap = b.space[:0], 0
	for _, s := range b.word {
		b.force(s)
	}
	b.word, b.wordw = b.word[:0], 0
}

// force writes a piece of a word, over several lines if need be.
func (b *breaker) force(s span) {
	start := 0
	for i, r := range s.text {
		w := cells(r)
		if b.col+w > b.limit && b.col > 0 {
			b.line.WriteString(s.style.paint(s.text[start:i]))
			start = i
			b.end()
		}
		b.col += w
	}
	b.line.WriteString(s.style.paint(s.text[start:]))
}

func (b *breaker) end() {
	b.lines = append(b.lines, b.line.String())
	b.line.Reset()
	b.col, b.gap, b.space = 0, 0, b.space[:0]
}

// fold breaks one line of output at the edge, blanks and all.
func fold(s string, style sgr, limit int) []string {
	s = strings.ReplaceAll(s, "\t", "    ")
	limit = max(limit, 1)
	if len(s) <= limit && isASCII(s) {
		return []string{style.paint(s)}
	}
	var lines []string
	start, col := 0, 0
	for i, r := range s {
		w := cells(r)
		if col+w > limit && col > 0 {
			lines = append(lines, style.paint(s[start:i]))
			start, col = i, 0
		}
		col += w
	}
	return append(lines, style.paint(s[start:]))
}

const (
	maxText = 16 << 20 // Of one output; the beginning of more is dropped.
	maxRow  = 4000     // Bytes of one line that are shown.
)

// longText is output that may be very long: cheap to add to, and to look at
// anywhere. Nothing in it can drive the terminal.
type longText struct {
	filter  plain.Filter
	data    []byte
	starts  []int // Of every line but the first.
	dropped int   // Lines.
}

func (t *longText) add(s string) {
	s = t.filter.Clean(s)
	base := len(t.data)
	t.data = append(t.data, s...)
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		t.starts = append(t.starts, base+i)
	}
	if len(t.data) > maxText {
		t.drop()
	}
}

// drop forgets the first half.
func (t *longText) drop() {
	half := len(t.starts) / 2
	if half == 0 {
		t.data = bytes.Clone(t.data[len(t.data)-maxText/2:])
		return
	}
	cut := t.starts[half-1]
	t.data = bytes.Clone(t.data[cut:])
	rest := make([]int, 0, len(t.starts)-half)
	for _, at := range t.starts[half:] {
		rest = append(rest, at-cut)
	}
	t.starts = rest
	t.dropped += half
}

// count is the number of lines; a newline at the end begins none.
func (t *longText) count() int {
	switch {
	case len(t.data) == 0:
		return 0
	case len(t.starts) > 0 && t.starts[len(t.starts)-1] == len(t.data):
		return len(t.starts)
	}
	return len(t.starts) + 1
}

func (t *longText) line(i int) string {
	from, to := 0, len(t.data)
	if i > 0 {
		from = t.starts[i-1]
	}
	if i < len(t.starts) {
		to = t.starts[i] - 1
	}
	if to-from > maxRow {
		head := wording.Head(string(t.data[from:from+maxRow+1]), maxRow)
		return fmt.Sprintf("%s… (%d bytes)", head, to-from)
	}
	return string(t.data[from:to])
}

// rows are the lines from i up to j, broken at the edge.
func (t *longText) rows(i, j int, style sgr, limit int) []string {
	var out []string
	for ; i < j; i++ {
		out = append(out, fold(t.line(i), style, limit)...)
	}
	return out
}

func (t *longText) String() string { return string(t.data) }
