package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsRemove(e *env, f *pluginFlags) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME...",
		Short:             "Remove plugins or whole packs",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completePlugins(e, f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPlugins(cmd.Context(), e, *f, func(ctx context.Context, m *manage.Manager) error {
				for _, name := range args {
					r, err := m.Remove(ctx, name)
					if err != nil {
						return fmt.Errorf("plugins remove: %w", err)
					}
					fmt.Fprintf(e.out, "Removed %s (%s)\n", r.Name, r.Dir)
				}
				return nil
			})
		},
	}
}
