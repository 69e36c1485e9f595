package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsSync(e *env, f *pluginFlags) *cobra.Command {
	var o manage.SyncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Install exactly what plugins.lock says",
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPlugins(cmd.Context(), e, *f, func(ctx context.Context, m *manage.Manager) error {
				list, err := m.Sync(ctx, o)
				for _, s := range list {
					fmt.Fprintf(e.out, "%s: %s\n", s.Name, s.Action)
				}
				if err != nil {
					return fmt.Errorf("plugins sync: %w", err)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&o.Force, "force", false, "replace what was edited here")
	cmd.Flags().BoolVar(&o.Prune, "prune", false, "remove what came from git and is not in plugins.lock")
	return cmd
}
