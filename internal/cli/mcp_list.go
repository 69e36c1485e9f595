package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newMCPList(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the servers and their states",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return listServers(cmd.Context(), e, *asJSON) },
	}
}

// listServers lists all servers, those that cannot be reached among them.
func listServers(ctx context.Context, e *env, asJSON bool) error {
	return withServers(ctx, e, nil, nil, func(_ context.Context, a *app.App) error {
		if !asJSON {
			fmt.Fprintln(e.out, a.MCP().Table())
			return nil
		}
		return e.printJSON(a.MCP().Reports())
	})
}
