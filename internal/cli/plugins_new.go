package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsNew(e *env, f *pluginFlags) *cobra.Command {
	var o manage.NewOptions
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a new plugin with a test",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPlugins(cmd.Context(), e, *f, func(ctx context.Context, m *manage.Manager) error {
				o.Name = args[0]
				dir, files, err := m.Scaffold(ctx, o)
				if err != nil {
					return fmt.Errorf("plugins new: %w", err)
				}
				for _, file := range files {
					fmt.Fprintln(e.out, filepath.Join(dir, filepath.FromSlash(file)))
				}
				fmt.Fprintf(e.err, "It is active from the next start. Test it with: cd %s && go test\n", dir)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&o.Tool, "tool", false, "with a tool for the model")
	cmd.Flags().BoolVar(&o.Command, "command", false, "with a slash command")
	cmd.Flags().StringSliceVar(&o.Hooks, "hook", nil,
		"with these hooks, for example BeforeChat,AfterResponse (default BeforeChat)")
	return cmd
}
