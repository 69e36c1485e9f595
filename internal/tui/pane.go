package tui

import (
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/width"
)

// pane is a long text of which a part is visible: what a call that waits for approval
// is about.
type pane struct {
	lines  []render.Line
	offset int // First visible line, once folded.
	page   int // Lines that are visible, as last drawn.
}

// step is a page, and one line at least.
func (p *pane) step() int { return max(p.page, 1) }

// scroll moves the visible part, by what is visible at most: every line must be seen on
// the way.
func (p *pane) scroll(by int) {
	p.offset = max(p.offset+max(-p.step(), min(by, p.step())), 0)
}

// draw shows the visible part in at most room lines.
func (p *pane) draw(limit, room int) []string {
	var all []string
	for _, line := range p.lines {
		all = append(all, fold(line.Text, lineStyles[line.Kind], limit-2)...)
	}
	if len(all) <= room {
		p.offset, p.page = 0, len(all)
		return prefixed(all, "  ", "  ")
	}
	p.page = max(room-1, 1)
	p.offset = min(p.offset, len(all)-p.page)
	part := slices.Clone(all[p.offset : p.offset+p.page])
	more := fmt.Sprintf("… lines %d-%d of %d (PgDn, PgUp)", p.offset+1, p.offset+p.page, len(all))
	return append(prefixed(part, "  ", "  "), grey.paint(width.Fit("  "+more, limit)))
}
