package profile

import "github.com/idelchi/aura/internal/agent"

// Rehearse makes the profile and the system prompt of every agent in its own mode, and
// of the first agent in the given and in every mode. It returns the names of the agents
// and what is wrong with any of the profiles.
func Rehearse(o Options, vars map[string]string, first, mode string) (names []string, problems []error) {
	profiles := New(o)
	try := func(name, mode string) {
		place := agent.Place{Workdir: o.Workdir, LaunchDir: o.Workdir, Vars: vars}
		if err := agent.Rehearse(profiles.Resolve, name, mode, place); err != nil {
			problems = append(problems, err)
		}
	}
	for _, x := range o.Config.Agents {
		names = append(names, x.Name)
		try(x.Name, "")
	}
	if mode != "" {
		try(first, mode)
	}
	for _, m := range o.Config.Modes {
		try(first, m.Name)
	}
	return names, problems
}
