package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsList(e *env, f *pluginFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List plugins with status, capabilities and source",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return listPlugins(cmd.Context(), e, *f) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func listPlugins(ctx context.Context, e *env, f pluginFlags) error {
	return withPlugins(ctx, e, f, func(ctx context.Context, m *manage.Manager) error {
		list, err := m.List(ctx)
		if err != nil {
			return err
		}
		if f.json {
			return e.printJSON(list)
		}
		if len(list) == 0 {
			fmt.Fprintln(e.err, "no plugins are installed")
			return nil
		}
		w := newTable(e.out)
		fmt.Fprintln(w, "NAME\tSTATUS\tCAPABILITIES\tSOURCE")
		for _, p := range list {
			caps := strings.Join(p.Capabilities(), ", ")
			switch {
			case p.Error != "":
				caps = "(probe failed)"
			case caps == "":
				caps = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", sanitize(p.Name), p.Status, sanitize(caps), sanitize(pluginSource(&p)))
		}
		return w.Flush()
	})
}

// pluginSource says where a plugin is and where it came from.
func pluginSource(p *manage.Plugin) string {
	source := "project"
	if p.Global {
		source = "global"
	}
	if p.Pack != "" {
		source += ", pack " + p.Pack
	}
	if p.Origin != nil {
		return source + " (git: " + p.Origin.String() + ")"
	}
	return source + " (local)"
}
