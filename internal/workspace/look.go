package workspace

import (
	"context"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/plugin"
)

// Options are what the command line decided.
func (w *Workspace) Options() Options { return w.opts }

// Config returns the configuration.
func (w *Workspace) Config() *config.Config { return w.cfg }

// Getenv looks a variable up in the environment of the session.
func (w *Workspace) Getenv(name string) string { return w.env.Get(name) }

// Env is the environment of programs that the session starts.
func (w *Workspace) Env() []string { return w.env.List() }

// Workdir is the working directory, absolute.
func (w *Workspace) Workdir() string { return w.workdir }

// FirstAgent is the agent that a session would begin with.
func (w *Workspace) FirstAgent() (config.Agent, error) {
	if w.opts.Choice.Agent != "" {
		return w.cfg.Agent(w.opts.Choice.Agent)
	}
	return w.cfg.DefaultAgent()
}

// Features are those of the agent that a session would begin with.
func (w *Workspace) Features() (config.Features, error) {
	who, err := w.FirstAgent()
	if err != nil {
		return config.Features{}, err
	}
	return w.cfg.Resolve(who, nil, w.opts.Overrides)
}

// Hooks makes the shell hooks of a session, for commands that look at them or try them
// out. onRun sees every run; it may be nil. The report names what of imported hooks has
// no equivalent.
func (w *Workspace) Hooks(onRun func(hooks.Run)) (set *hooks.Set, report []string, err error) {
	f, err := w.cfg.Resolve(config.Agent{}, nil, w.opts.Overrides)
	if err != nil {
		return nil, nil, err
	}
	o := w.hookOptions(w.cfg, f)
	o.OnRun = onRun
	return hooks.Load(o)
}

// ListPlugins describes every plugin of the configuration, also those that cannot
// be loaded, with warnings about the others. The plugins are loaded for it and
// released again.
func (w *Workspace) ListPlugins(ctx context.Context) (list []plugin.Info, warnings []string, err error) {
	f, err := w.cfg.Resolve(config.Agent{}, nil, w.opts.Overrides)
	if err != nil {
		return nil, nil, err
	}
	return plugin.List(ctx, w.pluginOptions(w.cfg, f))
}

// Servers are the definitions of the MCP servers.
func (w *Workspace) Servers() ([]mcp.Server, error) {
	f, err := w.cfg.Resolve(config.Agent{}, nil, w.opts.Overrides)
	if err != nil {
		return nil, err
	}
	return w.serverSource(w.cfg, f).Load()
}
