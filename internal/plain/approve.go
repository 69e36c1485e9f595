package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/terminal"
)

// AskerOptions configures an Asker. Editor is required.
type AskerOptions struct {
	Editor  *Editor
	Out     io.Writer // Where questions are shown; nil = the editor's.
	Workdir string    // What paths in calls are relative to.
	Color   bool

	// Pause holds back other output while a question is open; see Printer.Pause.
	Pause func() (resume func())
	// Interrupt is called when a question is answered with Ctrl+C, which a terminal
	// in raw mode does not make a signal.
	Interrupt func()
}

// Asker puts questions to the user at the terminal, one at a time.
type Asker struct {
	opts  AskerOptions
	style style
	busy  chan struct{}
}

// NewAsker makes an Asker.
func NewAsker(o AskerOptions) *Asker {
	if o.Out == nil {
		o.Out = o.Editor.out
	}
	if o.Pause == nil {
		o.Pause = func() func() { return func() {} }
	}
	if o.Interrupt == nil {
		o.Interrupt = func() {}
	}
	return &Asker{opts: o, style: style{o.Color}, busy: make(chan struct{}, 1)}
}

// begin waits for its turn and holds back other output.
func (a *Asker) begin(ctx context.Context) (end func(), err error) {
	select {
	case a.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	resume := a.opts.Pause()
	return func() {
		resume()
		<-a.busy
	}, nil
}

// Approve shows a call and lets the user decide. It returns at once when ctx
// ends. Ctrl+C refuses; so does an input that ends.
func (a *Asker) Approve(ctx context.Context, q agent.Approval) agent.Decision {
	end, err := a.begin(ctx)
	if err != nil {
		return agent.Decision{Reason: "cancelled"}
	}
	defer end()
	io.WriteString(a.opts.Out, a.question(q))
	pattern := cmp.Or(q.Pattern, q.Tool)
	for {
		r, err := a.opts.Editor.choose(
			ctx,
			"[y] once  [s] session  [p] pattern "+a.style.dim(terminal.OneLine(pattern))+"  [n] no (reason) ",
			"yspn",
		)
		if err != nil {
			return a.cancelled(err)
		}
		switch r {
		case 'y':
			return agent.Decision{Allow: true}
		case 's':
			return agent.Decision{Allow: true, Remember: agent.ForSession, Pattern: pattern}
		case 'n':
			reason, err := a.opts.Editor.read(ctx, "reason (Enter for none): ", "", false)
			if err != nil {
				return a.cancelled(err)
			}
			return agent.Decision{Reason: strings.TrimSpace(reason)}
		}
		answer, back, err := a.pattern(ctx, q, pattern)
		switch {
		case err != nil:
			return a.cancelled(err)
		case !back:
			return answer
		}
	}
}

// pattern lets the user edit a pattern, if that is possible, and choose for how long it
// holds.
func (a *Asker) pattern(
	ctx context.Context,
	q agent.Approval,
	proposal string,
) (answer agent.Decision, back bool, err error) {
	pattern := proposal
	switch {
	case !a.opts.Editor.Interactive():
	case !render.Editable(proposal):
		fmt.Fprintf(a.opts.Out, "allow always: %s\n", terminal.OneLine(proposal))
	default:
		if pattern, err = a.opts.Editor.read(ctx, "allow always: ", proposal, false); errors.Is(err, ErrInterrupt) {
			return agent.Decision{}, true, nil
		} else if err != nil {
			return agent.Decision{}, false, err
		}
	}
	if strings.TrimSpace(pattern) == "" {
		return agent.Decision{}, true, nil
	}
	if render.Editable(proposal) {
		pattern = strings.TrimSpace(pattern)
	}
	prompt, keys, remember := "", "", map[rune]agent.Remember{}
	for _, c := range render.Scopes(q) {
		prompt += fmt.Sprintf("[%c] %s  ", c.Key, c.Text)
		keys += string(c.Key)
		remember[c.Key] = c.Remember
	}
	r, err := a.opts.Editor.choose(ctx, prompt+"[b] back ", keys+"b")
	if err != nil || r == 'b' {
		return agent.Decision{}, r == 'b', err
	}
	return agent.Decision{Allow: true, Remember: remember[r], Pattern: pattern}, false, nil
}

// cancelled is the answer to a question that got none.
func (a *Asker) cancelled(err error) agent.Decision {
	if errors.Is(err, ErrInterrupt) {
		a.opts.Interrupt()
		return agent.Decision{Reason: "cancelled"}
	}
	if errors.Is(err, io.EOF) {
		return agent.Decision{Reason: "nobody answered"}
	}
	return agent.Decision{Reason: "cancelled"}
}

// previewLines is how many lines of a change are shown.
const previewLines = 20

// question shows the call, who asks and why. Nothing in it can drive the terminal
// or hide from the eye.
func (a *Asker) question(q agent.Approval) string {
	var b strings.Builder
	who := ""
	if q.Agent != "" {
		who = a.style.dim(" (agent " + terminal.OneLine(q.Agent) + ")")
	}
	fmt.Fprintf(&b, "%s %s%s\n", a.style.yellow("?"), a.style.bold(terminal.OneLine(q.Tool)), who)
	for _, line := range render.Preview(a.opts.Workdir, q.Tool, q.Args, previewLines) {
		b.WriteString("    " + a.style.line(line) + "\n")
	}
	if len(q.Effects) > 0 {
		fmt.Fprintf(&b, "  %s %s\n", a.style.dim("effects:"), terminal.OneLine(strings.Join(q.Effects, ", ")))
	}
	for _, ask := range q.Asks {
		source := a.style.dim(terminal.OneLine(ask.Source.String()) + ":")
		fmt.Fprintf(&b, "  %s %s\n", source, terminal.OneLine(ask.Reason))
	}
	return b.String()
}
