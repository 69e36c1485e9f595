package app

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/sdk"
)

// PluginFlags are what the command line says about plugins.
type PluginFlags struct {
	Without bool // --without-plugins.
	Unsafe  bool // --unsafe-plugins.

	// Confining says that the process may confine itself before it runs a tool, which
	// must hold for processes of plugins too.
	Confining bool
}

// loadPlugins loads the plugins of a configuration; nil if there are none. It
// looks at the plugin directories and, finding nothing there, does no more.
func (a *App) loadPlugins(ctx context.Context, cfg *config.Config) (*plugin.Set, error) {
	dirs := cfg.PluginDirs()
	if a.opts.Plugins.Without || !plugin.Present(dirs) {
		return nil, nil
	}
	o, err := a.pluginOptions(cfg)
	if err != nil {
		return nil, err
	}
	// The interpreter words some of its failures on the standard logger, too; nothing
	// of ours writes there.
	log.SetOutput(io.Discard)
	set, err := plugin.Load(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err() // No plugin is to blame.
		}
		return nil, err
	}
	if _, err := set.Merge(tools.New(tools.Options{})); err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// pluginOptions is what the configuration and the command line say about loading
// plugins.
func (a *App) pluginOptions(cfg *config.Config) (plugin.Options, error) {
	f, err := cfg.Resolve(config.Agent{}, nil, a.opts.Overrides)
	if err != nil {
		return plugin.Options{}, err
	}
	p := f.Plugins
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // A plugin that wants it has to cope.
	}
	return plugin.Options{
		Dirs: cfg.PluginDirs(), Include: p.Include, Exclude: p.Exclude, Unsafe: p.Unsafe || a.opts.Plugins.Unsafe,
		Global: p.Config.Global, Local: p.Config.Local, Environ: a.env.list, TaskEnv: a.taskEnv,
		Tool:   sdk.ToolConfig{HomeDir: home, ConfigDir: cfg.Homes.Last()},
		Native: plugin.Native{Workdir: a.workdir, Confining: a.opts.Plugins.Confining},
		Logger: a.log, Warn: a.warn,
	}, nil
}

// warn shows a warning where it is seen without a debug log: on standard error
// while the program starts, later as a notice.
func (a *App) warn(text string) {
	if a.agent == nil {
		fmt.Fprintln(os.Stderr, text)
		return
	}
	a.agent.Notice("plugins", text)
}

// usePlugins puts plugins in force. Their tools follow when a profile is built.
func (a *App) usePlugins(set *plugin.Set) {
	a.mu.Lock()
	a.plugins = set
	a.mu.Unlock()
	a.pipeline.Bind(lifecycle.Plugin, set.Bindings())
}

// pluginCommands adds the commands of plugins to others. A name that is taken
// stays with who has it.
func (a *App) pluginCommands(list []commands.Command) []commands.Command {
	a.mu.Lock()
	set := a.plugins
	a.mu.Unlock()
	for _, c := range set.Commands() {
		if _, err := commands.Find(list, c.Name); err == nil {
			continue
		}
		list = append(list, pluginCommand(c))
	}
	return list
}

// hiddenCommands tells the user about commands of plugins whose names are taken.
func (a *App) hiddenCommands() {
	list := a.commands.Commands()
	for _, c := range a.plugins.Commands() {
		owner, err := commands.Find(list, c.Name)
		if err != nil || owner.Source == commandSource(c) {
			continue
		}
		by := owner.Source
		if by == "" {
			by = "the built-in one"
		}
		a.warn(fmt.Sprintf("command /%s of plugin %s is hidden by %s", c.Name, c.Source.Name, by))
	}
}

func commandSource(c tool.Command) string { return c.Source.Kind + " " + c.Source.Name }

// pluginCommand makes a slash command of what a plugin declares.
func pluginCommand(c tool.Command) commands.Command {
	out := commands.Command{
		Name:        c.Name,
		Description: c.Description,
		Source:      commandSource(c),
		Raw:         c.Source.Kind == "plugin",
	}
	for _, h := range c.Hints {
		if !strings.HasPrefix(h, "[") && !strings.HasPrefix(h, "<") {
			h = "[" + h + "]"
		}
		out.Hints = append(out.Hints, h)
	}
	run := func(ctx context.Context, s *commands.Session, args string) (agent.Input, error) {
		r, err := c.Run(ctx, args, s.Agent.Snapshot())
		if err != nil {
			return agent.Input{}, fmt.Errorf("/%s: %w", c.Name, err)
		}
		if r.Output != "" && !c.Silent {
			s.Print(r.Output)
		}
		return agent.Input{Text: r.Output}, nil
	}
	if c.Forward {
		out.Prompt = run
		return out
	}
	out.Run = func(ctx context.Context, s *commands.Session, args string) error {
		_, err := run(ctx, s, args)
		return err
	}
	return out
}
