package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newMCPShow(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Show a server: tools, prompts, resources",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: e.flags.offer(serverNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showServer(cmd.Context(), e, args[0], *asJSON)
		},
	}
}

// showServer shows one server. If it cannot be reached, the exit code is 1.
func showServer(ctx context.Context, e *env, name string, asJSON bool) error {
	return withServers(ctx, e, []string{name}, nil, func(ctx context.Context, a *app.App) error {
		s, err := a.MCP().Inspect(ctx, name)
		if err != nil {
			return err
		}
		if asJSON {
			return e.printJSON(s.Report())
		}
		fmt.Fprintln(e.out, s)
		if s.Unreachable() {
			return codeError(exitError)
		}
		return nil
	})
}
