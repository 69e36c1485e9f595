package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/spelling"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

func newHooks(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "List, show, try out and validate shell hooks",
		Long: `Shell hooks are written in .aura/config/hooks/*.yaml; see docs/hooks.md. What is
listed and tried out is what holds for --agent and --mode.`,
		Args: arguments(noSubcommand),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.listHooks(cmd.Context(), false) },
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the hooks in running order", Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.listHooks(cmd.Context(), asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(list,
		&cobra.Command{
			Use:               "show [NAME...]",
			Short:             "Show all about hooks, inheritance applied",
			Args:              arguments(cobra.ArbitraryArgs),
			ValidArgsFunction: e.offer(e.named(hookNames)),
			RunE:              func(cmd *cobra.Command, args []string) error { return e.showHooks(cmd.Context(), args) },
		},
		&cobra.Command{
			Use: "validate", Short: "Check all hooks and report every mistake", Args: arguments(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error { return e.validateHooks(cmd.Context()) },
		},
		newHooksTest(e),
	)
	return cmd
}

// hooked does something with the hooks of a session; report is what an import left out.
type hooked func(ctx context.Context, a *app.App, set *hooks.Set, report []string) error

// withHooks opens a session for its hooks.
func (e *env) withHooks(ctx context.Context, onRun func(hooks.Run), do hooked) error {
	ctx, stop := e.interruptible(ctx)
	defer stop()
	a, err := app.Open(ctx, e.flags.lookup(), app.Face{})
	if err != nil {
		return err
	}
	defer a.Close("exit")
	set, report, err := a.Hooks(onRun)
	if err != nil {
		return err
	}
	return do(ctx, a, set, report)
}

func (e *env) listHooks(ctx context.Context, asJSON bool) error {
	return e.withHooks(ctx, nil, func(_ context.Context, a *app.App, set *hooks.Set, _ []string) error {
		p := a.Agent().Profile()
		running := set.Running(p.Agent, p.Mode)
		idle, why := set.Idle()
		if asJSON {
			return e.printJSON(hooksJSON(running, idle, why))
		}
		if len(set.Hooks()) == 0 {
			fmt.Fprintln(e.err, "there are no hooks (write them to .aura/config/hooks/*.yaml)")
			return nil
		}
		w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "EVENT\tNAME\tMATCHER\tFILES\tTIMEOUT\tDESCRIPTION")
		row := func(h config.Hook, note string) {
			line, _, _ := strings.Cut(cmp.Or(h.Description, strings.TrimSpace(h.Command)), "\n")
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", h.Event, h.Name, cmp.Or(h.Matcher, "*"), cmp.Or(h.Files, "*"),
				cmp.Or(h.Timeout, hooks.DefaultTimeout), strings.TrimSpace(note+line))
		}
		for _, h := range running {
			row(h, "")
		}
		for i, h := range idle {
			row(h, "("+why[i]+") ")
		}
		return w.Flush()
	})
}

// hooksJSON is hooks for scripts.
func hooksJSON(running, idle []config.Hook, why []string) []any {
	list := []any{}
	add := func(h config.Hook, state string) {
		list = append(list, struct {
			Name        string   `json:"name"`
			Event       string   `json:"event"`
			State       string   `json:"state"`
			Description string   `json:"description,omitempty"`
			Matcher     string   `json:"matcher,omitempty"`
			Files       string   `json:"files,omitempty"`
			Command     string   `json:"command"`
			Timeout     float64  `json:"timeout"` // Seconds.
			Depends     []string `json:"depends,omitempty"`
			Silent      bool     `json:"silent,omitempty"`
			OnFailure   string   `json:"on_failure,omitempty"`
			File        string   `json:"file"`
			Line        int      `json:"line,omitempty"`
		}{h.Name, h.Event, state, h.Description, h.Matcher, h.Files, h.Command, cmp.Or(h.Timeout, hooks.DefaultTimeout).Seconds(),
			h.Depends, h.Silent, h.OnFailure, h.Source.File, h.Source.Line})
	}
	for _, h := range running {
		add(h, "active")
	}
	for i, h := range idle {
		add(h, why[i])
	}
	return list
}

func (e *env) showHooks(ctx context.Context, names []string) error {
	return e.withHooks(ctx, nil, func(_ context.Context, a *app.App, set *hooks.Set, _ []string) error {
		if len(names) == 0 {
			p := a.Agent().Profile()
			fmt.Fprintln(e.out, set.Listing(p.Agent, p.Mode))
			return nil
		}
		for _, name := range names {
			h, ok := set.Hooks()[name]
			if !ok {
				var all []string
				for other := range set.Hooks() {
					all = append(all, other)
				}
				slices.Sort(all)
				hint := `"aura hooks list" lists them`
				if best := spelling.Closest(name, all); best != "" {
					hint = fmt.Sprintf("did you mean %q?", best)
				}
				return fmt.Errorf("no hook %q (%s)", name, hint)
			}
			fmt.Fprintf(e.out, "%s:%d\n%s", h.Source.File, h.Source.Line, hooks.Describe(h))
		}
		return nil
	})
}

