package plain

import (
	"fmt"
	"math"
	"strings"
)

// view draws a prompt and a line on a terminal, over as many rows as they need.
// It breaks rows itself, so that it knows where the cursor is at every width.
type view struct {
	drawn  []int // Cells of each row on the screen.
	row    int   // Row of the cursor among them.
	col    int
	width  int  // Of the terminal when it was drawn.
	hidden bool // There are more rows than the terminal has.
}

// layout is a prompt and a line as rows.
type layout struct {
	rows     []string
	cells    []int
	row, col int // Of the cursor.
}

// arrange breaks prompt and text into rows of width cells.
func arrange(prompt string, text []rune, pos, width int) layout {
	var out layout
	var b strings.Builder
	b.WriteString(prompt)
	col := stringWidth(prompt)
	indent := col
	if indent > width/2 {
		indent = 2
	}
	flush := func() {
		out.rows, out.cells = append(out.rows, b.String()), append(out.cells, col)
		b.Reset()
		col = 0
	}
	for i, r := range text {
		w := cells(r)
		if r != '\n' && col+w > width && col > 0 {
			flush()
		}
		if i == pos {
			if col >= width { // The cursor needs a cell of its own.
				flush()
			}
			out.row, out.col = len(out.rows), col
		}
		switch r {
		case '\n':
			flush()
			b.WriteString(strings.Repeat(" ", indent))
			col = indent
		case '\t':
			b.WriteString(strings.Repeat(" ", tabWidth))
			col += w
		default:
			b.WriteRune(r)
			col += w
		}
	}
	if pos >= len(text) {
		if col >= width {
			flush()
		}
		out.row, out.col = len(out.rows), col
	}
	flush()
	return out
}

// draw returns the bytes that replace what is on the screen by prompt and line.
func (v *view) draw(prompt string, text []rune, pos, width, height int) string {
	width, height = max(width, 4), max(height, 1)
	l := arrange(prompt, text, pos, width)
	v.hidden = len(l.rows) > height
	if v.hidden {
		first := max(0, l.row-height+1)
		l.rows, l.cells = l.rows[first:min(first+height, len(l.rows))], l.cells[first:min(first+height, len(l.cells))]
		l.row -= first
	}
	var b strings.Builder
	v.home(&b, width)
	b.WriteString("\x1b[J")
	b.WriteString(strings.Join(l.rows, "\r\n"))
	if up := len(l.rows) - 1 - l.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if l.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", l.col)
	}
	v.drawn, v.row, v.col, v.width = l.cells, l.row, l.col, width
	return b.String()
}

// home goes to the first row that was drawn. A terminal that became narrower has
// broken the rows anew: each of them takes more than one now.
func (v *view) home(b *strings.Builder, width int) {
	up := v.row
	if v.width > width {
		up = v.col / width
		for _, cells := range v.drawn[:min(v.row, len(v.drawn))] {
			up += max(1, (cells+width-1)/width)
		}
	}
	b.WriteByte('\r')
	if up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
}

// leave returns the bytes that put the cursor below the line and show all of it.
func (v *view) leave(prompt string, text []rune, width int) string {
	var b strings.Builder
	if v.hidden {
		b.WriteString(v.draw(prompt, text, len(text), width, math.MaxInt))
	}
	if down := len(v.drawn) - 1 - v.row; down > 0 {
		fmt.Fprintf(&b, "\x1b[%dB", down)
	}
	b.WriteString("\r\n")
	*v = view{}
	return b.String()
}

// columns lists candidates for the space of one terminal.
func columns(items []string, width int) string {
	const most = 100
	more := len(items) - most
	if more > 0 {
		items = items[:most]
	}
	cell := 0
	for _, s := range items {
		cell = max(cell, stringWidth(s)+2)
	}
	per := max(1, width/max(cell, 1))
	var b strings.Builder
	for i, s := range items {
		s = fit(stripEscapes(s), width-1)
		b.WriteString(s)
		if i%per == per-1 || i == len(items)-1 {
			b.WriteString("\r\n")
		} else {
			b.WriteString(strings.Repeat(" ", max(0, cell-stringWidth(s))))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %d more\r\n", more)
	}
	return b.String()
}
