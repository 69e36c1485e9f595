package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newMCP(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "List and show MCP servers and their tools",
		Long: `Connects to the MCP servers of the configuration and shows what they offer. To
run one of their tools: aura tools mcp__SERVER__TOOL ARGUMENTS.`,
		Args: arguments(noSubcommand),
		RunE: func(cmd *cobra.Command, _ []string) error { return listServers(cmd.Context(), e, asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		newMCPList(e, &asJSON),
		newMCPShow(e, &asJSON),
		newMCPTools(e, &asJSON),
	)
	return cmd
}

// withServers connects to the named servers, or to all without names. report is called
// with notices about those that cannot be reached, unless it is nil.
func withServers(
	ctx context.Context,
	e *env,
	names []string,
	report func(notices []string),
	do func(context.Context, *app.App) error,
) error {
	return e.withApp(ctx, func(ctx context.Context, a *app.App) error {
		var known []string
		for _, name := range names {
			s, err := a.MCP().Inspect(ctx, name) // Only to find it.
			if err != nil {
				return err
			}
			known = append(known, s.Server.Name)
		}
		notices, err := a.ConnectServers(ctx, known...)
		if report != nil {
			report(notices)
		}
		if err != nil {
			return err
		}
		return do(ctx, a)
	})
}
