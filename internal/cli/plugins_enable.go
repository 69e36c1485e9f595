package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/plugin/manage"
)

func newPluginsEnable(e *env, f *pluginFlags) *cobra.Command {
	return newPluginsSwitch(e, f, true, "enable", "Enabled")
}

func newPluginsDisable(e *env, f *pluginFlags) *cobra.Command {
	return newPluginsSwitch(e, f, false, "disable", "Disabled")
}

// newPluginsSwitch is the command that turns plugins on or off; done reports its success.
func newPluginsSwitch(e *env, f *pluginFlags, on bool, verb, done string) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " NAME...",
		Short:             done[:len(done)-1] + " plugins, or all of a pack, in their plugin.yaml",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completePlugins(e, f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPlugins(cmd.Context(), e, *f, func(ctx context.Context, m *manage.Manager) error {
				for _, name := range args {
					changed, err := m.SetEnabled(ctx, name, on)
					for _, p := range changed {
						fmt.Fprintf(e.out, "%s %s\n", done, p.Name)
					}
					if err != nil {
						return fmt.Errorf("plugins %s: %w", verb, err)
					}
					if len(changed) == 0 {
						fmt.Fprintf(e.out, "%s is %s already\n", name, strings.ToLower(done))
					}
				}
				return nil
			})
		},
	}
}
