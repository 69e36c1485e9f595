package plain

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
)

// PrinterOptions configures a Printer. Out and Err are required.
type PrinterOptions struct {
	Out     io.Writer           // The answer, and nothing else.
	Err     io.Writer           // Everything else.
	Env     func(string) string // nil = os.Getenv. Decides about colors.
	Verbose bool                // Shows thinking, injected messages and all of the live output.

	// Terminal overrides whether a stream counts as a terminal; nil asks the stream.
	Terminal func(io.Writer) bool
}

const (
	liveLines  = 5   // Of the live output of one call, unless verbose.
	errorLines = 3   // Of a failed result.
	labelCells = 120 // Of a call.
	lineCells  = 200 // Of a line of live output.
	maxPartial = 16 << 10
	maxPending = 40 * time.Millisecond
)

// Printer shows a run as text: the answer on one stream as it comes, ending with
// exactly one newline, everything else on the other one. On a terminal, text of
// models, tools and handlers cannot contain anything that drives it; a file or a
// pipe gets the answer verbatim.
type Printer struct {
	mu      sync.Mutex
	out     *stream
	err     *stream
	shared  bool // Both streams end in the same place.
	style   style
	verbose bool
	pauses  int
	undo    func()

	streamed bool // Something of the answer that is being given was shown.
	thinking bool // The open line of err is a thought.
	header   string
	live     string // The call whose output was shown last.
	calls    map[string]*shownCall
	flusher  *time.Timer // Runs while something waits to be flushed.
}

// shownCall is a call that has begun.
type shownCall struct {
	label   string
	shown   int // Lines of live output.
	hidden  int
	partial string
	filter  terminal.Filter
}

// NewPrinter makes a Printer.
func NewPrinter(o PrinterOptions) *Printer {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Terminal == nil {
		o.Terminal = func(w io.Writer) bool { return terminal.Is(w) }
	}
	p := &Printer{
		out: newStream(o.Out, o.Terminal(o.Out)), err: newStream(o.Err, o.Terminal(o.Err)),
		style: style{terminal.Color(o.Err, o.Env)}, verbose: o.Verbose, undo: func() {}, calls: map[string]*shownCall{},
	}
	p.shared = p.out.terminal && p.err.terminal || sameFile(o.Out, o.Err)
	if p.style.on && p.err.terminal {
		p.undo = enableEscapes(o.Err)
	}
	return p
}

// SetVerbose switches the display of thinking and details. Safe at any time.
func (p *Printer) SetVerbose(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verbose = on
}

// Pause holds everything back until the returned function is called, so that a
// question to the user stays readable. What happens meanwhile is shown then.
func (p *Printer) Pause() (resume func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pauses++; p.pauses == 1 {
		p.endLines()
		p.out.pause()
		p.err.pause()
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.pauses--; p.pauses == 0 {
			p.out.resume()
			p.err.resume()
		}
	})
}

// Finish writes what is left and, if the run failed, why.
func (p *Printer) Finish(o Outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered()
	p.endLines()
	if o.Err != nil {
		p.note("", p.style.red("error:"), o.Err.Error())
	}
	p.flush()
	p.undo()
	return cmp.Or(p.out.err, p.err.err)
}

// Observe shows an event.
func (p *Printer) Observe(e agent.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Agent != "" && (e.Kind == agent.TextDelta || e.Kind == agent.ThoughtDelta || e.Kind == agent.TurnEnded) {
		return // A sub-agent's text is shown when it is complete.
	}
	switch e.Kind {
	case agent.TextDelta:
		p.answer(e.Text)
	case agent.ThoughtDelta:
		p.thought(e.Text)
	case agent.Answered:
		p.complete(e)
	case agent.Restarted:
		p.answered()
		p.note(e.Agent, p.style.yellow("~"), "the answer begins anew: "+e.Text)
	case agent.Retrying:
		if p.err.terminal || p.verbose { // The user waits.
			p.note(e.Agent, p.style.yellow("~"), render.Retry(e.Duration, e.Text))
		}
	case agent.ToolStarted:
		p.toolStarted(e)
	case agent.ToolOutput:
		p.toolOutput(e)
	case agent.ToolFinished:
		p.toolFinished(e)
	case agent.Injected:
		if p.verbose {
			p.note(e.Agent, p.style.dim("»"), prefixed(e.Source, e.Text))
		}
	case agent.Noticed:
		p.note(e.Agent, p.style.yellow("!"), prefixed(e.Source, e.Text))
	case agent.Compacted:
		p.note(e.Agent, p.style.yellow("~"), e.Text)
	case agent.Switched:
		p.note(e.Agent, p.style.yellow("~"), render.Switched(e.Text, e.Source))
	case agent.TurnEnded:
		p.turnEnded(e)
	}
	p.later(e.Kind)
}

