// Package plugin runs plugins: Go modules in a plugin directory whose functions
// are hooks, tools and commands. It finds, loads and binds them; what their results
// mean is settled by the pipeline, and installing them is not its business.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// Deadlines of calls into plugins.
const (
	HookTimeout = 30 * time.Second  // Hooks, commands and everything that runs while loading.
	ToolTimeout = 120 * time.Second // Execute.
)

// Options says what to load and how. Only Dirs is required.
type Options struct {
	// Plugin directories, that of the global home first. A plugin in a later one replaces one of the same name in an
	// earlier one.
	Dirs    []string
	Include []string // Name patterns; empty means all.
	Exclude []string // Name patterns; wins over Include.
	Unsafe  bool     // Allow os/exec, syscall and what ends the program.

	Global map[string]any            // Config values for every plugin.
	Local  map[string]map[string]any // Config values by plugin name.

	Environ func() []string          // The environment that plugins may be shown parts of; nil means none.
	TaskEnv func() map[string]string // Values of the running task, asked for before each call; nil means none.
	Tool    sdk.ToolConfig           // What Init gets.
	Builtin []tool.Tool              // The tools that are there without plugins, for checks.

	Native Native // For plugins with a process of their own.

	Logger *slog.Logger
	Warn   func(text string) // Shows a warning, or what takes so long, to the user; nil drops it.

	// Lenient makes a plugin that cannot be loaded a note in its Info instead of an
	// error, for listings.
	Lenient bool
}

// Native says how plugins with a process of their own are run.
type Native struct {
	Workdir string // Where they run; empty: where this process does.
	Cache   string // Where their executables are kept; empty: in the user's cache directory.

	// Confining says that this process may confine itself between loading and the first
	// call of a tool. They then get a new process for it, which is confined too.
	Confining bool
}

// Status is what became of a plugin that was found.
type Status string

// The fates of a plugin.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled" // `disabled: true` in its plugin.yaml.
	Excluded Status = "excluded" // By plugins.include or plugins.exclude.
	Shadowed Status = "shadowed" // A later directory has a plugin of the same name.
	Failed   Status = "failed"
)

// Info describes a plugin for listings.
type Info struct {
	Name        string
	Dir         string
	Root        string // The plugin directory it was found in.
	Status      Status
	Description string
	Condition   string
	Once        bool
	Engine      string // That of plugin.yaml; once loaded, the one that runs it.
	SDK         string // Version of the vendored SDK; empty without one.
	Hooks       []string
	Tool        string // Name of its tool; empty without one, or when Available said no.
	Override    bool   // Its tool may replace another one.
	Command     string // Name of its command, without the slash.
	Err         error  // Why it failed.
}

// Set is a number of loaded plugins. The nil Set is an empty one.
type Set struct {
	infos   []Info
	plugins []*plugin // Those that run, in order.
}

// Present reports whether any of the directories contains a plugin; it is what
// decides whether Load is worth calling.
func Present(dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		found := false
		_ = walk(dir, func(string) bool { found = true; return false })
		return found
	})
}

// Load finds and loads the plugins, several at a time. All that cannot be loaded
// are reported together, each error beginning with `plugin "<name>":`; what was
// loaded is then released again.
func Load(ctx context.Context, o Options) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	found, err := discover(o)
	if err != nil {
		return nil, err
	}
	s := &Set{infos: make([]Info, len(found))}
	loaded := make([]*plugin, len(found))
	slots := make(chan struct{}, max(runtime.GOMAXPROCS(0), 1))
	var wg sync.WaitGroup
	for i := range found {
		s.infos[i] = found[i].info()
		if found[i].status != Enabled || found[i].err != nil {
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			loaded[i], found[i].err = start(ctx, &found[i], o)
		})
	}
	wg.Wait()
	return s.settle(found, loaded, o)
}

// settle sorts what was loaded from what was not.
func (s *Set) settle(found []candidate, loaded []*plugin, o Options) (*Set, error) {
	var errs []error
	for i, p := range loaded {
		if err := found[i].err; err != nil {
			s.infos[i].Status, s.infos[i].Err = Failed, err
			errs = append(
				errs,
				fmt.Errorf("plugin %q: %w (fix it, run \"aura plugins update %s\", or start with --without-plugins)",
					found[i].name, err, found[i].name),
			)
			continue
		}
		if p == nil {
			continue
		}
		s.plugins = append(s.plugins, p)
		p.describe(&s.infos[i])
		for _, w := range p.warnings {
			o.Warn(w)
		}
	}
	if len(errs) > 0 && !o.Lenient {
		s.Close()
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// Plugins describes every plugin that was found, loaded or not, in order.
func (s *Set) Plugins() []Info {
	if s == nil {
		return nil
	}
	return slices.Clone(s.infos)
}

// Bindings are the hooks of all plugins, in the order in which plugins run.
func (s *Set) Bindings() []lifecycle.Binding {
	if s == nil {
		return nil
	}
	var list []lifecycle.Binding
	for _, p := range s.plugins {
		list = append(list, p.bindings...)
	}
	return list
}

// Tools are the tools of all plugins.
func (s *Set) Tools() []tool.Tool {
	if s == nil {
		return nil
	}
	var list []tool.Tool
	for _, p := range s.plugins {
		if p.tool != nil {
			list = append(list, *p.tool)
		}
	}
	return list
}

// Commands are the slash commands of all plugins, in order.
func (s *Set) Commands() []tool.Command {
	if s == nil {
		return nil
	}
	var list []tool.Command
	for _, p := range s.plugins {
		if p.command != nil {
			list = append(list, *p.command)
		}
	}
	return list
}

// Close releases the plugins. Whatever they still do ends as soon as it can.
func (s *Set) Close() {
	if s == nil {
		return
	}
	for _, p := range s.plugins {
		p.guard.Release()
	}
}
