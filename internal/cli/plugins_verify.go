package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsVerify(e *env, f *pluginFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Report what differs from what was installed",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return verifyPlugins(cmd.Context(), e, *f) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// verifyPlugins reports differences; if there are any, the exit code is 1.
func verifyPlugins(ctx context.Context, e *env, f pluginFlags) error {
	return withPlugins(ctx, e, f, func(ctx context.Context, m *manage.Manager) error {
		list, count, err := m.Verify(ctx)
		if err != nil {
			return fmt.Errorf("plugins verify: %w", err)
		}
		if f.json {
			if err := e.printJSON(list); err != nil {
				return err
			}
		} else {
			for _, d := range list {
				fmt.Fprintf(e.out, "%s: %s\n", sanitize(d.Name), sanitize(d.What))
			}
		}
		switch {
		case len(list) > 0:
			return codeError(exitError)
		case !f.json:
			fmt.Fprintf(e.out, "%d installed, all as plugins.lock says\n", count)
		}
		return nil
	})
}
