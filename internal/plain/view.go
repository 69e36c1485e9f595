package plain

import (
	"fmt"
	"math"
	"strings"

	"github.com/idelchi/aura/internal/line"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
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

// arrange breaks prompt and text into rows of limit cells.
func arrange(prompt string, l *line.Editor, limit int) layout {
	room := line.Room{Width: limit, First: width.OfStyled(prompt)}
	if room.Indent = room.First; room.Indent > limit/2 {
		room.Indent = 2
	}
	rows, y, x := l.Rows(room)
	out := layout{row: y, col: x}
	for _, r := range rows {
		out.rows, out.cells = append(out.rows, prompt+r.Text), append(out.cells, r.Cells)
		prompt = ""
	}
	return out
}

// draw returns the bytes that replace what is on the screen by prompt and line.
func (v *view) draw(prompt string, l *line.Editor, width, height int) string {
	width, height = max(width, 4), max(height, 1)
	shown := arrange(prompt, l, width)
	v.hidden = len(shown.rows) > height
	if v.hidden {
		first := max(0, shown.row-height+1)
		last := min(first+height, len(shown.rows))
		shown.rows, shown.cells = shown.rows[first:last], shown.cells[first:last]
		shown.row -= first
	}
	var b strings.Builder
	v.home(&b, width)
	b.WriteString("\x1b[J")
	b.WriteString(strings.Join(shown.rows, "\r\n"))
	if up := len(shown.rows) - 1 - shown.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if shown.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", shown.col)
	}
	v.drawn, v.row, v.col, v.width = shown.cells, shown.row, shown.col, width
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
func (v *view) leave(prompt string, l *line.Editor, width int) string {
	var b strings.Builder
	if v.hidden {
		b.WriteString(v.draw(prompt, l, width, math.MaxInt))
	}
	if down := len(v.drawn) - 1 - v.row; down > 0 {
		fmt.Fprintf(&b, "\x1b[%dB", down)
	}
	b.WriteString("\r\n")
	*v = view{}
	return b.String()
}

// columns lists candidates for the space of one terminal.
func columns(items []string, limit int) string {
	const most = 100
	more := len(items) - most
	if more > 0 {
		items = items[:most]
	}
	shown := make([]string, len(items))
	cell := 0
	for i, s := range items {
		shown[i] = width.Fit(terminal.Clean(s), limit-1)
		cell = max(cell, width.Of(shown[i])+2)
	}
	per := max(1, limit/max(cell, 1))
	var b strings.Builder
	for i, s := range shown {
		if i%per == per-1 || i == len(shown)-1 {
			b.WriteString(s + "\r\n")
		} else {
			b.WriteString(width.Pad(s, cell))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %d more\r\n", more)
	}
	return b.String()
}