// validateHooks says that everything is right; what is wrong stops it before.
func (e *env) validateHooks(ctx context.Context) error {
	return e.withHooks(ctx, nil, func(_ context.Context, _ *app.App, set *hooks.Set, report []string) error {
		for _, line := range report {
			fmt.Fprintf(e.out, "import: %s\n", line)
		}
		idle, _ := set.Idle()
		fmt.Fprintf(e.out, "%d hooks, %d of them disabled or pruned: no mistakes\n", len(set.Hooks()), len(idle))
		return nil
	})
}

// hookTest is the flags of `aura hooks test`.
type hookTest struct {
	event, tool, output, text string
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
		RunE: func(cmd *cobra.Command, args []string) error { return e.testHooks(cmd, f, args) },
	}
	cmd.Flags().StringVar(&f.event, "event", "pre", "event of the hooks")
	cmd.Flags().StringVar(&f.tool, "tool", "", "tool that is called")
	cmd.Flags().StringVar(&f.output, "output", "", "result of the tool, for post hooks")
	cmd.Flags().StringVar(&f.text, "text", "", "text of the user, the answer or the error, for other events")
	return cmd
}

func (e *env) testHooks(cmd *cobra.Command, f hookTest, args []string) error {
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
	return e.withHooks(cmd.Context(), note, func(ctx context.Context, a *app.App, set *hooks.Set, _ []string) error {
		if err := knownTool(a, f.tool); err != nil {
			return &usageError{err}
		}
		data := row.Sample(a.Agent().Snapshot(), lifecycle.Sample{
			Tool: f.tool, Arguments: values, Output: f.output, Text: f.text,
		})
		var records []lifecycle.Record
		p := lifecycle.New(lifecycle.Options{Trace: func(r lifecycle.Record) { records = append(records, r) }})
		p.Bind(lifecycle.Hook, set.Bindings())
		out := p.Dispatch(ctx, lifecycle.EventOf(data), checkCall(a, f.tool))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(records) == 0 {
			fmt.Fprintln(e.out, "no hook fires")
			return nil
		}
		for i, r := range records {
			fmt.Fprintf(
				e.out,
				"%d. %s: %s (%s)\n",
				i+1,
				r.Source.Name,
				r.Verdict,
				r.Duration.Round(10*time.Microsecond),
			)
			if i < len(runs) {
				e.printRun(runs[i])
			}
			if r.Verdict == lifecycle.Failed || r.Verdict == lifecycle.Panicked || r.Verdict == lifecycle.TimedOut {
				fmt.Fprintf(e.out, "   failed: %s\n", r.Detail)
			}
		}
		e.printOutcome(out, data)
		return nil
	})
}

// knownTool refuses the name of a tool that does not exist. Those of MCP servers, which
// are not asked here, may.
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
func (e *env) printRun(r hooks.Run) {
	fmt.Fprintf(e.out, "   exit code %d\n", r.Result.ExitCode)
	for _, s := range []struct {
		name string
		text []byte
	}{{"stdout", r.Result.Stdout}, {"stderr", r.Result.Stderr}} {
		if text := strings.TrimRight(string(s.text), "\n"); text != "" {
			fmt.Fprintf(e.out, "   %s: %s\n", s.name, strings.ReplaceAll(text, "\n", "\n           "))
		}
	}
}

// printOutcome shows what all hooks together came to.
func (e *env) printOutcome(out lifecycle.Outcome, before any) {
	switch {
	case out.Blocked != nil:
		fmt.Fprintf(e.out, "blocked by %s: %s\n", out.Blocked.Source, out.Blocked.Reason)
		return
	case len(out.Asks) > 0:
		fmt.Fprintf(e.out, "asks: %s\n", out.Asks[0].Reason)
	default:
		fmt.Fprintln(e.out, "allowed")
	}
	if out.Data != before {
		switch d := out.Data.(type) {
		case *sdk.BeforeToolContext:
			fmt.Fprintf(e.out, "arguments: %s\n", tool.ArgsJSON(d.Arguments))
		case *sdk.AfterToolContext:
			fmt.Fprintf(e.out, "result: %s\n", d.ToolResult)
		case *sdk.UserMessageContext:
			fmt.Fprintf(e.out, "text: %s\n", d.Text)
		}
	}
	for _, text := range out.Feedback {
		fmt.Fprintf(e.out, "the model reads: %s\n", text)
	}
	for _, s := range out.Said {
		fmt.Fprintf(e.out, "the model reads: %s\n", s.Text)
	}
	for _, n := range out.Notices {
		fmt.Fprintf(e.out, "the user reads: %s\n", n.Text)
	}
}
