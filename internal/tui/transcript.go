package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// block is one thing in the transcript: something said, called or noticed. It
// draws itself in parts, so that the unseen rest of a long one costs nothing.
type block interface {
	parts() int
	draw(part, width int) []string
	text() string // For search and copy.
}

// folder is a block that can be shown short or in full.
type folder interface {
	folded() bool // Whether something is hidden.
	open() bool
	setOpen(bool)
}

// entry is a block with what was drawn of it.
type entry struct {
	block
	spaced bool   // A blank line stands before it.
	agent  string // The sub-agent it belongs to.
	drawn  map[int][]string
	width  int
}

// maxDrawn bounds the parts of one block that are kept drawn.
const maxDrawn = 64

// lines draws a part, or returns what was drawn before.
func (e *entry) lines(part, width int) []string {
	if e.width != width || e.drawn == nil || len(e.drawn) > maxDrawn {
		e.drawn, e.width = map[int][]string{}, width
	}
	if lines, ok := e.drawn[part]; ok {
		return lines
	}
	indent := ""
	if e.agent != "" {
		indent = grey.paint("  │ ")
		width = max(width-4, 1)
	}
	var lines []string
	if part == 0 && e.spaced {
		lines = append(lines, "")
	}
	for _, line := range e.draw(part, width) {
		lines = append(lines, indent+line)
	}
	e.drawn[part] = lines
	return lines
}

// changed forgets what was drawn from a part on.
func (e *entry) changed(from int) {
	for part := range e.drawn {
		if part >= from {
			delete(e.drawn, part)
		}
	}
}

// place is a row of the transcript.
type place struct{ entry, part, row int }

// transcript is everything that happened, and the part of it that is visible.
// Only what is visible is ever drawn.
type transcript struct {
	entries []*entry
	width   int
	height  int
	top     place
	loose   bool  // The user has scrolled away from the end.
	owners  []int // Entry of each visible row.
}

// add puts a block at the end.
func (t *transcript) add(b block, spaced bool) *entry {
	e := &entry{block: b, spaced: spaced && len(t.entries) > 0}
	t.entries = append(t.entries, e)
	return e
}

func (t *transcript) clear() { *t = transcript{width: t.width, height: t.height} }

func (t *transcript) resize(width, height int) {
	t.width, t.height = max(width, 1), max(height, 1)
}

// before returns the part that precedes a place.
func (t *transcript) before(p place) (place, bool) {
	if p.part > 0 {
		p.part--
		return p, true
	}
	for p.entry--; p.entry >= 0; p.entry-- {
		if n := t.entries[p.entry].parts(); n > 0 {
			p.part = n - 1
			return p, true
		}
	}
	return p, false
}

// after returns the part that follows a place.
func (t *transcript) after(p place) (place, bool) {
	if p.part+1 < t.entries[p.entry].parts() {
		p.part, p.row = p.part+1, 0
		return p, true
	}
	for p.entry++; p.entry < len(t.entries); p.entry++ {
		if t.entries[p.entry].parts() > 0 {
			p.part, p.row = 0, 0
			return p, true
		}
	}
	return p, false
}

func (t *transcript) at(p place) []string { return t.entries[p.entry].lines(p.part, t.width) }

// bottom is the first visible row when the end is in view.
func (t *transcript) bottom() place {
	p := place{entry: len(t.entries)}
	need := t.height
	for {
		q, ok := t.before(p)
		if !ok {
			q.entry, q.part, q.row = 0, 0, 0
			return q
		}
		p = q
		n := len(t.at(p))
		if n >= need {
			p.row = n - need
			return p
		}
		need -= n
	}
}

// settle makes the top a place that exists and fills the screen if it can.
func (t *transcript) settle() {
	if len(t.entries) == 0 {
		t.top, t.loose = place{}, false
		return
	}
	if t.loose {
		t.top.entry = min(t.top.entry, len(t.entries)-1)
		t.top.part = min(t.top.part, max(t.entries[t.top.entry].parts()-1, 0))
		if end := t.bottom(); !end.less(t.top) && end != t.top {
			if t.entries[t.top.entry].parts() > 0 {
				t.top.row = min(t.top.row, max(len(t.at(t.top))-1, 0))
			}
			return
		}
		t.loose = false
	}
	t.top = t.bottom()
}

func (p place) less(q place) bool {
	if p.entry != q.entry {
		return p.entry < q.entry
	}
	if p.part != q.part {
		return p.part < q.part
	}
	return p.row < q.row
}

