package plain

import (
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
	"github.com/idelchi/aura/internal/wording"
)

// callKey identifies a call; sub-agents number theirs by themselves.
func callKey(e agent.Event) string { return e.Agent + "\x00" + e.CallID }

// head is the line that shows a call.
func (p *Printer) head(name, label string) string {
	return p.label(name) + p.style.cyan("•") + " " + p.titled(label)
}

// again is the line that names a call whose head stands further up, so that each call
// has one head.
func (p *Printer) again(name, label string) string { return p.label(name) + "  " + p.titled(label) }

func (p *Printer) titled(label string) string {
	tool, about, _ := strings.Cut(label, " ")
	if about != "" {
		about = " " + about
	}
	return p.style.bold(tool) + about
}

// toolStarted shows a call and leaves the line open: where nothing else happens
// until its end, the duration goes there.
func (p *Printer) toolStarted(e agent.Event) {
	key := callKey(e)
	c := &shownCall{label: width.Fit(render.Describe(e.Tool, e.Args), labelCells)}
	p.calls[key] = c
	p.endLines()
	p.err.raw(p.head(e.Agent, c.label))
	p.header, p.live = key, key
}

// toolOutput shows the first lines of what a tool writes while it runs.
func (p *Printer) toolOutput(e agent.Event) {
	key := callKey(e)
	c := p.calls[key]
	if c == nil {
		return
	}
	text := c.filter.Clean(e.Text)
	for text != "" {
		line, rest, ended := strings.Cut(text, "\n")
		text = rest
		if !ended {
			if c.partial += line; len(c.partial) < maxPartial {
				return
			}
			line = "" // Longer than a line can be: show it in pieces.
		}
		p.liveLine(e.Agent, key, c, c.partial+line)
		c.partial = ""
	}
}

func (p *Printer) liveLine(name, key string, c *shownCall, text string) {
	if !p.verbose && c.shown >= liveLines {
		c.hidden++
		return
	}
	c.shown++
	if p.live != key { // Something else was shown in between.
		p.endLines()
		p.err.raw(p.again(name, c.label) + "\n")
	} else if p.err.open {
		p.err.raw("\n")
	}
	p.header, p.live = "", key
	if !p.verbose {
		text = width.Fit(text, lineCells)
	}
	p.err.raw(strings.TrimRight("    "+p.style.dim(text), " ") + "\n")
}

// toolFinished shows the end of a call, and of a failure the last lines. Calls
// that were refused have only an end.
func (p *Printer) toolFinished(e agent.Event) {
	key := callKey(e)
	c := p.calls[key]
	delete(p.calls, key)
	if c != nil && c.partial != "" {
		p.liveLine(e.Agent, key, c, c.partial)
	}
	end := ""
	if e.Duration > 0 {
		end = " " + p.style.dim("("+render.Took(e.Duration)+")")
	}
	if e.Failed {
		end += " " + p.style.red("failed")
	}
	if c != nil && c.hidden > 0 {
		end += " " + p.style.dim(fmt.Sprintf("… %d more lines", c.hidden))
	}
	switch {
	case p.header == key && p.err.open:
		p.err.raw(end + "\n")
	case p.live == key && c != nil: // Below its live output.
		p.err.raw(p.label(e.Agent) + "  " + strings.TrimSpace(end) + "\n")
	case c != nil:
		p.endLines()
		p.err.raw(p.again(e.Agent, c.label) + end + "\n")
	default:
		p.endLines()
		p.err.raw(p.head(e.Agent, width.Fit(render.Describe(e.Tool, e.Args), labelCells)) + end + "\n")
	}
	p.header, p.live = "", ""
	switch {
	case e.Failed && c != nil && c.shown > 0: // The rest has been shown.
		p.failure(e.Text, 1)
	case e.Failed:
		p.failure(e.Text, errorLines)
	}
}

// failure shows the last lines of a failed result, where errors stand.
func (p *Printer) failure(text string, count int) {
	const most = 64 << 10
	var lines []string
	for line := range strings.Lines(terminal.Clean(wording.Tail(text, most))) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			lines = append(lines, line)
		}
	}
	for _, line := range lines[max(0, len(lines)-count):] {
		if !p.verbose {
			line = width.Fit(line, lineCells)
		}
		p.err.raw("    " + p.style.red(line) + "\n")
	}
}
