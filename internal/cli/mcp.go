package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/tool"
)

func newMCP(e *env) *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error {
		return e.withServers(cmd.Context(), nil, false, func(_ context.Context, a *app.App) error {
			if asJSON {
				return e.printJSON(statusJSON(a.MCP().Status()))
			}
			fmt.Fprintln(e.out, a.MCP().Table())
			return nil
		})
	}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "List and show MCP servers and their tools",
		Long: `Connects to the MCP servers of the configuration and shows what they offer. To
run one of their tools: aura tools mcp__SERVER__TOOL ARGUMENTS.`,
		Args: arguments(noSubcommand),
		RunE: list,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{
			Use:   "list",
			Short: "List the servers and their states",
			Args:  arguments(cobra.NoArgs),
			RunE:  list,
		},
		&cobra.Command{
			Use: "show NAME", Short: "Show a server: tools, prompts, resources", Args: arguments(cobra.ExactArgs(1)),
			ValidArgsFunction: e.offer(e.serverNames),
			RunE: func(cmd *cobra.Command, args []string) error {
				return e.withServers(cmd.Context(), args, false, func(ctx context.Context, a *app.App) error {
					s, err := a.MCP().Inspect(ctx, args[0])
					if err != nil {
						return err
					}
					if asJSON {
						return e.printJSON(statusJSON([]mcp.Status{s})[0])
					}
					fmt.Fprintln(e.out, s)
					if s.State != mcp.Connected && s.State != mcp.Disabled {
						return codeError(exitError)
					}
					return nil
				})
			},
		},
		&cobra.Command{
			Use:               "tools [NAME]",
			Short:             "List the tools of all servers, or of one",
			Args:              arguments(cobra.MaximumNArgs(1)),
			ValidArgsFunction: e.offer(e.serverNames),
			RunE: func(cmd *cobra.Command, args []string) error {
				return e.withServers(cmd.Context(), args, true, func(ctx context.Context, a *app.App) error {
					var list []tool.Tool
					for _, t := range a.Commands().Tools() {
						if t.Source.Kind == "mcp" && (len(args) == 0 || strings.EqualFold(t.Source.Name, args[0])) {
							list = append(list, t)
						}
					}
					return e.listTools(list, asJSON)
				})
			},
		},
	)
	return cmd
}

// withServers connects to servers, all of them without names. What do shows includes
// those that cannot be reached, unless tell.
func (e *env) withServers(
	ctx context.Context,
	names []string,
	tell bool,
	do func(context.Context, *app.App) error,
) error {
	ctx, stop := e.interruptible(ctx)
	defer stop()
	a, err := app.Open(ctx, e.flags.lookup(), app.Face{})
	if err != nil {
		return err
	}
	defer a.Close("exit")
	var wanted []string
	for _, name := range names {
		s, err := a.MCP().Inspect(ctx, name) // Only to find it.
		if err != nil {
			return err
		}
		wanted = append(wanted, s.Server.Name)
	}
	notices, err := a.ConnectServers(ctx, wanted...)
	if tell {
		e.tell(notices)
	}
	if err != nil {
		return err
	}
	return do(ctx, a)
}

func (e *env) tell(notices []string) {
	for _, n := range notices {
		e.warn(n)
	}
}

// connectForTool connects to the servers that a call of `aura tools` is about.
func (e *env) connectForTool(ctx context.Context, a *app.App, all bool, args []string) error {
	var names []string
	if len(args) > 0 {
		names = a.MCP().Serving(args[0])
	}
	if !all && len(names) == 0 {
		return nil
	}
	notices, err := a.ConnectServers(ctx, names...)
	e.tell(notices)
	return err
}

// serverJSON is a server for scripts.
type serverJSON struct {
	Name      string         `json:"name"`
	Type      string         `json:"type"`
	Target    string         `json:"target"`
	File      string         `json:"file"`
	State     mcp.State      `json:"state"`
	Error     string         `json:"error,omitempty"`
	Program   string         `json:"program,omitempty"`
	Protocol  string         `json:"protocol,omitempty"`
	Tools     []mcp.ToolInfo `json:"tools"`
	Skipped   []string       `json:"skipped,omitempty"`
	Prompts   []mcp.Prompt   `json:"prompts,omitempty"`
	Resources []mcp.Resource `json:"resources,omitempty"`
}

func statusJSON(list []mcp.Status) []serverJSON {
	out := make([]serverJSON, len(list))
	for i, s := range list {
		out[i] = serverJSON{
			Name:      s.Server.Name,
			Type:      s.Server.Type,
			Target:    s.Server.Target(),
			File:      fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line),
			State:     s.State,
			Error:     s.Error,
			Program:   s.Program,
			Protocol:  s.Protocol,
			Tools:     append([]mcp.ToolInfo{}, s.Tools...),
			Skipped:   s.Skipped,
			Prompts:   s.Prompts,
			Resources: s.Resources,
		}
	}
	return out
}
