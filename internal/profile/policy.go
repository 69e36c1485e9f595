package profile

import (
	"slices"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
)

// PolicyMistakes says which rules of the tool policy match no call, given the names of
// all tools: those of the features, of every agent and mode, and saved approvals.
func PolicyMistakes(cfg *config.Config, overrides, names []string) ([]string, error) {
	names = append(Later(), names...)
	var list []string
	add := func(where string, r guard.Rules) {
		for _, text := range r.Mistakes(names) {
			// What holds for all agents is said once.
			if !slices.Contains(list, text) {
				list = append(list, where+text)
			}
		}
	}
	f, err := cfg.Resolve(config.Agent{}, nil, overrides)
	if err != nil {
		return nil, err
	}
	add("", guard.Rules(f.Tools.Policy))
	add("saved approvals: ", guard.Rules{Auto: cfg.Approvals})
	for _, x := range cfg.Agents {
		if len(x.Features) > 0 {
			if f, err = cfg.Resolve(x, nil, overrides); err != nil {
				return nil, err
			}
			add("agent "+x.Name+": ", guard.Rules(f.Tools.Policy))
		}
		add("agent "+x.Name+": ", guard.Rules(x.Tools.Policy))
	}
	for _, m := range cfg.Modes {
		if len(m.Features) > 0 {
			if f, err = cfg.Resolve(config.Agent{}, &m, overrides); err != nil {
				return nil, err
			}
			add("mode "+m.Name+": ", guard.Rules(f.Tools.Policy))
		}
		add("mode "+m.Name+": ", guard.Rules(m.Tools.Policy))
	}
	return list, nil
}
