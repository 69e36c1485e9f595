package hooks

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// Trial tries out the hooks of one event, and tells what came of it.
type Trial struct {
	Event     string
	Tool      string
	Arguments map[string]any
	Output    string // Result of the tool, for post hooks.
	Text      string // Of the user, the answer or the error, for other events.

	// Check refuses arguments that a hook has changed, as a session would.
	Check func(arguments map[string]any) error

	runs []Run
}

// Note is told of every run; it is for Options.OnRun of the hooks that are tried out.
func (t *Trial) Note(r Run) { t.runs = append(t.runs, r) }

// Run runs the hooks that fire and writes which did, in which order, what each printed
// and decided, and how long it took. An error means that ctx ended.
func (t *Trial) Run(ctx context.Context, w io.Writer, s *Set, at sdk.Context) error {
	row, err := eventRow(t.Event)
	if err != nil {
		return err
	}
	data := row.Sample(at, lifecycle.Sample{Tool: t.Tool, Arguments: t.Arguments, Output: t.Output, Text: t.Text})
	var records []lifecycle.Record
	p := lifecycle.New(lifecycle.Options{Trace: func(r lifecycle.Record) { records = append(records, r) }})
	p.Bind(lifecycle.Hook, s.Bindings())
	out := p.Dispatch(ctx, lifecycle.EventOf(data), t.check)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(records) == 0 {
		fmt.Fprintln(w, "no hook fires")
		return nil
	}
	for i, r := range records {
		took := r.Duration.Round(10 * time.Microsecond)
		fmt.Fprintf(w, "%d. %s: %s (%s)\n", i+1, r.Source.Name, r.Verdict, took)
		if i < len(t.runs) {
			printRun(w, t.runs[i])
		}
		if r.Verdict == lifecycle.Failed || r.Verdict == lifecycle.Panicked || r.Verdict == lifecycle.TimedOut {
			fmt.Fprintf(w, "   failed: %s\n", r.Detail)
		}
	}
	printOutcome(w, out, data)
	return nil
}

func (t *Trial) check(data any) error {
	call, ok := data.(*sdk.BeforeToolContext)
	if !ok || t.Check == nil {
		return nil
	}
	if err := t.Check(call.Arguments); err != nil {
		return fmt.Errorf("modified arguments are invalid: %w", err)
	}
	return nil
}

// CheckEvent refuses the name of an event that hooks do not have.
func CheckEvent(event string) error {
	_, err := eventRow(event)
	return err
}

// eventRow finds the moment of an event.
func eventRow(event string) (lifecycle.Row, error) {
	var names []string
	for _, row := range lifecycle.Moments() {
		if row.Hook == event && event != "" {
			return row, nil
		}
		if row.Hook != "" {
			names = append(names, row.Hook)
		}
	}
	return lifecycle.Row{}, fmt.Errorf("%q is not one of %s", event, strings.Join(names, ", "))
}

// printRun shows what a hook printed.
func printRun(out io.Writer, r Run) {
	fmt.Fprintf(out, "   exit code %d\n", r.Result.ExitCode)
	for _, s := range []struct {
		name string
		text []byte
	}{{"stdout", r.Result.Stdout}, {"stderr", r.Result.Stderr}} {
		if text := strings.TrimRight(string(s.text), "\n"); text != "" {
			fmt.Fprintf(out, "   %s: %s\n", s.name, strings.ReplaceAll(text, "\n", "\n           "))
		}
	}
}

// printOutcome shows what all hooks together decided.
func printOutcome(w io.Writer, out lifecycle.Outcome, before any) {
	switch {
	case out.Blocked != nil:
		fmt.Fprintf(w, "blocked by %s: %s\n", out.Blocked.Source, out.Blocked.Reason)
		return
	case len(out.Asks) > 0:
		fmt.Fprintf(w, "asks: %s\n", out.Asks[0].Reason)
	default:
		fmt.Fprintln(w, "allowed")
	}
	if out.Data != before {
		switch d := out.Data.(type) {
		case *sdk.BeforeToolContext:
			fmt.Fprintf(w, "arguments: %s\n", tool.ArgsJSON(d.Arguments))
		case *sdk.AfterToolContext:
			fmt.Fprintf(w, "result: %s\n", d.ToolResult)
		case *sdk.UserMessageContext:
			fmt.Fprintf(w, "text: %s\n", d.Text)
		}
	}
	for _, text := range out.Feedback {
		fmt.Fprintf(w, "the model reads: %s\n", text)
	}
	for _, s := range out.Said {
		fmt.Fprintf(w, "the model reads: %s\n", s.Text)
	}
	for _, n := range out.Notices {
		fmt.Fprintf(w, "the user reads: %s\n", n.Text)
	}
}
