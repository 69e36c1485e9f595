package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsShow(e *env, f *pluginFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show everything about a plugin",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completePlugins(e, f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showPlugin(cmd.Context(), e, *f, args[0])
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func showPlugin(ctx context.Context, e *env, f pluginFlags, name string) error {
	return withPlugins(ctx, e, f, func(ctx context.Context, m *manage.Manager) error {
		p, err := m.Show(ctx, name)
		if err != nil {
			return err
		}
		if f.json {
			return e.printJSON(p)
		}
		fmt.Fprint(e.out, pluginText(p))
		return nil
	})
}

// pluginText is what `aura plugins show` prints.
func pluginText(p *manage.Plugin) string {
	var b strings.Builder
	line := func(label, text string) {
		if text == "" {
			text = "-"
		}
		fmt.Fprintf(&b, "%-13s%s\n", label+":", sanitize(text))
	}
	line("Name", p.Name)
	line("Description", p.Description)
	line("Status", p.Status)
	condition := p.Condition
	if p.Once {
		condition = strings.TrimSpace(condition + " (once per session)")
	}
	line("Condition", condition)
	if p.Origin != nil {
		line("Origin", p.Origin.URL)
		line("  Ref", p.Origin.Ref)
		line("  Commit", p.Origin.Commit)
		if p.Origin.Subpath != "" {
			line("  Subpath", p.Origin.Subpath)
		}
	} else {
		line("Origin", "local")
	}
	if p.Pack != "" {
		line("Pack", p.Pack)
	}
	line("Hooks", strings.Join(p.Hooks, ", "))
	if p.Tool != "" {
		line("Tool", p.Tool)
	}
	if p.Command != "" {
		line("Command", "/"+p.Command)
	}
	if p.SDK != nil {
		verdict := "compatible"
		if !p.SDK.Compatible {
			verdict = "INCOMPATIBLE"
		}
		fmt.Fprintf(&b, "SDK Version: %s (%s)\n", sanitize(p.SDK.Version), verdict)
	}
	if p.Error != "" {
		fmt.Fprintf(&b, "Probe: (failed: %s)\n", sanitize(p.Error))
	}
	line("Directory", p.Dir)
	b.WriteString("Files:\n")
	for _, file := range p.Files {
		fmt.Fprintf(&b, "  %s\n", sanitize(file))
	}
	return b.String()
}
