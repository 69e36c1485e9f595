package line

import (
	"math"
	"strings"

	"github.com/idelchi/aura/internal/width"
)

// Room is the space in which a text is shown.
type Room struct {
	Width  int // Cells of a row, 4 at least; 0 is no limit.
	First  int // Cells that a prompt takes before the text begins.
	Indent int // Blanks before every further line. Rows that continue a line have none.
}

// Row is a row of the text on the screen.
type Row struct {
	From, To int    // Characters of the text.
	Text     string // What is shown, with the indent, without the prompt.
	Cells    int    // What is taken of the row, the prompt included.
	lead     int    // Cells before the text.
}

// Rows lays out the text. The cursor is at cell x of row y, and has a row of its own where there is no room
// for it behind a character. Up and Down move in the rows that were laid out last.
func (e *Editor) Rows(room Room) (rows []Row, y, x int) {
	e.room = room
	limit := math.MaxInt
	if room.Width > 0 {
		limit = max(room.Width, 4)
	}
	var b strings.Builder
	from, lead, col := 0, room.First, room.First
	flush := func(to int) {
		rows = append(rows, Row{from, to, b.String(), col, lead})
		b.Reset()
		from, lead, col = to, 0, 0
	}
	for i, r := range e.text {
		text := e.pastes.shown(r)
		w := width.Of(text)
		if r != '\n' && col+w > limit && col > 0 {
			flush(i)
		}
		if i == e.pos {
			if col >= limit {
				flush(i)
			}
			y, x = len(rows), col
		}
		if r == '\n' {
			flush(i + 1)
			b.WriteString(strings.Repeat(" ", room.Indent))
			lead, col = room.Indent, room.Indent
			continue
		}
		if w > limit { // The sign of a folded paste.
			text = width.Fit(text, limit)
			w = width.Of(text)
		}
		b.WriteString(text)
		col += w
	}
	if e.AtEnd() {
		if col >= limit {
			flush(len(e.text))
		}
		y, x = len(rows), col
	}
	flush(len(e.text))
	return rows, y, x
}

// up and down move between rows, and beyond them through the history.
func (e *Editor) up() {
	if !e.moveRow(-1) {
		e.older()
	}
}

func (e *Editor) down() {
	if !e.moveRow(1) {
		e.newer()
	}
}

// moveRow moves the cursor to the same cell of another row.
func (e *Editor) moveRow(by int) bool {
	rows, y, x := e.Rows(e.room)
	if y+by < 0 || y+by >= len(rows) {
		return false
	}
	row := rows[y+by]
	i, col := row.From, row.lead
	for i < row.To && e.text[i] != '\n' {
		w := width.Of(e.pastes.shown(e.text[i]))
		if col+w > x {
			break
		}
		col += w
		i++
	}
	if i == row.To && i > row.From && y+by < len(rows)-1 && e.text[i-1] != '\n' {
		i = max(e.previous(i), row.From) // Behind the last character of a full row is the next row.
	}
	e.pos = i
	return true
}