// scroll moves the view by lines; negative is up.
func (t *transcript) scroll(by int) {
	t.settle()
	t.move(by)
}

// move is scroll from the top as it is.
func (t *transcript) move(by int) {
	if len(t.entries) == 0 {
		return
	}
	for by < 0 {
		if t.top.row+by >= 0 {
			t.top.row += by
			break
		}
		by += t.top.row
		q, ok := t.before(t.top)
		if !ok {
			t.top.row = 0
			break
		}
		q.row = len(t.at(q))
		t.top = q
	}
	for by > 0 {
		n := 0
		if t.entries[t.top.entry].parts() > 0 {
			n = len(t.at(t.top))
		}
		if t.top.row+by < n {
			t.top.row += by
			break
		}
		by -= n - t.top.row
		q, ok := t.after(t.top)
		if !ok {
			break
		}
		t.top = q
	}
	t.loose = true
	t.settle()
}

// home goes to the beginning.
func (t *transcript) home() {
	t.top, t.loose = place{}, true
	t.settle()
}

// end goes to the end and stays there.
func (t *transcript) end() { t.loose = false }

// view returns the visible rows.
func (t *transcript) view() []string {
	t.settle()
	rows := make([]string, 0, t.height)
	t.owners = t.owners[:0]
	if len(t.entries) == 0 {
		return rows
	}
	p := t.top
	if t.entries[p.entry].parts() == 0 {
		q, ok := t.after(p)
		if !ok {
			return rows
		}
		p = q
	}
	for len(rows) < t.height {
		lines := t.at(p)
		for _, line := range lines[min(p.row, len(lines)):] {
			if len(rows) == t.height {
				break
			}
			rows = append(rows, line)
			t.owners = append(t.owners, p.entry)
		}
		q, ok := t.after(p)
		if !ok {
			break
		}
		p = q
	}
	return rows
}

// below reports how many blocks end below the visible ones.
func (t *transcript) below() int {
	if !t.loose || len(t.owners) == 0 {
		return 0
	}
	return len(t.entries) - 1 - t.owners[len(t.owners)-1]
}

// find looks for the next row that contains the query, upwards or downwards from a
// place, and shows it. Blocks that hide it are opened.
func (t *transcript) find(query string, from place, up bool) (place, bool) {
	if query == "" {
		return from, false
	}
	query = strings.ToLower(query)
	step := 1
	if up {
		step = -1
	}
	for i := min(max(from.entry, 0), len(t.entries)-1); i >= 0 && i < len(t.entries); i += step {
		e := t.entries[i]
		if !strings.Contains(strings.ToLower(e.text()), query) {
			continue
		}
		p, ok := t.findIn(i, query, from, up)
		if f, can := e.block.(folder); !ok && can && !f.open() {
			f.setOpen(true)
			e.changed(0)
			p, ok = t.findIn(i, query, from, up)
		}
		if ok {
			t.show(p)
			return p, true
		}
	}
	return from, false
}

// findIn looks for the query in the rows of one entry.
func (t *transcript) findIn(i int, query string, from place, up bool) (place, bool) {
	e := t.entries[i]
	n := e.parts()
	for k := range n {
		part := k
		if up {
			part = n - 1 - k
		}
		lines := e.lines(part, t.width)
		for j := range lines {
			row := j
			if up {
				row = len(lines) - 1 - j
			}
			p := place{i, part, row}
			if up && !p.less(from) || !up && !from.less(p) {
				continue
			}
			if strings.Contains(strings.ToLower(ansi.Strip(lines[row])), query) {
				return p, true
			}
		}
	}
	return place{}, false
}

// show brings a place into view, with a few rows above it.
func (t *transcript) show(p place) {
	t.top, t.loose = p, true
	t.move(-min(3, t.height/2))
}

// toggle opens or closes a block.
func (t *transcript) toggle(i int) bool {
	f, ok := t.entries[i].block.(folder)
	if !ok || !f.folded() && !f.open() {
		return false
	}
	f.setOpen(!f.open())
	t.entries[i].changed(0)
	return true
}

// toggleLast opens or closes the lowest block in view that can be folded.
func (t *transcript) toggleLast() bool {
	for k := len(t.owners) - 1; k >= 0; k-- {
		if k+1 < len(t.owners) && t.owners[k+1] == t.owners[k] {
			continue
		}
		if t.toggle(t.owners[k]) {
			return true
		}
	}
	return false
}
