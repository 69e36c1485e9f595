package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// hookTest are the flags of `aura hooks test`.
type hookTest struct {
	event  string
	tool   string
	output string
	text   string
}

func newHooksTest(e *env) *cobra.Command {
	var f hookTest
	cmd := &cobra.Command{
		Use:   "test [ARGUMENTS]",
		Short: "Run the hooks that would fire and show what they decide",
		Long: `Runs the hooks that would fire for a tool call, without making the call: which
ones, in which order, what each printed and decided, how long it took. The hooks
are really run. ARGUMENTS is the JSON object of the call.

With another event, --text is the text that the moment is about.`,
		Example: `  aura hooks test --event pre --tool Bash '{"command": "rm -rf x"}'
  aura hooks test --event post --tool Write --output "wrote a.go" '{"path": "a.go", "content": ""}'
  aura hooks test --event user_message --text "hello"`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return testHooks(cmd.Context(), e, f, args) },
	}
	cmd.Flags().StringVar(&f.event, "event", "pre", "event of the hooks")
	cmd.Flags().StringVar(&f.tool, "tool", "", "tool that is called")
	cmd.Flags().StringVar(&f.output, "output", "", "result of the tool, for post hooks")
	cmd.Flags().StringVar(&f.text, "text", "", "text of the user, the answer or the error, for other events")
	return cmd
}

func testHooks(ctx context.Context, e *env, f hookTest, args []string) error {
	row, err := hookRow(f.event)
	if err != nil {
		return &usageError{err}
	}
	values := map[string]any{}
	if len(args) == 1 {
		if err := json.Unmarshal([]byte(args[0]), &values); err != nil {
			return &usageError{fmt.Errorf("arguments are not a JSON object: %w", err)}
		}
	}
	if onTool := f.event == "pre" || f.event == "post"; onTool == (f.tool == "") {
		return &usageError{errors.New("--tool goes with --event pre or post, and must be given there")}
	}
	var runs []hooks.Run
	note := func(r hooks.Run) { runs = append(runs, r) }
	return withHooks(ctx, e, note, func(ctx context.Context, s hookSession) error {
		if err := knownTool(s.app, f.tool); err != nil {
			return &usageError{err}
		}
		data := row.Sample(s.app.Agent().Snapshot(), lifecycle.Sample{
			Tool: f.tool, Arguments: values, Output: f.output, Text: f.text,
		})
		var records []lifecycle.Record
		p := lifecycle.New(lifecycle.Options{Trace: func(r lifecycle.Record) { records = append(records, r) }})
		p.Bind(lifecycle.Hook, s.set.Bindings())
		out := p.Dispatch(ctx, lifecycle.EventOf(data), checkCall(s.app, f.tool))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(records) == 0 {
			fmt.Fprintln(e.out, "no hook fires")
			return nil
		}
		for i, r := range records {
			took := r.Duration.Round(10 * time.Microsecond)
			fmt.Fprintf(e.out, "%d. %s: %s (%s)\n", i+1, r.Source.Name, r.Verdict, took)
			if i < len(runs) {
				printRun(e.out, runs[i])
			}
			if r.Verdict == lifecycle.Failed || r.Verdict == lifecycle.Panicked || r.Verdict == lifecycle.TimedOut {
				fmt.Fprintf(e.out, "   failed: %s\n", r.Detail)
			}
		}
		printOutcome(e.out, out, data)
		return nil
	})
}

// knownTool refuses the name of a tool that does not exist. Names of MCP tools pass: the
// servers are not asked.
func knownTool(a *app.App, name string) error {
	names := a.ToolNames()
	if name == "" || strings.HasPrefix(name, "mcp__") || slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("--tool: %w", noTool(name, names))
}

// checkCall refuses changed arguments as a session would.
func checkCall(a *app.App, name string) func(any) error {
	return func(data any) error {
		call, ok := data.(*sdk.BeforeToolContext)
		if !ok {
			return nil
		}
		for _, t := range a.Commands().Tools() {
			if t.Name != name {
				continue
			}
			if err := checked(&t, call.Arguments); err != nil {
				return fmt.Errorf("modified arguments are invalid: %w", err)
			}
		}
		return nil
	}
}

// hookRow finds the moment of an event.
func hookRow(event string) (lifecycle.Row, error) {
	var names []string
	for _, row := range lifecycle.Moments() {
		if row.Hook == event && event != "" {
			return row, nil
		}
		if row.Hook != "" {
			names = append(names, row.Hook)
		}
	}
	return lifecycle.Row{}, fmt.Errorf("--event: %q is not one of %s", event, strings.Join(names, ", "))
}

// printRun shows what a hook printed.
func printRun(out io.Writer, r hooks.Run) {
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
