package workspace

import (
	"context"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/profile"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
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

// who is the agent that a session would begin with.
func (w *Workspace) who() (config.Agent, error) {
	if w.opts.Choice.Agent != "" {
		return w.cfg.Agent(w.opts.Choice.Agent)
	}
	return w.cfg.DefaultAgent()
}

// Features are those of the agent that a session would begin with.
func (w *Workspace) Features() (config.Features, error) {
	who, err := w.who()
	if err != nil {
		return config.Features{}, err
	}
	return w.cfg.Resolve(who, nil, w.opts.Overrides)
}

// ModelOptions is what the configuration and the command line say about models.
func (w *Workspace) ModelOptions() models.Options {
	return models.Options{
		Config: w.cfg, Getenv: w.env.Get, Noop: w.opts.Noop, Lenient: w.opts.NoModel,
		Choice: models.Choice{Provider: w.opts.Choice.Provider, Model: w.opts.Choice.Model},
	}
}

// ProfileOptions is what the configuration, the command line and the task say about
// every profile.
func (w *Workspace) ProfileOptions(cfg *config.Config, m *models.Models) profile.Options {
	return profile.Options{
		Config: cfg, Workdir: w.workdir, Sandbox: sandbox.New(sandbox.Options{Workdir: w.workdir}),
		Reads: &guard.ReadSwitches{},
		Command: profile.Command{
			Overrides: w.opts.Overrides, ToolFilter: w.opts.Tools, ServerFilter: w.opts.MCP,
			TaskTools: w.opts.Task.Tools, System: w.opts.Choice.System, TokenBudget: w.opts.Limits.TokenBudget,
		},
		Model: func(who config.Model) (agent.Model, error) {
			model, err := m.For(who)
			return agent.Model(model), err
		},
		Tools: func(config.Features, func(string) (tool.Tool, bool)) []tool.Tool { return BuiltinTools() },
	}
}

// Target finds out whom a session would talk to. No model server is asked.
func (w *Workspace) Target() (models.Target, error) {
	who, err := w.who()
	if err != nil {
		return models.Target{}, err
	}
	return models.New(w.ModelOptions()).Target(who.Model)
}

// Models finds models as a session would.
func (w *Workspace) Models() *models.Models { return models.New(w.ModelOptions()) }

// Servers are the definitions of the MCP servers.
func (w *Workspace) Servers() ([]mcp.Server, error) {
	f, err := w.cfg.Resolve(config.Agent{}, nil, w.opts.Overrides)
	if err != nil {
		return nil, err
	}
	return w.serverSource(w.cfg, f).Load()
}

// SandboxRules are those of the agent that a session would begin with; nil while the
// sandbox is off.
func (w *Workspace) SandboxRules() (*sandbox.Rules, error) {
	f, err := w.Features()
	if err != nil {
		return nil, err
	}
	return sandbox.New(sandbox.Options{Workdir: w.workdir}).Rules(profile.SandboxSettings(f.Sandbox)), nil
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

// PolicyMistakes says which rules of the tool policy match no call, given the names of
// all tools.
func (w *Workspace) PolicyMistakes(names []string) ([]string, error) {
	return profile.PolicyMistakes(w.cfg, w.opts.Overrides, names)
}

// Rehearse makes the profiles and prompts of all agents, as a session would; see
// profile.Rehearse.
func (w *Workspace) Rehearse() (names []string, problems []error, err error) {
	who, err := w.who()
	if err != nil {
		return nil, nil, err
	}
	o := w.ModelOptions()
	o.Noop = true
	profiles := w.ProfileOptions(w.cfg, models.New(o))
	names, problems = profile.Rehearse(profiles, w.opts.Vars, who.Name, w.opts.Choice.Mode)
	return names, problems, nil
}
