package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
	"github.com/idelchi/aura/internal/wording"
)

// said is something the user said.
type said struct {
	words   string
	command bool
}

func (b *said) parts() int   { return 1 }
func (b *said) text() string { return b.words }
func (b *said) draw(_, limit int) []string {
	style := bold
	if b.command {
		style = cyan
	}
	const most = 200
	lines := wrapText(terminal.Clean(b.words), style, limit-2)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], grey.paint(fmt.Sprintf("… %d more lines", more)))
	}
	for i := range lines {
		lead := "  "
		if i == 0 {
			lead = cyan.paint("❯") + " "
		}
		lines[i] = lead + lines[i]
	}
	return lines
}

// thought is what the model thinks. It is shown in one line unless opened.
type thought struct {
	words longText
	shown bool
	ended bool
}

func (b *thought) text() string   { return b.words.String() }
func (b *thought) open() bool     { return b.shown }
func (b *thought) setOpen(o bool) { b.shown = o }
func (b *thought) folded() bool   { return !b.shown }
func (b *thought) parts() int {
	if !b.shown {
		return 1
	}
	return 1 + (b.words.count()+partLines-1)/partLines
}

func (b *thought) draw(part, limit int) []string {
	if part == 0 {
		title := "thinking…"
		if b.ended {
			title = fmt.Sprintf("thought, %s", wording.Count(b.words.count(), "line"))
		}
		if b.shown {
			return []string{grey.paint("▾ " + title)}
		}
		return []string{grey.paint(width.Fit("▸ "+title, limit))}
	}
	var out []string
	for i := (part - 1) * partLines; i < min(part*partLines, b.words.count()); i++ {
		for _, line := range wrapText(b.words.line(i), grey.with(italic), limit-2) {
			out = append(out, "  "+line)
		}
	}
	return out
}

// partLines is how many lines of output are drawn at a time.
const partLines = 50

// note is a remark: a notice, an injected message, a change of the session.
type note struct {
	sign   string
	style  sgr
	source string
	words  string
	body   sgr // Of the words.
	full   bool
}

// noteLines is how many lines of a remark are shown unless it is opened.
const noteLines = 6

func (b *note) parts() int     { return 1 }
func (b *note) text() string   { return b.source + " " + b.words }
func (b *note) open() bool     { return b.full }
func (b *note) setOpen(o bool) { b.full = o }
func (b *note) folded() bool {
	return !b.full && (strings.Count(b.words, "\n") >= noteLines || len(b.words) > noteLines*80)
}

func (b *note) draw(_, limit int) []string {
	var spans []span
	if b.source != "" {
		spans = append(spans, span{terminal.OneLine(b.source) + ": ", b.style})
	}
	words := width.ExpandTabs(strings.TrimSpace(terminal.Clean(b.words)))
	const most = 1 << 20
	if len(words) > most {
		words = wording.Head(words, most) + "…"
	}
	lines := wrap(append(spans, span{words, b.body}), limit-2)
	if more := len(lines) - noteLines; more > 0 && !b.full {
		lines = append(lines[:noteLines], grey.paint(fmt.Sprintf("… %s (Ctrl+O)", wording.Count(more, "more line"))))
	}
	for i := range lines {
		lead := "  "
		if i == 0 {
			lead = b.style.paint(b.sign) + " "
		}
		lines[i] = lead + lines[i]
	}
	return lines
}

// printed is the output of a command, as it is.
type printed struct{ words longText }

func (b *printed) parts() int   { return (b.words.count() + partLines - 1) / partLines }
func (b *printed) text() string { return b.words.String() }
func (b *printed) draw(part, limit int) []string {
	var out []string
	for i := part * partLines; i < min((part+1)*partLines, b.words.count()); i++ {
		for _, line := range fold(b.words.line(i), none, limit-2) {
			out = append(out, "  "+line)
		}
	}
	return out
}

// touch is what a handler did to a call.
type touch struct {
	verdict lifecycle.Verdict
	moment  lifecycle.Moment
	source  lifecycle.Source
	took    time.Duration
	detail  string
}

// touches says who did something in words, by verdict.
var touches = map[lifecycle.Verdict]struct {
	sign, words string
	style       sgr
}{
	lifecycle.Blocked:  {"✗", "blocked by", red},
	lifecycle.Changed:  {"✎", "rewritten by", magenta},
	lifecycle.Spoke:    {"+", "added by", blue},
	lifecycle.Asked:    {"?", "asked for by", yellow},
	lifecycle.Failed:   {"!", "failure of", yellow},
	lifecycle.Panicked: {"!", "panic of", red},
	lifecycle.TimedOut: {"!", "timeout of", red},
}

func (t touch) line(limit int) string {
	w := touches[t.verdict]
	text := fmt.Sprintf("%s %s (%s)", w.words, t.source, render.Took(t.took))
	if t.detail != "" && t.detail != "data" {
		text += ": " + terminal.OneLine(t.detail)
	}
	return "  " + w.style.paint(w.sign+" "+width.Fit(text, max(limit-4, 1)))
}
