package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/tool"
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
		ValidArgsFunction: completeTools(&e.flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.worker {
				return serveTools(cmd.Context(), e)
			}
			return useTools(cmd.Context(), e, f, args)
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

// completeTools offers the names of tools to the shell, and files for their arguments.
func completeTools(f *rootFlags) cobra.CompletionFunc {
	names := offerAll(func(ctx context.Context) ([]string, error) {
		a, err := app.Open(ctx, f.lookup(), app.Face{})
		if err != nil {
			return nil, err
		}
		defer a.Close("exit")
		return toolNames(a.Commands().Tools()), nil
	})
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return names(cmd, args, word)
	}
}

// serveTools runs tools for the process that started this one, which ends it.
func serveTools(ctx context.Context, e *env) error {
	o := e.flags.lookup()
	o.Confined, o.Plugins.Confining = true, true
	a, err := app.Open(ctx, o, app.Face{})
	if err != nil {
		return err
	}
	defer a.Close("exit")
	return a.ServeConfined(ctx, e.in, e.out)
}

// useTools lists all tools, describes one or runs one, as args say.
func useTools(ctx context.Context, e *env, f toolsFlags, args []string) error {
	o := e.flags.lookup()
	o.Plugins.Confining = true
	ctx, stop := e.interruptible(ctx)
	defer stop()
	a, err := app.Open(ctx, o, app.Face{})
	if err != nil {
		return err
	}
	defer a.Close("exit")
	if err := connectForTool(ctx, e, a, f.withMCP, args); err != nil {
		return err
	}
	if a.Ready(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	all := a.Commands().Tools()
	if len(args) == 0 {
		return listTools(e, all, f.json)
	}
	i := slices.IndexFunc(all, func(t tool.Tool) bool { return t.Name == args[0] })
	if i < 0 {
		return noTool(args[0], toolNames(all))
	}
	t := &all[i]
	if len(args) == 1 {
		return describeTool(e, t, f.json)
	}
	return runTool(ctx, e, a, t, f, args[1:])
}

// connectForTool connects to the MCP servers that a call of `aura tools` is about.
func connectForTool(ctx context.Context, e *env, a *app.App, all bool, args []string) error {
	var names []string
	if len(args) > 0 {
		names = a.MCP().Serving(args[0])
	}
	if !all && len(names) == 0 {
		return nil
	}
	notices, err := a.ConnectServers(ctx, names...)
	e.warnAll(notices)
	return err
}

// noTool is the error for a name that no tool has.
func noTool(name string, names []string) error {
	hint := tool.NameHint(name, names, `"aura tools" lists them`)
	return fmt.Errorf("no tool %q (%s)", name, hint)
}

func toolNames(list []tool.Tool) []string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}
