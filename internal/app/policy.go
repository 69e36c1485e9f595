package app

import (
	"slices"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
)

// builtinLater are the tools of ours that are there only when they are needed.
func builtinLater() []string { return []string{"LoadTools", "Skill"} }

// PolicyMistakes says which rules of the tool policy match no call, given the names of
// all tools: those of the features, of every agent and mode, and saved approvals.
func (a *App) PolicyMistakes(names []string) ([]string, error) {
	names = append(builtinLater(), names...)
	var list []string
	add := func(where string, r guard.Rules) {
		for _, text := range r.Mistakes(names) {
			// What holds for all agents is said once.
			if !slices.Contains(list, text) {
				list = append(list, where+text)
			}
		}
	}
	f, err := a.cfg.Resolve(config.Agent{}, nil, a.opts.Overrides)
	if err != nil {
		return nil, err
	}
	add("", guard.Rules(f.Tools.Policy))
	add("saved approvals: ", guard.Rules{Auto: a.cfg.Approvals})
	for _, x := range a.cfg.Agents {
		if len(x.Features) > 0 {
			if f, err = a.cfg.Resolve(x, nil, a.opts.Overrides); err != nil {
				return nil, err
			}
			add("agent "+x.Name+": ", guard.Rules(f.Tools.Policy))
		}
		add("agent "+x.Name+": ", guard.Rules(x.Tools.Policy))
	}
	for _, m := range a.cfg.Modes {
		if len(m.Features) > 0 {
			if f, err = a.cfg.Resolve(config.Agent{}, &m, a.opts.Overrides); err != nil {
				return nil, err
			}
			add("mode "+m.Name+": ", guard.Rules(f.Tools.Policy))
		}
		add("mode "+m.Name+": ", guard.Rules(m.Tools.Policy))
	}
	return list, nil
}
