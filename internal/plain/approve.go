package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/idelchi/aura/internal/agent"
)

// AskerOptions configures an Asker. Editor is required.
type AskerOptions struct {
	Editor  *Editor
	Out     io.Writer // Where questions are shown; nil = the editor's.
	Workdir string    // What paths in calls are relative to.
	Colour  bool

	// Suggest proposes a pattern for tools.policy.auto that covers a call; nil or
	// an empty answer proposes the name of the tool.
	Suggest func(tool string, args map[string]any) string
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
	limit int // Lines of a change that are shown.
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
	return &Asker{opts: o, style: style{o.Colour}, limit: previewLines, busy: make(chan struct{}, 1)}
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
	pattern := a.suggest(q)
	for {
		r, err := a.opts.Editor.choose(
			ctx,
			fmt.Sprintf("[y] once  [s] session  [p] pattern %s  [n] no (reason) ", a.style.dim(oneLine(pattern))),
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
	case !Editable(proposal):
		fmt.Fprintf(a.opts.Out, "allow always: %s\n", oneLine(proposal))
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
	if Editable(proposal) {
		pattern = strings.TrimSpace(pattern)
	}
	prompt, keys, remember := "", "", map[rune]agent.Remember{}
	for _, c := range Scopes(q) {
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

// Scope is a choice of how long a decision holds.
type Scope struct {
	Key      rune
	Text     string
	Remember agent.Remember
}

// Scopes lists the choices there are for a call.
func Scopes(q agent.Approval) []Scope {
	return slices.DeleteFunc([]Scope{
		{
			's',
			"in this session",
			agent.ForSession,
		},
		{'p', "in this project", agent.ForProject},
		{'g', "everywhere", agent.ForAlways},
	}, func(s Scope) bool { return !q.Keeps(s.Remember) })
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

func (a *Asker) suggest(q agent.Approval) string {
	if a.opts.Suggest != nil {
		if p := a.opts.Suggest(q.Tool, q.Args); p != "" {
			return p
		}
	}
	return q.Tool
}

const (
	previewLines = 20
	previewCells = 160
	maxPreview   = 256 << 10 // Larger texts are not compared.
)

// question shows the call, who asks and why. Nothing in it can drive the terminal
// or hide from the eye.
func (a *Asker) question(q agent.Approval) string {
	var b strings.Builder
	who := ""
	if q.Agent != "" {
		who = a.style.dim(" (agent " + oneLine(q.Agent) + ")")
	}
	fmt.Fprintf(&b, "%s %s%s\n", a.style.yellow("?"), a.style.bold(oneLine(q.Tool)), who)
	for _, line := range a.preview(q) {
		b.WriteString("    " + line + "\n")
	}
	if len(q.Effects) > 0 {
		fmt.Fprintf(&b, "  %s %s\n", a.style.dim("effects:"), oneLine(strings.Join(q.Effects, ", ")))
	}
	for _, ask := range q.Asks {
		fmt.Fprintf(&b, "  %s %s\n", a.style.dim(oneLine(ask.Source.String())+":"), oneLine(ask.Reason))
	}
	return b.String()
}

// preview is what the call will do: the command, or a path with the change.
func (a *Asker) preview(q agent.Approval) []string {
	text := func(name string) string { s, _ := q.Args[name].(string); return s }
	switch {
	case q.Tool == "Write" && text("path") != "":
		return append([]string{visibleLine(text("path"))}, a.change(text("path"), text("content"))...)
	case q.Tool == "Edit" && text("file_path") != "":
		return append([]string{visibleLine(text("file_path"))}, a.diff(text("old_string"), text("new_string"))...)
	case q.Tool == "Patch":
		return a.cut(strings.Split(text("patch"), "\n"))
	case text("command") != "":
		lines := a.shorten(strings.Split(text("command"), "\n"), len(text("command")))
		rest := maps.Clone(q.Args)
		if delete(rest, "command"); len(rest) > 0 { // Where and how it runs matters too.
			lines = append(lines, a.style.dim(visibleLine(strings.TrimSpace(pairs(rest)))))
		}
		return lines
	case len(q.Args) == 0:
		return nil
	}
	return []string{visibleLine(strings.TrimSpace(pairs(q.Args)))}
}

// shorten shows a command in full if that is possible at all: what is approved
// must have been seen. Otherwise it says how much is missing.
func (a *Asker) shorten(lines []string, size int) []string {
	const most = 200
	var out []string
	for i, line := range lines {
		if i == most || len(line) > 4000 {
			return append(
				out,
				a.style.red(fmt.Sprintf("… not all of it is shown: %d bytes in %d lines", size, len(lines))),
			)
		}
		out = append(out, visible(line))
	}
	return out
}

// change compares a file with its new content.
func (a *Asker) change(path, content string) []string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.opts.Workdir, path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPreview {
		return a.diff("", content)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return a.diff("", content)
	}
	return a.diff(string(old), content)
}

// diff is the first lines of the difference of two texts.
func (a *Asker) diff(old, new string) []string {
	if len(old)+len(new) > 2*maxPreview {
		return a.cut(strings.Split(fit(new, a.limit*previewCells), "\n"))
	}
	if old == "" {
		var lines []string
		for line := range strings.Lines(new) {
			lines = append(lines, "+"+strings.TrimSuffix(line, "\n"))
		}
		return a.cut(lines)
	}
	_, body, _ := strings.Cut(udiff.Unified("a", "b", old, new), "+++ b\n")
	if body == "" {
		return []string{a.style.dim("(no change)")}
	}
	return a.cut(strings.Split(strings.TrimSuffix(body, "\n"), "\n"))
}

// cut shows the first lines of a change in its colours.
func (a *Asker) cut(lines []string) []string {
	more := len(lines) - a.limit
	if more > 0 {
		lines = lines[:a.limit]
	}
	out := make([]string, 0, len(lines)+1)
	for _, line := range lines {
		shown := visibleLine(line)
		switch {
		case strings.HasPrefix(line, "+"):
			shown = a.style.green(shown)
		case strings.HasPrefix(line, "-"):
			shown = a.style.red(shown)
		case strings.HasPrefix(line, "@@"):
			shown = a.style.cyan(shown)
		}
		out = append(out, shown)
	}
	if more > 0 {
		out = append(out, a.style.dim(fmt.Sprintf("… %d more lines", more)))
	}
	return out
}

func visibleLine(s string) string {
	return fit(strings.ReplaceAll(visible(s), "\n", "⏎ "), previewCells)
}
