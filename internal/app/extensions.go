package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/tool"
)

// extensions are the Python extensions of a session. The zero value is none.
type extensions struct {
	mu      sync.Mutex
	host    *pyext.Host // nil: there is no extension, or no Python.
	found   []pyext.Extension
	err     error // Why none is run.
	joined  bool  // What they registered is in force.
	tools   []tool.Tool
	sink    func(source, text string) // nil: nobody can be told yet.
	waiting [][2]string               // What was said before.
}

// Python is where the extensions of a session are, and what runs them.
type Python struct {
	Interpreter pyext.Interpreter
	Err         error // Why there is no interpreter.
	Cache       string
	Workdir     string
	Env         []string
	Dirs        pyext.Dirs
	Found       []pyext.Extension // Shadowed ones included.

	limits config.Extensions
}

// FindPython looks for the Python extensions that a session would have. It starts no
// process.
func FindPython(o Options) (Python, error) {
	workdir, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return Python{}, fmt.Errorf("workdir: %w", err)
	}
	env, err := loadEnviron(o.EnvFile, workdir)
	if err != nil {
		return Python{}, err
	}
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return Python{}, err
	}
	cfg, err := config.Load(homes)
	if err != nil {
		return Python{}, err
	}
	return findPython(cfg, workdir, env, o.Overrides)
}

