package tui

import (
	"strings"

	"github.com/idelchi/aura/internal/highlight"
	"github.com/idelchi/aura/internal/width"
)

// codeStyles are the colors of the kinds of pieces of code; the others have none.
var codeStyles = map[highlight.Kind]sgr{
	highlight.Comment:  grey,
	highlight.Keyword:  magenta,
	highlight.String:   green,
	highlight.Number:   yellow,
	highlight.Name:     blue,
	highlight.Builtin:  cyan,
	highlight.Heading:  cyan,
	highlight.Inserted: green,
	highlight.Deleted:  red,
}

// code draws a code block, in colors where its language is known.
func (p *painter) code(lang, src string, limit int) []string {
	src = width.ExpandTabs(src)
	var spans []span
	for _, c := range p.highlighter.Split(lang, src) {
		spans = append(spans, span{c.Text, codeStyles[c.Kind]})
	}
	var out []string
	for _, line := range splitSpans(spans) {
		for _, row := range foldSpans(line, limit-2) {
			out = append(out, "  "+row)
		}
	}
	return out
}

// splitSpans cuts spans into lines.
func splitSpans(spans []span) [][]span {
	lines := [][]span{nil}
	for _, s := range spans {
		for i, part := range strings.Split(s.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], span{part, s.style})
			}
		}
	}
	return lines
}
