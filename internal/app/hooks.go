package app

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Hooks makes the shell hooks of the session anew, for commands that look at them
// or try them out. onRun sees every run; it may be nil. The report names what of
// imported hooks has no equivalent.
func (a *App) Hooks(onRun func(hooks.Run)) (set *hooks.Set, report []string, err error) {
	return a.loadHooks(a.cfg, onRun)
}

// loadHooks makes the shell hooks of a configuration.
func (a *App) loadHooks(cfg *config.Config, onRun func(hooks.Run)) (*hooks.Set, []string, error) {
	imported, report, err := a.importHooks(cfg)
	if err != nil {
		return nil, nil, err
	}
	all := maps.Clone(cfg.Hooks)
	if all == nil {
		all = config.Hooks{}
	}
	maps.Copy(all, imported)
	set, err := hooks.NewSet(hooks.Options{
		Hooks: all, Workdir: a.workdir, Env: a.env.list, OnRun: onRun,
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
	})
	return set, report, err
}

// importHooks reads the hooks of other programs that the features name.
func (a *App) importHooks(cfg *config.Config) (config.Hooks, []string, error) {
	f, err := cfg.Resolve(config.Agent{}, nil, a.opts.Overrides)
	if err != nil || len(f.Hooks.Import) == 0 {
		return nil, nil, err
	}
	all, report := config.Hooks{}, []string(nil)
	for _, name := range f.Hooks.Import {
		if name != "claude" {
			return nil, nil, fmt.Errorf("hooks.import: nothing is known about the hooks of %q (only claude)", name)
		}
		project := filepath.Join(a.workdir, ".claude", "settings.json")
		files := [][2]string{{project, "project"}}
		if home, err := os.UserHomeDir(); err == nil && filepath.Join(home, ".claude", "settings.json") != project {
			files = append(files, [2]string{filepath.Join(home, ".claude", "settings.json"), "user"})
		}
		for _, file := range files {
			list, notes, err := hooks.ImportClaude(file[0], file[1])
			if err != nil {
				return nil, nil, fmt.Errorf("hooks.import: %w", err)
			}
			maps.Copy(all, list)
			report = append(report, notes...)
		}
	}
	return all, report, nil
}

// useHooks puts hooks in force.
func (a *App) useHooks(set *hooks.Set, report []string) {
	for _, line := range report {
		a.log.Warn("hooks", "import", line)
	}
	a.mu.Lock()
	a.hooks = set
	a.mu.Unlock()
	a.pipeline.Bind(lifecycle.Hook, set.Bindings())
}

// hookData tells prompts and people about the hooks of an agent in a mode.
func (a *App) hookData(name, mode string) agent.HookData {
	a.mu.Lock()
	set := a.hooks
	a.mu.Unlock()
	active := set.Active(name, mode)
	d := agent.HookData{Display: hooks.Display(active), Listing: set.Listing(name, mode)}
	for _, h := range active {
		d.Active = append(d.Active, agent.HookInfo(h))
	}
	return d
}
