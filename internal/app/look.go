package app

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

// Config returns the configuration.
func (p *Place) Config() *config.Config { return p.cfg }

// Getenv looks a variable up in the environment of the session.
func (p *Place) Getenv(name string) string { return p.env.Get(name) }

// Env is the environment of programs that the session starts.
func (p *Place) Env() []string { return p.env.List() }

// Workdir is the working directory, absolute.
func (p *Place) Workdir() string { return p.workdir }

// who is the agent that a session would begin with.
func (p *Place) who() (config.Agent, error) {
	if p.opts.Choice.Agent != "" {
		return p.cfg.Agent(p.opts.Choice.Agent)
	}
	return p.cfg.DefaultAgent()
}

// Features are those of the agent that a session would begin with.
func (p *Place) Features() (config.Features, error) {
	who, err := p.who()
	if err != nil {
		return config.Features{}, err
	}
	return p.cfg.Resolve(who, nil, p.opts.Overrides)
}

// modelOptions is what the configuration and the command line say about models.
func (p *Place) modelOptions() models.Options {
	return models.Options{
		Config: p.cfg, Getenv: p.env.Get, Noop: p.opts.Noop, Lenient: p.opts.NoModel,
		Choice: models.Choice{Provider: p.opts.Choice.Provider, Model: p.opts.Choice.Model},
	}
}

// profileOptions is what the configuration, the command line and the task say about
// every profile.
func (p *Place) profileOptions(cfg *config.Config, m *models.Models) profile.Options {
	return profile.Options{
		Config: cfg, Workdir: p.workdir, Sandbox: sandbox.New(sandbox.Options{Workdir: p.workdir}),
		Reads: &guard.ReadSwitches{},
		Command: profile.Command{
			Overrides: p.opts.Overrides, ToolFilter: p.opts.Tools, ServerFilter: p.opts.MCP,
			TaskTools: p.opts.Task.Tools, System: p.opts.Choice.System, TokenBudget: p.opts.Limits.TokenBudget,
		},
		Model: func(who config.Model) (agent.Model, error) {
			model, err := m.For(who)
			return agent.Model(model), err
		},
		Tools: func(config.Features, func(string) (tool.Tool, bool)) []tool.Tool { return plainTools() },
	}
}

// Target finds out whom a session would talk to. No model server is asked.
func (p *Place) Target() (models.Target, error) {
	who, err := p.who()
	if err != nil {
		return models.Target{}, err
	}
	return models.New(p.modelOptions()).Target(who.Model)
}

// Models finds models as a session would.
func (p *Place) Models() *models.Models { return models.New(p.modelOptions()) }

// Servers are the definitions of the MCP servers.
func (p *Place) Servers() ([]mcp.Server, error) {
	f, err := p.cfg.Resolve(config.Agent{}, nil, p.opts.Overrides)
	if err != nil {
		return nil, err
	}
	return p.serverSource(p.cfg, f).Load()
}

// SandboxRules are those of the agent that a session would begin with; nil while the
// sandbox is off.
func (p *Place) SandboxRules() (*sandbox.Rules, error) {
	f, err := p.Features()
	if err != nil {
		return nil, err
	}
	return sandbox.New(sandbox.Options{Workdir: p.workdir}).Rules(profile.SandboxSettings(f.Sandbox)), nil
}

// Hooks makes the shell hooks of a session, for commands that look at them or try them
// out. onRun sees every run; it may be nil. The report names what of imported hooks has
// no equivalent.
func (p *Place) Hooks(onRun func(hooks.Run)) (set *hooks.Set, report []string, err error) {
	f, err := p.cfg.Resolve(config.Agent{}, nil, p.opts.Overrides)
	if err != nil {
		return nil, nil, err
	}
	o := p.hookOptions(p.cfg, f)
	o.OnRun = onRun
	return hooks.Load(o)
}

// ListPlugins describes every plugin of the configuration, also those that cannot
// be loaded, with warnings about the others. The plugins are loaded for it and
// released again.
func (p *Place) ListPlugins(ctx context.Context) (list []plugin.Info, warnings []string, err error) {
	f, err := p.cfg.Resolve(config.Agent{}, nil, p.opts.Overrides)
	if err != nil {
		return nil, nil, err
	}
	return plugin.List(ctx, p.pluginOptions(p.cfg, f))
}

// PolicyMistakes says which rules of the tool policy match no call, given the names of
// all tools.
func (p *Place) PolicyMistakes(names []string) ([]string, error) {
	return profile.PolicyMistakes(p.cfg, p.opts.Overrides, names)
}

// Rehearse makes the profiles and prompts of all agents, as a session would; see
// profile.Rehearse.
func (p *Place) Rehearse() (names []string, problems []error, err error) {
	who, err := p.who()
	if err != nil {
		return nil, nil, err
	}
	o := p.modelOptions()
	o.Noop = true
	profiles := p.profileOptions(p.cfg, models.New(o))
	names, problems = profile.Rehearse(profiles, p.opts.Vars, who.Name, p.opts.Choice.Mode)
	return names, problems, nil
}
