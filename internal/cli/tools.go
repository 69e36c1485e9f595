package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

// toolsFlags are the flags of `aura tools`.
type toolsFlags struct {
	json bool
	raw  bool

	readOnly bool
	roPaths  []string
	rwPaths  []string
	headless bool
	worker   bool
	withMCP  bool
}

func newTools(e *env) *cobra.Command {
	var f toolsFlags
	cmd := &cobra.Command{
		Use:   "tools [NAME [ARGUMENTS...]]",
		Short: "List, describe and run tools directly",
		Long: `Without arguments lists all tools, with a name describes one, with a name and
arguments runs it: no model, no handlers, no policy.

Arguments are key=value pairs, converted to the types of the tool's schema, or
one JSON object; {} runs a tool without any.`,
		Example: `  aura tools
  aura tools Read
  aura tools Read path=README.md count=5
  aura tools Write '{"path": "a.txt", "content": "hello"}'`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.runTools(cmd, f, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			a, err := app.Open(cmd.Context(), e.flags.lookup(), app.Face{})
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			defer a.Close("exit")
			return toolNames(a.Commands().Tools()), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.raw, "raw", false, "the arguments are one JSON object, whatever they look like")
	cmd.Flags().BoolVarP(&f.readOnly, "ro", "R", false, "the tool may read everything and write nothing")
	cmd.Flags().
		StringSliceVar(&f.roPaths, "ro-paths", nil, "the tool may only read these paths (comma-separated or repeated)")
	cmd.Flags().StringSliceVar(&f.rwPaths, "rw-paths", nil, "the tool may only read and write these paths")
	cmd.Flags().BoolVarP(&f.headless, "headless", "H", false, "never ask anything")
	cmd.Flags().BoolVar(&f.worker, "worker", false, "run tools for the process that started this one")
	cmd.Flags().BoolVar(&f.withMCP, "with-mcp", false, "connect to the MCP servers and list their tools too")
	_ = cmd.Flags().MarkHidden("worker")
	return cmd
}

func (e *env) runTools(cmd *cobra.Command, f toolsFlags, args []string) error {
	o := e.flags.lookup()
	o.Confined, o.Plugins.Confining = f.worker, true
	ctx := cmd.Context()
	if !f.worker { // A child ends when its parent says so.
		var stop func()
		ctx, stop = e.interruptible(ctx)
		defer stop()
	}
	a, err := app.Open(ctx, o, app.Face{})
	if err != nil {
		return err
	}
	defer a.Close("exit")
	if f.worker {
		return a.ServeConfined(ctx, e.in, e.out)
	}
	if err := e.connectForTool(ctx, a, f.withMCP, args); err != nil {
		return err
	}
	if a.Ready(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	all := a.Commands().Tools()
	if len(args) == 0 {
		return e.listTools(all, f.json)
	}
	var t tool.Tool
	for _, x := range all {
		if x.Name == args[0] {
			t = x
		}
	}
	if t.Name == "" {
		return noTool(args[0], toolNames(all))
	}
	if len(args) == 1 {
		return e.describeTool(&t, f.json)
	}
	values, err := toolArguments(&t, args[1:], f.raw)
	if err != nil {
		return &usageError{fmt.Errorf("%s: %w", t.Name, err)}
	}
	a.Agent().ResolveModel(ctx)
	snap := a.Agent().Snapshot()
	if err := e.confine(&t, values, f.restrictions(snap.Workdir), snap.Workdir); err != nil {
		return err
	}
	result, err := t.Run(ctx, tool.Call{
		ID: "cli", Args: values, Context: snap, Workdir: snap.Workdir,
		Output: func(string) {}, // The result has all of it.
	})
	return e.printResult(result, err, f.json)
}

// noTool is the error for a name that no tool has.
func noTool(name string, names []string) error {
	hint := cmp.Or(wording.DidYouMean(name, names), `"aura tools" lists them`)
	return fmt.Errorf("no tool %q (%s)", name, hint)
}

func toolNames(list []tool.Tool) []string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}

// toolArguments reads arguments from the command line and checks them.
func toolArguments(t *tool.Tool, words []string, raw bool) (map[string]any, error) {
	text := strings.Join(words, " ")
	if raw || strings.HasPrefix(strings.TrimSpace(text), "{") {
		var values map[string]any
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			return nil, fmt.Errorf("arguments are not a JSON object: %w", err)
		}
		return values, checked(t, values)
	}
	pairs := map[string]string{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("argument %q is neither key=value nor JSON", w)
		}
		pairs[key] = value
	}
	values, err := t.Schema.Coerce(pairs)
	if err != nil {
		return nil, err
	}
	return values, checked(t, values)
}

func checked(t *tool.Tool, values map[string]any) error {
	if problems := t.Schema.Check(values); len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// printResult prints what a tool answered; its error makes the exit code 1.
func (e *env) printResult(r tool.Result, err error, asJSON bool) error {
	if !asJSON {
		if r.Text != "" {
			fmt.Fprintln(e.out, strings.TrimRight(r.Text, "\n"))
		}
		return err
	}
	out := struct {
		Result string `json:"result"`
		Error  string `json:"error,omitempty"`
	}{Result: r.Text}
	if err != nil {
		out.Error = err.Error()
	}
	if e := e.printJSON(out); e != nil || err == nil {
		return e
	}
	return codeError(exitError)
}

func (e *env) listTools(all []tool.Tool, asJSON bool) error {
	if asJSON {
		list := make([]any, len(all))
		for i := range all {
			list[i] = toolJSON(&all[i])
		}
		return e.printJSON(list)
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, t := range all {
		line, _, _ := strings.Cut(t.Description, "\n")
		line, _, _ = strings.Cut(line, ". ")
		source := t.Source.Kind
		if t.Source.Name != "" {
			source += " " + t.Source.Name
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name, source, line)
	}
	return w.Flush()
}

// toolJSON is a tool for scripts.
func toolJSON(t *tool.Tool) any {
	return struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Usage       string          `json:"usage,omitempty"`
		Examples    string          `json:"examples,omitempty"`
		Source      string          `json:"source"`
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, t.Usage, t.Examples, strings.TrimSpace(t.Source.Kind + " " + t.Source.Name), t.Schema.Raw()}
}

func (e *env) describeTool(t *tool.Tool, asJSON bool) error {
	if asJSON {
		return e.printJSON(toolJSON(t))
	}
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(e.out, "%s:\n  %s\n\n", title, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	section("Name", t.Name)
	section("Description", t.Description)
	section("Usage", t.Usage)
	section("Examples", t.Examples)
	fmt.Fprintln(e.out, "Parameters:")
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, p := range t.Schema.Params() {
		need := "optional"
		if p.Required {
			need = "required"
		}
		text := p.Description
		if len(p.Enum) > 0 {
			text = strings.TrimSpace(fmt.Sprintf("%s (one of %s)", text, strings.Trim(fmt.Sprint(p.Enum), "[]")))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", p.Name, p.Type, need, strings.ReplaceAll(text, "\n", " "))
	}
	if len(t.Schema.Params()) == 0 {
		fmt.Fprintln(w, "  none")
	}
	return w.Flush()
}
