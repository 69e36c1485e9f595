package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"strings"
	"text/tabwriter"
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
	list := func(cmd *cobra.Command, _ []string) error { return e.listPlugins(cmd.Context(), f) }
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
		RunE: list,
	}
	cmd.PersistentFlags().
		BoolVar(&f.global, "global", false, "work on your own configuration (~/.aura) instead of the project's")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	listCmd := &cobra.Command{
		Use:   "list",
		Short: "List plugins with status, capabilities and source",
		Args:  arguments(cobra.NoArgs),
		RunE:  list,
	}
	listCmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	show := &cobra.Command{
		Use: "show NAME", Short: "Show everything about a plugin", Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return e.showPlugin(cmd.Context(), f, args[0]) },
	}
	show.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.AddCommand(
		listCmd,
		show,
		newPluginsAdd(e, &f),
		newPluginsUpdate(e, &f),
		newPluginsRemove(e, &f),
		newPluginsSwitch(
			e,
			&f,
			true,
		),
		newPluginsSwitch(e, &f, false),
		newPluginsNew(e, &f),
		newPluginsSync(e, &f),
		newPluginsVerify(e, &f),
	)
	for _, sub := range cmd.Commands() {
		if strings.Contains(sub.Use, " NAME") && sub.Name() != "new" {
			sub.ValidArgsFunction = e.completePlugins(&f)
		}
	}
	return cmd
}

// completePlugins offers the names of plugins and packs to the shell.
func (e *env) completePlugins(f *pluginFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		m, err := e.pluginManager(*f)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := m.Names(context.WithoutCancel(cmd.Context()))
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// pluginManager is a manager of the homes that the flags name.
func (e *env) pluginManager(f pluginFlags) (*manage.Manager, error) {
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
		// A plugin belongs to the project unless a user says otherwise.
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
	// The interpreter words some of its failures on the standard logger, too.
	log.SetOutput(io.Discard)
	return manage.New(m), nil
}

// withPlugins runs do with a manager and a context that Ctrl+C ends.
func (e *env) withPlugins(ctx context.Context, f pluginFlags, do func(context.Context, *manage.Manager) error) error {
	m, err := e.pluginManager(f)
	if err != nil {
		return err
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	return do(ctx, m)
}

func (e *env) listPlugins(ctx context.Context, f pluginFlags) error {
	return e.withPlugins(ctx, f, func(ctx context.Context, m *manage.Manager) error {
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
		w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tSTATUS\tCAPABILITIES\tSOURCE")
		for _, p := range list {
			caps := strings.Join(p.Capabilities(), ", ")
			switch {
			case p.Error != "":
				caps = "(probe failed)"
			case caps == "":
				caps = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", tame(p.Name), p.Status, tame(caps), tame(pluginSource(&p)))
		}
		return w.Flush()
	})
}

// tame replaces control characters in what other people wrote, which a terminal
// would obey.
func tame(s string) string {
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

func (e *env) showPlugin(ctx context.Context, f pluginFlags, name string) error {
	return e.withPlugins(ctx, f, func(ctx context.Context, m *manage.Manager) error {
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
		fmt.Fprintf(&b, "%-13s%s\n", label+":", tame(text))
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
		fmt.Fprintf(&b, "SDK Version: %s (%s)\n", tame(p.SDK.Version), verdict)
	}
	if p.Error != "" {
		fmt.Fprintf(&b, "Probe: (failed: %s)\n", tame(p.Error))
	}
	line("Directory", p.Dir)
	b.WriteString("Files:\n")
	for _, file := range p.Files {
		fmt.Fprintf(&b, "  %s\n", tame(file))
	}
	return b.String()
}

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
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
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
					fmt.Fprintf(e.out, "  %s  %s\n", tame(p.Name), tame(p.Description))
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

func newPluginsUpdate(e *env, f *pluginFlags) *cobra.Command {
	var o manage.UpdateOptions
	var all bool
	cmd := &cobra.Command{
		Use: "update NAME... | --all", Short: "Update plugins or packs that came from git",
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
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
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
		fmt.Fprintf(&b, "  %s\n", tame(c))
	}
	if dry {
		for _, f := range u.Files {
			fmt.Fprintf(&b, "  %s\n", tame(f))
		}
	}
	return b.String()
}

func newPluginsRemove(e *env, f *pluginFlags) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME...", Short: "Remove plugins or whole packs", Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
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

// newPluginsSwitch is enable or disable.
func newPluginsSwitch(e *env, f *pluginFlags, on bool) *cobra.Command {
	verb, done := "disable", "Disabled"
	if on {
		verb, done = "enable", "Enabled"
	}
	return &cobra.Command{
		Use:   verb + " NAME...",
		Short: done[:len(done)-1] + " plugins, or all of a pack, in their plugin.yaml",
		Args:  arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
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

func newPluginsNew(e *env, f *pluginFlags) *cobra.Command {
	var o manage.NewOptions
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Write a new plugin with a test", Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
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
	cmd.Flags().
		StringSliceVar(&o.Hooks, "hook", nil, "with these hooks, for example BeforeChat,AfterResponse (default "+
			"BeforeChat)")
	return cmd
}

func newPluginsSync(e *env, f *pluginFlags) *cobra.Command {
	var o manage.SyncOptions
	cmd := &cobra.Command{
		Use: "sync", Short: "Install exactly what plugins.lock says", Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
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

func newPluginsVerify(e *env, f *pluginFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "Report what differs from what was installed", Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.withPlugins(cmd.Context(), *f, func(ctx context.Context, m *manage.Manager) error {
				list, count, err := m.Verify(ctx)
				switch {
				case err != nil:
					return fmt.Errorf("plugins verify: %w", err)
				case f.json:
					if err := e.printJSON(list); err != nil {
						return err
					}
				case len(list) == 0:
					fmt.Fprintf(e.out, "%d installed, all as plugins.lock says\n", count)
				}
				if !f.json {
					for _, d := range list {
						fmt.Fprintf(e.out, "%s: %s\n", tame(d.Name), tame(d.What))
					}
				}
				if len(list) > 0 {
					return codeError(exitError)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}
