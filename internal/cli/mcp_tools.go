package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/tool"
)

func newMCPTools(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:               "tools [NAME]",
		Short:             "List the tools of all servers, or of one",
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: e.flags.offer(serverNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listServerTools(cmd.Context(), e, args, *asJSON)
		},
	}
}

// listServerTools lists the tools of the server that names holds, or of all if it is empty.
func listServerTools(ctx context.Context, e *env, names []string, asJSON bool) error {
	return withServers(ctx, e, names, e.warnAll, func(_ context.Context, a *app.App) error {
		var list []tool.Tool
		for _, t := range a.Commands().Tools() {
			if t.Source.Kind == "mcp" && (len(names) == 0 || strings.EqualFold(t.Source.Name, names[0])) {
				list = append(list, t)
			}
		}
		return listTools(e, list, asJSON)
	})
}
