package app

import (
	"slices"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/profile"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/internal/workspace"
)

// Place is a workspace with the models and profiles that a session there would have.
type Place struct{ *workspace.Workspace }

// Read reads the configuration of a session and starts nothing.
func Read(o Options) (Place, error) {
	w, err := workspace.Read(o)
	return Place{w}, err
}

// modelOptions is what the configuration and the command line say about models.
func (p Place) modelOptions() models.Options {
	return models.Options{
		Config: p.Config(), Getenv: p.Getenv, Noop: p.Options().Noop, Lenient: p.Options().NoModel,
		Choice: models.Choice{Provider: p.Options().Choice.Provider, Model: p.Options().Choice.Model},
	}
}

// profileOptions is what the configuration, the command line and the task say about
// every profile.
func (p Place) profileOptions(cfg *config.Config, m *models.Models) profile.Options {
	return profile.Options{
		Config: cfg, Workdir: p.Workdir(), Sandbox: sandbox.New(sandbox.Options{Workdir: p.Workdir()}),
		Reads: &guard.ReadSwitches{},
		Command: profile.Command{
			Overrides: p.Options().Overrides, ToolFilter: p.Options().Tools, ServerFilter: p.Options().MCP,
			TaskTools: p.Options().Task.Tools, System: p.Options().Choice.System, TokenBudget: p.Options().Limits.TokenBudget,
		},
		Model: func(who config.Model) (agent.Model, error) {
			model, err := m.For(who)
			return agent.Model(model), err
		},
		LoadTools: tools.LoadTools,
		Tools:     func(config.Features, func(string) (tool.Tool, bool)) []tool.Tool { return workspace.BuiltinTools() },
	}
}

// Target finds out whom a session would talk to. No model server is asked.
func (p Place) Target() (models.Target, error) {
	who, err := p.FirstAgent()
	if err != nil {
		return models.Target{}, err
	}
	return models.New(p.modelOptions()).Target(who.Model)
}

// Models finds models as a session would.
func (p Place) Models() *models.Models { return models.New(p.modelOptions()) }

// SandboxRules are those of the agent that a session would begin with; nil while the
// sandbox is off.
func (p Place) SandboxRules() (*sandbox.Rules, error) {
	f, err := p.Features()
	if err != nil {
		return nil, err
	}
	return sandbox.New(sandbox.Options{Workdir: p.Workdir()}).Rules(profile.SandboxSettings(f.Sandbox)), nil
}

// PolicyMistakes says which rules of the tool policy match no call of a built-in tool or
// of one that is brought by an extension.
func (p Place) PolicyMistakes(brought []string) ([]string, error) {
	names := slices.Clone(brought)
	for _, t := range workspace.BuiltinTools() {
		names = append(names, t.Name)
	}
	return profile.PolicyMistakes(p.Config(), p.Options().Overrides, names)
}

// Rehearse makes the profiles and prompts of all agents, as a session would; see
// profile.Rehearse.
func (p Place) Rehearse() (names []string, problems []error, err error) {
	who, err := p.FirstAgent()
	if err != nil {
		return nil, nil, err
	}
	o := p.modelOptions()
	o.Noop = true
	profiles := p.profileOptions(p.Config(), models.New(o))
	names, problems = profile.Rehearse(profiles, p.Options().Vars, who.Name, p.Options().Choice.Mode)
	return names, problems, nil
}
