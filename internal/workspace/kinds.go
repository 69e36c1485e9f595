package workspace

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
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
)

// Session is what extensions need of the session that they take part in. The zero value
// is for looking at them.
type Session struct {
	Guards   []lifecycle.Binding // The built-in gates.
	Logger   *slog.Logger
	Messages func() []message.Message // The conversation.
	Ask      func(context.Context, tool.Question) ([]string, error)

	Warn      func(text string)       // Says something about plugins.
	Notice    func(name, text string) // Says something for a Python extension; no name is all of them.
	MCPNotice func(text string)
}

// complete makes the functions that are missing do nothing.
func (s *Session) complete() {
	if s.Messages == nil {
		s.Messages = func() []message.Message { return nil }
	}
	if s.Warn == nil {
		s.Warn = func(string) {}
	}
	if s.Notice == nil {
		s.Notice = func(string, string) {}
	}
	if s.MCPNotice == nil {
		s.MCPNotice = func(string) {}
	}
}

// KindsFor is the table of the kinds of extensions under a configuration, by rank: where two
// bring a tool or a command of the same name, the earlier one has it.
func (w *Workspace) KindsFor(cfg *config.Config, s Session) ([]extension.Kind, error) {
	f, err := cfg.Resolve(config.Agent{}, nil, w.opts.Overrides)
	if err != nil {
		return nil, err
	}
	s.complete()
	plugins := w.pluginOptions(cfg, f)
	plugins.Logger, plugins.Warn = s.Logger, s.Warn
	python := w.pythonSession(cfg, f)
	python.Logger, python.Notice, python.Messages = s.Logger, s.Notice, s.Messages
	shell := w.hookOptions(cfg, f)
	shell.Logger = s.Logger
	servers := w.serverSource(cfg, f)
	servers.Logger, servers.Ask, servers.Notice = s.Logger, s.Ask, s.MCPNotice
	if own, err := w.Features(); err == nil {
		servers.Filters = []tool.Filter{{Enabled: own.MCP.Enabled, Disabled: own.MCP.Disabled}, w.opts.MCP}
	}
	return []extension.Kind{
		extension.Guards(s.Guards),
		hooks.Kind(shell),
		plugin.Kind(plugins, w.opts.Plugins.Without),
		pyext.Kind(python),
		skills.Kind(skillPlaces(cfg.Homes, w.workdir)),
		mcp.Kind(servers),
	}, nil
}

// Kinds are the kinds of extensions of a session that has not begun, for checks.
func (w *Workspace) Kinds() ([]extension.Kind, error) { return w.KindsFor(w.cfg, Session{}) }

// BuiltinTools are the built-in tools for merging names; they are not called.
func BuiltinTools() []tool.Tool { return tools.New(tools.Options{}) }

// hookOptions is what the configuration says about shell hooks.
func (w *Workspace) hookOptions(cfg *config.Config, f config.Features) hooks.Options {
	return hooks.Options{
		Hooks: cfg.Hooks, Import: f.Hooks.Import, Workdir: w.workdir, Env: w.env.List,
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
func (w *Workspace) pluginOptions(cfg *config.Config, f config.Features) plugin.Options {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // A plugin that wants it has to cope.
	}
	o := f.Plugins
	out := plugin.Options{
		Dirs: cfg.PluginDirs(), Include: o.Include, Exclude: o.Exclude, Unsafe: o.Unsafe || w.opts.Plugins.Unsafe,
		Global: o.Config.Global, Local: o.Config.Local, Environ: w.env.List,
		TaskEnv: func() map[string]string { return w.opts.Task.Env },
		Builtin: BuiltinTools(),
		Native:  plugin.Native{Workdir: w.workdir, Confining: w.opts.Plugins.Confining},
	}
	out.Tool.HomeDir, out.Tool.ConfigDir = home, cfg.Homes.Last()
	return out
}

// pythonSession is what the configuration and the command line say about Python extensions.
func (w *Workspace) pythonSession(cfg *config.Config, f config.Features) pyext.Session {
	s := pyext.Session{Debug: w.opts.Debug, Find: func() (pyext.Source, error) { return w.python(cfg, f), nil }}
	switch {
	case w.opts.Confined:
		s.Off = "not in a sandboxed process"
	case w.opts.NoExtensions:
		s.Off = "switched off by --without-extensions"
	}
	return s
}

// python looks for Python extensions and what runs them. It starts no process.
func (w *Workspace) python(cfg *config.Config, f config.Features) pyext.Source {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // Nobody's extensions.
	}
	dirs, _ := config.Within(w.workdir)
	return pyext.Source{
		Cache: cacheDir(cfg.Homes), Workdir: w.workdir, Env: w.env.List(),
		Dirs:    pyext.FindDirs(dirs, home, cfg.Homes.Global, cfg.Homes.Projects),
		Timeout: f.Extensions.Timeout, ToolTimeout: f.Extensions.ToolTimeout,
	}.Find(f.Python, w.env.Get)
}

// Python looks for the Python extensions that a session would have, and what runs them.
func (w *Workspace) Python() (pyext.Source, error) {
	f, err := w.cfg.Resolve(config.Agent{}, nil, w.opts.Overrides)
	if err != nil {
		return pyext.Source{}, err
	}
	return w.python(w.cfg, f), nil
}

// serverSource is what the configuration says about MCP servers. The project's .mcp.json
// starts programs that nobody may have looked at, so it is read only where the features
// say so.
func (w *Workspace) serverSource(cfg *config.Config, f config.Features) mcp.Source {
	return mcp.Source{
		Options: mcp.Options{Dir: w.workdir, Env: w.env.List, Client: w.opts.Version},
		Load: func() ([]mcp.Server, error) {
			if w.opts.Confined {
				return nil, nil
			}
			project := ""
			if f.MCP.Project {
				dirs, _ := config.Within(w.workdir)
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

// skillPlaces lists where skills may be.
func skillPlaces(homes config.Homes, workdir string) []skills.Place {
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