func findPython(cfg *config.Config, workdir string, env environ, overrides []string) (Python, error) {
	f, err := cfg.Resolve(config.Agent{}, nil, overrides)
	if err != nil {
		return Python{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // Nobody's extensions.
	}
	tree, _ := config.Within(workdir)
	p := Python{
		Cache: cacheDir(cfg.Homes), Workdir: workdir, Env: env.list(), limits: f.Extensions,
		Dirs: pyext.FindDirs(tree, home, cfg.Homes.Global, cfg.Homes.Projects),
	}
	p.Interpreter, p.Err = pyext.FindInterpreter(workdir, f.Python, env.get)
	var installed []pyext.Extension
	if p.Err == nil {
		installed = p.Interpreter.Installed(p.Cache)
	}
	p.Found = pyext.Discover(p.Dirs, installed)
	return p, nil
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

// options are the options of a host for the extensions.
func (p *Python) options() pyext.Options {
	return pyext.Options{
		Interpreter: p.Interpreter, Cache: p.Cache, Workdir: p.Workdir, Env: p.Env,
		Timeout: p.limits.Timeout, ToolTimeout: p.limits.ToolTimeout,
	}
}

// Inspect loads one extension by itself and tells what it registers.
func (p *Python) Inspect(ctx context.Context, e pyext.Extension) (pyext.Loaded, error) {
	if p.Err != nil {
		return pyext.Loaded{}, p.Err
	}
	e.ShadowedBy = ""
	host := pyext.New(p.options(), []pyext.Extension{e})
	defer host.Close()
	host.Start()
	err := host.Wait(ctx)
	l := host.Extensions()[0]
	if l.Error != "" {
		err = errors.New(l.Error)
	}
	return l, err
}

// startExtensions starts the Python process in the background if there is an
// extension; nil if there is none. resumed: the session has started already.
func (a *App) startExtensions(cfg *config.Config, resumed bool) (*pyext.Host, error) {
	if a.opts.NoExtensions {
		a.extensions.see(nil, errors.New("switched off by --without-extensions"))
	}
	if a.opts.Confined || a.opts.NoExtensions {
		return nil, nil
	}
	p, err := findPython(cfg, a.workdir, a.env, a.opts.Overrides)
	if err == nil {
		a.extensions.see(p.Found, p.Err)
	}
	if err != nil || len(p.Found) == 0 {
		return nil, err
	}
	if p.Err != nil {
		a.extensions.say("", fmt.Sprintf("%d Python extensions do not run: %v", len(pyext.Active(p.Found)), p.Err))
		return nil, nil
	}
	o := p.options()
	o.Resumed, o.Debug, o.Logger, o.Notice = resumed, a.opts.Debug, a.log, a.extensions.say
	o.Messages = func() []message.Message { return a.agent.Messages() }
	host := pyext.New(o, p.Found)
	host.Start()
	return host, nil
}

// joinExtensions waits until the extensions are loaded and puts them in force. It
// does so once; later calls cost nothing.
func (a *App) joinExtensions(ctx context.Context) {
	e := &a.extensions
	e.mu.Lock()
	host, joined := e.host, e.joined
	e.joined = true
	e.mu.Unlock()
	if host == nil || joined {
		return
	}
	if err := host.Wait(ctx); err != nil {
		a.log.Warn("extensions", "error", err)
	}
	a.useExtensions(host)
}

// useExtensions puts what extensions registered in force.
func (a *App) useExtensions(host *pyext.Host) {
	var list []tool.Tool
	if host != nil {
		list = host.Tools()
		a.pipeline.Bind(lifecycle.Extension, host.Bindings())
	} else {
		a.pipeline.Bind(lifecycle.Extension, nil)
	}
	e := &a.extensions
	e.mu.Lock()
	changed := len(list)+len(e.tools) > 0
	e.host, e.joined, e.tools = host, true, list
	e.mu.Unlock()
	if changed {
		if err := a.agent.Reload(); err != nil {
			e.say("", err.Error())
		}
		for _, t := range list {
			if other, ok := a.tool(t.Name); ok && other.Source != t.Source {
				e.say(
					t.Source.Name,
					fmt.Sprintf("tool %q is left out: there is one of that name (%s)", t.Name, origin(other.Source)),
				)
			}
		}
	}
	a.hiddenExtensionCommands()
}

func origin(s tool.Source) string {
	if s.Kind == "builtin" || s.Kind == "" {
		return "built in"
	}
	return s.Kind + " " + s.Name
}

// reloadExtensions replaces the Python process by one with the files as they are.
func (a *App) reloadExtensions(ctx context.Context, cfg *config.Config) error {
	host, err := a.startExtensions(cfg, true)
	if err != nil {
		return err
	}
	if host != nil {
		if err := host.Wait(ctx); err != nil {
			a.log.Warn("extensions", "error", err)
		}
	}
	a.extensions.mu.Lock()
	old := a.extensions.host
	a.extensions.mu.Unlock()
	a.useExtensions(host)
	if old != nil {
		old.Close()
	}
	return nil
}

// add appends the tools of extensions to others. A name that is taken stays with
// who has it.
func (e *extensions) add(list []tool.Tool) []tool.Tool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.tools {
		if !slices.ContainsFunc(list, func(x tool.Tool) bool { return x.Name == t.Name }) {
			list = append(list, t)
		}
	}
	return list
}

// see keeps what was found, for list.
func (e *extensions) see(found []pyext.Extension, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found, e.err = found, err
}

// list tells how it stands with the extensions. It neither starts nor waits for anything.
func (e *extensions) list() ([]pyext.Loaded, error) {
	e.mu.Lock()
	host, found, err := e.host, e.found, e.err
	e.mu.Unlock()
	if err == nil && host != nil {
		err = host.Err()
	}
	return pyext.List(found, host), err
}

// prompts are the paragraphs that extensions add to the system prompt.
func (e *extensions) prompts() []string {
	e.mu.Lock()
	host, joined := e.host, e.joined
	e.mu.Unlock()
	if host == nil || !joined {
		return nil
	}
	return host.Prompts()
}

// declared are the commands of extensions.
func (e *extensions) declared() []tool.Command {
	e.mu.Lock()
	host, joined := e.host, e.joined
	e.mu.Unlock()
	if host == nil || !joined {
		return nil
	}
	return host.Commands()
}

// extensionCommands adds the commands of extensions to others.
func (a *App) extensionCommands(list []commands.Command) []commands.Command {
	for _, c := range a.extensions.declared() {
		if _, err := commands.Find(list, c.Name); err != nil {
			list = append(list, pluginCommand(c))
		}
	}
	return list
}

// hiddenExtensionCommands tells about commands of extensions whose names are taken.
func (a *App) hiddenExtensionCommands() {
	list := a.commands.Commands()
	for _, c := range a.extensions.declared() {
		if owner, err := commands.Find(list, c.Name); err == nil && owner.Source != commandSource(c) {
			a.extensions.say(
				c.Source.Name,
				fmt.Sprintf("command /%s is hidden by %s", c.Name, cmp.Or(owner.Source, "the built-in one")),
			)
		}
	}
}

// attach lets the extensions speak to the user.
func (e *extensions) attach(who *agent.Agent) {
	e.mu.Lock()
	e.sink = who.Notice
	waiting := e.waiting
	e.waiting = nil
	e.mu.Unlock()
	for _, w := range waiting {
		who.Notice(w[0], w[1])
	}
}

// say shows what an extension says to the user; an empty name is all of them.
func (e *extensions) say(name, text string) {
	source := "extensions"
	if name != "" {
		source = lifecycle.Source{Kind: lifecycle.Extension, Name: name}.String()
	}
	e.mu.Lock()
	sink := e.sink
	if sink == nil {
		e.waiting = append(e.waiting, [2]string{source, text})
	}
	e.mu.Unlock()
	if sink != nil {
		sink(source, text)
	}
}

// close ends the Python process.
func (e *extensions) close() {
	e.mu.Lock()
	host := e.host
	e.mu.Unlock()
	if host != nil {
		host.Close()
	}
}
