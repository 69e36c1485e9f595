package tui

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
	"github.com/idelchi/aura/internal/wording"
)

// sgr is the parameters of a color sequence; empty means none. Only the sixteen
// colors of the terminal are used, so that its theme decides what they are.
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

// wrap lays out spans in lines of at most limit cells, broken between words.
func wrap(spans []span, limit int) []string {
	return paint(spans, width.Wrap(joined(spans), limit))
}

// wrapText is wrap for a text in one style.
func wrapText(text string, style sgr, limit int) []string {
	return wrap([]span{{width.ExpandTabs(text), style}}, limit)
}

// foldSpans breaks spans without line ends at the edge.
func foldSpans(spans []span, limit int) []string {
	return paint(spans, width.Fold(joined(spans), limit))
}

// fold breaks one line of output at the edge, blanks and all.
func fold(s string, style sgr, limit int) []string {
	return foldSpans([]span{{width.ExpandTabs(s), style}}, limit)
}

// joined is the text of spans.
func joined(spans []span) string {
	if len(spans) == 1 {
		return spans[0].text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// paint draws the lines of the text of spans.
func paint(spans []span, lines []width.Line) []string {
	out := make([]string, len(lines))
	var b strings.Builder
	first, start := 0, 0 // The span in which the line begins, and where that begins.
	for i, l := range lines {
		for first < len(spans) && start+len(spans[first].text) <= l.From {
			start += len(spans[first].text)
			first++
		}
		b.Reset()
		for at, from := first, start; at < len(spans) && from < l.To; at++ {
			s := spans[at]
			b.WriteString(s.style.paint(s.text[max(l.From-from, 0):min(l.To-from, len(s.text))]))
			from += len(s.text)
		}
		out[i] = b.String()
	}
	return out
}

const (
	maxText = 16 << 20 // Of one output; the beginning of more is dropped.
	maxRow  = 4000     // Bytes of one line that are shown.
)

// longText is output that may be very long: cheap to add to, and to look at
// anywhere. Nothing in it can drive the terminal.
type longText struct {
	filter  terminal.Filter
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
