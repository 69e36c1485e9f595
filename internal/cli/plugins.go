package cli

import (
	"context"
	"errors"
	"io"
	"log"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/plugin/manage"
)

// pluginFlags are the flags of all commands below `aura plugins`.
type pluginFlags struct {
	global bool
	json   bool
}

func newPlugins(e *env) *cobra.Command {
	var f pluginFlags
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "List, inspect, install, update and remove plugins",
		Long: `Plugins are Go modules that aura runs; see docs/plugin-management.md. They are
installed into the plugins directory of the project, or with --global into that of
your own configuration.`,
		Example: `  aura plugins add https://github.com/user/aura-plugin-metrics --ref v0.2.0
  aura plugins list
  aura plugins update --all
  aura plugins new my-plugin --tool`,
		Args: arguments(noSubcommand),
		RunE: func(cmd *cobra.Command, _ []string) error { return listPlugins(cmd.Context(), e, f) },
	}
	cmd.PersistentFlags().
		BoolVar(&f.global, "global", false, "work on your own configuration (~/.aura) instead of the project's")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.AddCommand(
		newPluginsList(e, &f),
		newPluginsShow(e, &f),
		newPluginsAdd(e, &f),
		newPluginsUpdate(e, &f),
		newPluginsRemove(e, &f),
		newPluginsEnable(e, &f),
		newPluginsDisable(e, &f),
		newPluginsNew(e, &f),
		newPluginsSync(e, &f),
		newPluginsVerify(e, &f),
	)
	return cmd
}

// completePlugins offers the names of plugins and packs to the shell.
func completePlugins(e *env, f *pluginFlags) cobra.CompletionFunc {
	return offerAll(func(ctx context.Context) ([]string, error) {
		m, err := newPluginManager(e, *f)
		if err != nil {
			return nil, err
		}
		return m.Names(context.WithoutCancel(ctx))
	})
}

// newPluginManager manages the plugins of the homes that the flags name.
func newPluginManager(e *env, f pluginFlags) (*manage.Manager, error) {
	o := e.flags.options()
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return nil, err
	}
	if f.global {
		homes.Projects = nil
		if homes.Global == "" {
			return nil, errors.New("--global: there is no global configuration")
		}
	} else if len(homes.Projects) == 0 {
		// A plugin belongs to the project unless the user says otherwise.
		workdir, err := filepath.Abs(o.Homes.Workdir)
		if err != nil {
			return nil, err
		}
		if dir := filepath.Join(workdir, config.Dir); dir != homes.Global {
			homes.Projects = []string{dir}
		}
	}
	cfg, err := config.Load(homes)
	if err != nil {
		return nil, err
	}
	features, err := cfg.Resolve(config.Agent{}, nil, o.Overrides)
	if err != nil {
		return nil, err
	}
	dirs := cfg.PluginDirs()
	m := manage.Options{
		Include:  features.Plugins.Include,
		Exclude:  features.Plugins.Exclude,
		Unsafe:   features.Plugins.Unsafe || o.Plugins.Unsafe,
		Progress: e.err,
		Live:     term.IsTerminal(int(e.err.Fd())),
	}
	for i, home := range homes.All() {
		m.Homes = append(m.Homes, manage.Home{Dir: home, Plugins: dirs[i], Global: home == homes.Global})
	}
	// The interpreter repeats some of its errors on the standard logger.
	log.SetOutput(io.Discard)
	return manage.New(m), nil
}

// withPlugins calls do with a plugin manager and a context that ends when the user
// interrupts.
func withPlugins(
	ctx context.Context,
	e *env,
	f pluginFlags,
	do func(context.Context, *manage.Manager) error,
) error {
	m, err := newPluginManager(e, f)
	if err != nil {
		return err
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	return do(ctx, m)
}

// sanitize replaces control characters in the texts of plugins: a terminal would obey
// them.
func sanitize(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
