package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/skills"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/sdk"
	"github.com/idelchi/aura/sdk/version"
)

// kinds is the table of the kinds of extensions, by rank: where two bring a tool or a
// command of the same name, the earlier one has it.
func (a *App) kinds(cfg *config.Config, guards []lifecycle.Binding) ([]extension.Kind, error) {
	f, err := cfg.Resolve(config.Agent{}, nil, a.opts.Overrides)
	if err != nil {
		return nil, err
	}
	plugins := a.pluginOptions(cfg, f)
	plugins.Logger, plugins.Warn = a.log, a.warn
	python := a.pythonSession(cfg, f)
	python.Logger, python.Notice = a.log, a.extensionNotice
	python.Messages = func() []message.Message { return a.agent.Messages() }
	shell := a.hookOptions(cfg, f)
	shell.Logger = a.log
	servers := a.serverSource(cfg, f)
	servers.Logger, servers.Ask = a.log, a.face.Ask
	servers.Notice = func(text string) { a.agent.Notice("mcp", text) }
	return []extension.Kind{
		extension.Guards(guards),
		hooks.Kind(shell),
		plugin.Kind(plugins, a.opts.Plugins.Without),
		pyext.Kind(python),
		skills.Kind(SkillPlaces(cfg.Homes, a.workdir)),
		mcp.Kind(servers),
	}, nil
}

// Kinds are the kinds of extensions of a session that has not begun, for checks.
func (p *Place) Kinds() ([]extension.Kind, error) {
	f, err := p.cfg.Resolve(config.Agent{}, nil, p.opts.Overrides)
	if err != nil {
		return nil, err
	}
	servers := p.serverSource(p.cfg, f)
	if own, err := p.Features(); err == nil {
		servers.Filters = []tool.Filter{{Enabled: own.MCP.Enabled, Disabled: own.MCP.Disabled}, p.opts.MCP}
	}
	return []extension.Kind{
		hooks.Kind(p.hookOptions(p.cfg, f)),
		plugin.Kind(p.pluginOptions(p.cfg, f), p.opts.Plugins.Without),
		pyext.Kind(p.pythonSession(p.cfg, f)),
		skills.Kind(SkillPlaces(p.cfg.Homes, p.workdir)),
		mcp.Kind(servers),
	}, nil
}

// plainTools are the built-in tools for merging names; they are not called.
func plainTools() []tool.Tool { return tools.New(tools.Options{}) }

// hookOptions is what the configuration says about shell hooks.
func (p *Place) hookOptions(cfg *config.Config, f config.Features) hooks.Options {
	return hooks.Options{
		Hooks: cfg.Hooks, Import: f.Hooks.Import, Workdir: p.workdir, Env: p.env.List,
		Filters: func(agent, mode string) []tool.Filter {
			var list []tool.Filter
			if x, err := cfg.Agent(agent); err == nil {
				list = append(list, tool.Filter(x.Hooks))
			}
			if x, err := cfg.Mode(mode); err == nil {
				list = append(list, tool.Filter(x.Hooks))
			}
			return list
		},
	}
}

// pluginOptions is what the configuration and the command line say about plugins.
func (p *Place) pluginOptions(cfg *config.Config, f config.Features) plugin.Options {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // A plugin that wants it has to cope.
	}
	o := f.Plugins
	return plugin.Options{
		Dirs: cfg.PluginDirs(), Include: o.Include, Exclude: o.Exclude, Unsafe: o.Unsafe || p.opts.Plugins.Unsafe,
		Global: o.Config.Global, Local: o.Config.Local, Environ: p.env.List,
		TaskEnv: func() map[string]string { return p.opts.Task.Env },
		Tool:    sdk.ToolConfig{HomeDir: home, ConfigDir: cfg.Homes.Last()}, Builtin: plainTools(),
		Native: plugin.Native{Workdir: p.workdir, Confining: p.opts.Plugins.Confining},
	}
}

// pythonSession is what the configuration and the command line say about Python extensions.
func (p *Place) pythonSession(cfg *config.Config, f config.Features) pyext.Session {
	s := pyext.Session{Debug: p.opts.Debug, Find: func() (pyext.Source, error) { return p.python(cfg, f), nil }}
	switch {
	case p.opts.Confined:
		s.Off = "not in a sandboxed process"
	case p.opts.NoExtensions:
		s.Off = "switched off by --without-extensions"
	}
	return s
}

// python looks for Python extensions and what runs them. It starts no process.
func (p *Place) python(cfg *config.Config, f config.Features) pyext.Source {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // Nobody's extensions.
	}
	dirs, _ := config.Within(p.workdir)
	return pyext.Source{
		Cache: cacheDir(cfg.Homes), Workdir: p.workdir, Env: p.env.List(),
		Dirs:    pyext.FindDirs(dirs, home, cfg.Homes.Global, cfg.Homes.Projects),
		Timeout: f.Extensions.Timeout, ToolTimeout: f.Extensions.ToolTimeout,
	}.Find(f.Python, p.env.Get)
}

// Python looks for the Python extensions that a session would have, and what runs them.
func (p *Place) Python() (pyext.Source, error) {
	f, err := p.cfg.Resolve(config.Agent{}, nil, p.opts.Overrides)
	if err != nil {
		return pyext.Source{}, err
	}
	return p.python(p.cfg, f), nil
}

// FindPython is Read and Python in one.
func FindPython(o Options) (pyext.Source, error) {
	p, err := Read(o)
	if err != nil {
		return pyext.Source{}, err
	}
	return p.Python()
}

// serverSource is what the configuration says about MCP servers. The project's .mcp.json
// starts programs that nobody may have looked at, so it is read only where the features
// say so.
func (p *Place) serverSource(cfg *config.Config, f config.Features) mcp.Source {
	return mcp.Source{
		Options: mcp.Options{Dir: p.workdir, Env: p.env.List, Client: version.Version},
		Load: func() ([]mcp.Server, error) {
			if p.opts.Confined {
				return nil, nil
			}
			project := ""
			if f.MCP.Project {
				dirs, _ := config.Within(p.workdir)
				project = mcp.FindProject(dirs)
			}
			var files []mcp.File
			for _, f := range cfg.Files["mcp"] {
				files = append(files, mcp.File(f))
			}
			return mcp.Load(files, cfg.Homes.Global, project)
		},
	}
}

// SkillPlaces lists where skills may be.
func SkillPlaces(homes config.Homes, workdir string) []skills.Place {
	dirs, _ := config.Within(workdir)
	return skills.Places(homes.Global, homes.Projects, dirs)
}

// cacheDir is where things are kept that can be made again.
func cacheDir(homes config.Homes) string {
	if home := cmp.Or(homes.Global, homes.Last()); home != "" {
		return filepath.Join(home, "cache")
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "aura")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("aura-%d", os.Getuid()))
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

// extensionNotice shows what a Python extension says to the user; an empty name is all
// of them.
func (a *App) extensionNotice(name, text string) {
	source := "extensions"
	if name != "" {
		source = lifecycle.Source{Kind: lifecycle.Extension, Name: name}.String()
	}
	a.notices.say(source, text)
}
