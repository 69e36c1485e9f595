package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsAdd(e *env, f *pluginFlags) *cobra.Command {
	var o manage.AddOptions
	cmd := &cobra.Command{
		Use:   "add URL|PATH",
		Short: "Install a plugin or a pack from git or from a directory",
		Args:  arguments(cobra.ExactArgs(1)),
		Long: `Installs the plugins of a git repository (https, ssh, file, or the path of a bare
one) or of a directory. Its dependencies are vendored with the go command, and it must
load. If anything fails, nothing is left behind.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPlugins(cmd.Context(), e, *f, func(ctx context.Context, m *manage.Manager) error {
				o.Source, o.Workdir = args[0], e.flags.workdir
				r, err := m.Add(ctx, o)
				if err != nil {
					return fmt.Errorf("plugins add: %w", err)
				}
				from := "a copy"
				if r.Origin != nil {
					from = r.Origin.String()
				}
				fmt.Fprintf(e.out, "Installed %s (%s) in %s\n", r.Name, from, r.Dir)
				for _, p := range r.Plugins {
					fmt.Fprintf(e.out, "  %s  %s\n", sanitize(p.Name), sanitize(p.Description))
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&o.Ref, "ref", "", "tag, branch or commit (default: the default branch)")
	cmd.Flags().StringVar(&o.Name, "name", "", "name of the directory (default: from the URL, without aura-plugin-)")
	cmd.Flags().StringVar(&o.Subpath, "subpath", "", "only the plugins in this directory of the source")
	cmd.Flags().BoolVar(&o.NoVendor, "no-vendor", false, "do not run go mod tidy and go mod vendor")
	return cmd
}