// later flushes at once what ends something, and soon what streams: a burst of
// small pieces becomes one write.
func (p *Printer) later(kind agent.EventKind) {
	if kind != agent.TextDelta && kind != agent.ThoughtDelta && kind != agent.ToolOutput {
		p.flush()
		return
	}
	if p.flusher == nil {
		p.flusher = time.AfterFunc(maxPending, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.flusher != nil {
				p.flush()
			}
		})
	}
}

func (p *Printer) flush() {
	if p.flusher != nil {
		p.flusher.Stop()
		p.flusher = nil
	}
	p.out.flush()
	p.err.flush()
}

// answer shows a piece of the answer.
func (p *Printer) answer(text string) {
	if text == "" {
		return
	}
	p.closeErr()
	p.streamed = true
	p.out.text(text)
}

// complete ends an answer. Providers that do not stream give it here only.
func (p *Printer) complete(e agent.Event) {
	if e.Agent != "" {
		p.subAnswer(e)
		return
	}
	if !p.streamed {
		p.answer(e.Text)
	}
	p.answered()
}

// answered ends what was shown of an answer with one newline.
func (p *Printer) answered() {
	p.out.end()
	p.streamed = false
}

// subAnswer shows the answer of a sub-agent as a remark.
func (p *Printer) subAnswer(e agent.Event) {
	lines := strings.Split(strings.TrimSpace(terminal.Clean(e.Text)), "\n")
	more := 0
	if len(lines) > liveLines && !p.verbose {
		more = len(lines) - liveLines
		lines = lines[:liveLines]
	}
	p.endLines()
	for i, text := range lines {
		if i == 0 {
			p.err.raw(p.label(e.Agent) + p.style.dim(text) + "\n")
			continue
		}
		p.err.raw("    " + p.style.dim(text) + "\n")
	}
	if more > 0 {
		p.err.raw("    " + p.style.dim(fmt.Sprintf("… %d more lines", more)) + "\n")
	}
}

// thought shows a piece of the thinking, if that is wanted.
func (p *Printer) thought(text string) {
	if !p.verbose {
		return
	}
	if !p.thinking {
		text = strings.TrimLeft(text, "\n")
		if text == "" {
			return
		}
		p.endLines()
		p.thinking = true
	}
	text = p.err.filter.Clean(text)
	for piece := range strings.Lines(text) {
		body := strings.TrimSuffix(piece, "\n")
		p.err.raw(p.style.dim(body))
		if len(body) < len(piece) {
			p.err.raw("\n")
		}
	}
}

// closeErr ends the open line of err before something else is shown.
func (p *Printer) closeErr() {
	if p.err.open {
		p.err.raw("\n")
	}
	if p.thinking {
		p.err.filter = terminal.Filter{}
	}
	p.header, p.live, p.thinking = "", "", false
	if p.shared {
		p.err.flush()
	}
}

// endLines makes both streams stand at the beginning of a line. The answer is
// touched only where it would share that line.
func (p *Printer) endLines() {
	if p.shared {
		p.out.interrupt()
	}
	p.out.flush()
	p.closeErr()
}

// label is what stands before everything a sub-agent does.
func (p *Printer) label(name string) string {
	if name == "" {
		return ""
	}
	return "  " + p.style.cyan("["+width.Fit(terminal.OneLine(name), 40)+"]") + " "
}

// note shows a remark behind a sign; further lines are indented.
func (p *Printer) note(name, sign, text string) {
	p.endLines()
	text = strings.TrimSpace(terminal.Clean(text))
	p.err.raw(p.label(name) + sign + " " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
}

func prefixed(source, text string) string {
	if source == "" {
		return text
	}
	return source + ": " + text
}

func (p *Printer) turnEnded(e agent.Event) {
	p.answered()
	p.endLines()
	clear(p.calls) // Calls that were abandoned have no end.
	if !p.verbose {
		return
	}
	text := render.Took(e.Duration)
	if e.Usage != nil {
		text += fmt.Sprintf(", %d tokens in, %d out", e.Usage.Input, e.Usage.Output)
	}
	p.err.raw(p.style.dim(text) + "\n")
}
