package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
	"github.com/idelchi/aura/internal/wording"
)

// callState is how far a tool call has come.
type callState uint8

const (
	running callState = iota
	succeeded
	failed
	refused   // Never executed.
	abandoned // The turn ended before it did.
)

// callSigns are the signs of the states.
var callSigns = [...]struct {
	sign  string
	style sgr
}{{"●", yellow}, {"●", green}, {"●", red}, {"✗", red}, {"○", grey}}

const (
	liveRows   = 5  // Of running output.
	endRows    = 3  // Of the output of a call that has ended well.
	failRows   = 8  // Of the output of one that has not.
	changeRows = 16 // Of a change.
)

// called is a tool call: what it is, what it writes, how it ended, and what handlers
// did to it.
type called struct {
	tool    string
	label   string        // In one line.
	change  []render.Line // As a diff, if it changes a file.
	state   callState
	took    time.Duration
	output  longText // While it runs.
	result  longText
	touched []touch
	full    bool
}

// finish takes the result. Where it is a diff, it shows the change better than the
// arguments did.
func (b *called) finish(text string) {
	b.result.add(text)
	if b.state != succeeded || b.tool != "Edit" && b.tool != "Patch" {
		return
	}
	if i := strings.Index(text, "\n@@ "); i >= 0 && len(text) < 1<<20 {
		lines := strings.Split(strings.TrimRight(terminal.Clean(text[i+1:]), "\n"), "\n")
		b.change = nil
		for _, line := range lines[:min(len(lines), maxChange)] {
			b.change = append(b.change, render.DiffLine(line))
		}
	}
}

func (b *called) text() string {
	var text strings.Builder
	text.WriteString(b.label + "\n")
	for _, line := range b.change {
		text.WriteString(line.Text + "\n")
	}
	return text.String() + b.body().String()
}
func (b *called) open() bool     { return b.full }
func (b *called) setOpen(o bool) { b.full = o }

// body is the text of the call: the result where there is one, else what it has
// written so far.
func (b *called) body() *longText {
	if b.result.count() > 0 && b.output.count() <= b.result.count() {
		return &b.result
	}
	return &b.output
}

func (b *called) folded() bool {
	return !b.full && (len(b.change) > changeRows || b.body().count() > b.rows())
}

// rows is how many lines of the body are shown while the block is folded.
func (b *called) rows() int {
	switch {
	case b.state == running:
		return liveRows
	case b.state == failed || b.state == refused:
		return failRows
	case len(b.change) > 0:
		return 0
	}
	return endRows
}

func (b *called) parts() int {
	if !b.full {
		return 1
	}
	return 1 + (b.body().count()+partLines-1)/partLines
}

func (b *called) draw(part, limit int) []string {
	if part > 0 {
		from := (part - 1) * partLines
		return indent(b.body().rows(from, min(from+partLines, b.body().count()), grey, limit-4))
	}
	out := []string{b.head(limit)}
	for _, t := range b.touched {
		out = append(out, t.line(limit))
	}
	out = append(out, indent(b.diff(limit-4))...)
	if !b.full {
		out = append(out, indent(b.tail(limit-4))...)
	}
	return out
}

// head is the line that shows the call.
func (b *called) head(limit int) string {
	s := callSigns[b.state]
	name, about, _ := strings.Cut(b.label, " ")
	end := ""
	switch {
	case b.state == refused:
		end = "refused"
	case b.state == abandoned:
		end = "abandoned"
	case b.state == failed:
		end = "failed " + render.Took(b.took)
	case b.state == succeeded:
		end = render.Took(b.took)
	}
	room := max(limit-2-len(end)-2, 8)
	name = width.Fit(name, room)
	about = width.Fit(about, max(room-len(name)-1, 0))
	line := s.style.paint(s.sign) + " " + bold.paint(name)
	if about != "" {
		line += " " + about
	}
	if end != "" {
		style := grey
		if b.state == failed || b.state == refused {
			style = red
		}
		line += "  " + style.paint(end)
	}
	return line
}

// diff shows the change in its colors.
func (b *called) diff(limit int) []string {
	lines, more := b.change, 0
	if !b.full && len(lines) > changeRows {
		more = len(lines) - changeRows
		lines = lines[:changeRows]
	}
	var out []string
	for _, line := range lines {
		out = append(out, lineStyles[line.Kind].paint(width.Fit(width.ExpandTabs(line.Text), limit)))
	}
	if more > 0 {
		out = append(out, grey.paint(fmt.Sprintf("… %s (Ctrl+O)", wording.Count(more, "more line"))))
	}
	return out
}

// lineStyles are the colors of the lines of a preview.
var lineStyles = [...]sgr{
	render.Text: none, render.Added: green, render.Removed: red, render.Hunk: cyan, render.Remark: grey,
	render.Warning: red,
}

// tail shows the last lines of the body.
func (b *called) tail(limit int) []string {
	body, keep := b.body(), b.rows()
	n := body.count()
	hidden := max(n-keep, 0)
	style := grey
	if b.state == failed || b.state == refused {
		style = red
	}
	var out []string
	if hidden > 0 && keep > 0 {
		out = append(out, grey.paint(fmt.Sprintf("… %s (Ctrl+O)", wording.Count(hidden+body.dropped, "line"))))
	}
	for i := hidden; i < n && keep > 0; i++ {
		out = append(out, style.paint(width.Fit(width.ExpandTabs(body.line(i)), limit)))
	}
	return out
}

func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		lead := "    "
		if i == 0 {
			lead = grey.paint("  ⎿ ")
		}
		out[i] = lead + line
	}
	return out
}
