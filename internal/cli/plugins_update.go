package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsUpdate(e *env, f *pluginFlags) *cobra.Command {
	var o manage.UpdateOptions
	var all bool
	cmd := &cobra.Command{
		Use:               "update NAME... | --all",
		Short:             "Update plugins or packs that came from git",
		ValidArgsFunction: completePlugins(e, f),
		Args: arguments(func(_ *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return errors.New("--all and names exclude each other")
			case !all && len(args) == 0:
				return errors.New("name a plugin or pack, or use --all")
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPlugins(cmd.Context(), e, *f, func(ctx context.Context, m *manage.Manager) error {
				list, err := m.Update(ctx, args, o)
				for _, u := range list {
					if u.Err == nil {
						fmt.Fprint(e.out, updateText(u, o.DryRun))
					}
				}
				if err == nil && len(list) == 0 {
					fmt.Fprintln(e.err, "no plugin came from git")
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "update everything that came from git")
	cmd.Flags().BoolVar(&o.NoVendor, "no-vendor", false, "do not run go mod tidy and go mod vendor")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only show the commits and files that would come")
	cmd.Flags().BoolVar(&o.Force, "force", false, "discard edits that were made here")
	return cmd
}

// updateText says what an update did, or would do.
func updateText(u manage.Updated, dry bool) string {
	if !u.Changed {
		return fmt.Sprintf("%s: Already up to date (%.12s)\n", u.Name, u.To)
	}
	var b strings.Builder
	verb := "updated"
	if dry {
		verb = "would be updated"
	}
	fmt.Fprintf(&b, "%s: %s %.12s -> %.12s", u.Name, verb, u.From, u.To)
	if u.Vendored {
		b.WriteString(" (vendored again: its SDK did not fit)")
	}
	b.WriteByte('\n')
	for _, c := range u.Commits {
		fmt.Fprintf(&b, "  %s\n", sanitize(c))
	}
	if dry {
		for _, f := range u.Files {
			fmt.Fprintf(&b, "  %s\n", sanitize(f))
		}
	}
	return b.String()
}
