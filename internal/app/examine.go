package app

import (
	"context"
	"errors"
	"io"
	"log"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/script"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tools"
)

// Target is the model that a session would talk to.
type Target struct {
	Provider config.Provider // With its variables filled in; no Type means --dry noop.
	Model    string          // Empty: nobody named one, the server would be asked.
	Client   provider.Client
}

// Target finds out whom a session would talk to. No model server is asked.
func (a *App) Target() (Target, error) {
	who, err := a.who()
	if err != nil {
		return Target{}, err
	}
	if a.opts.Noop {
		return Target{Provider: config.Provider{Name: "noop"}, Model: "noop", Client: script.Noop()}, nil
	}
	name, model := a.chosen(who.Model)
	a.mu.Lock()
	defer a.mu.Unlock()
	p, usual, err := a.provider(name)
	if err != nil {
		return Target{}, err
	}
	t := Target{Provider: p, Model: model}
	if t.Client, err = a.client(p); err != nil {
		return t, err
	}
	if t.Provider, err = p.Expand(a.env.get); err != nil {
		return t, err
	}
	if t.Model == "" {
		t.Model = usual
	}
	if t.Model == "" && p.Type == "script" {
		t.Model = t.Client.Model(context.Background(), "").Name
	}
	return t, nil
}

// who is the agent that a session would begin with.
func (a *App) who() (config.Agent, error) {
	if a.opts.Choice.Agent != "" {
		return a.cfg.Agent(a.opts.Choice.Agent)
	}
	return a.cfg.DefaultAgent()
}

// Getenv looks a variable up in the environment of the session.
func (a *App) Getenv(name string) string { return a.env.get(name) }

// Workdir is the working directory, absolute.
func (a *App) Workdir() string { return a.workdir }

// Features are those of the agent that a session would begin with.
func (a *App) Features() (config.Features, error) {
	who, err := a.who()
	if err != nil {
		return config.Features{}, err
	}
	return a.cfg.Resolve(who, nil, a.opts.Overrides)
}

// SandboxRules are those of the agent that a session would begin with; nil while the
// sandbox is off.
func (a *App) SandboxRules() (*sandbox.Rules, error) {
	f, err := a.Features()
	if err != nil {
		return nil, err
	}
	return a.sandboxRules(f.Sandbox), nil
}

// Servers makes a hub for the MCP servers of the configuration and names those that
// the filters leave. None is started; the caller closes the hub.
func (a *App) Servers() (*mcp.Hub, []string, error) {
	f, err := a.Features()
	if err != nil {
		return nil, nil, err
	}
	if err := a.openServers(); err != nil {
		return nil, nil, err
	}
	return a.servers, a.allowedServers(f.MCP), nil
}

// Rehearse makes the profile and the system prompt of every agent in its own mode, and
// of the first agent in every mode, as a session would. It returns their names and
// what is wrong with any. No model server is asked.
func Rehearse(o Options) (names []string, problems []error, err error) {
	o.Noop = true
	a, err := Read(o)
	if err != nil {
		return nil, nil, err
	}
	a.commands = &commands.Session{Reads: &guard.ReadSwitches{}}
	a.servers = mcp.New(nil, mcp.Options{})
	who, err := a.who()
	if err != nil {
		return nil, nil, err
	}
	try := func(name, mode string) {
		x, err := agent.New(agent.Options{
			Pipeline: lifecycle.New(lifecycle.Options{}), Resolve: a.resolve, Agent: name, Mode: mode,
			Place: agent.Place{Workdir: a.workdir, LaunchDir: a.workdir, Vars: o.Vars},
		})
		if err == nil {
			_, err = x.SystemPrompt()
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	for _, x := range a.cfg.Agents {
		names = append(names, x.Name)
		try(x.Name, "")
	}
	if o.Choice.Mode != "" {
		try(who.Name, o.Choice.Mode)
	}
	for _, m := range a.cfg.Modes {
		try(who.Name, m.Name)
	}
	return names, problems, nil
}

// ListPlugins describes every plugin of the configuration, also those that cannot
// be loaded, with warnings about the others. The plugins are loaded for it and
// released again.
func (a *App) ListPlugins(ctx context.Context) (list []plugin.Info, warnings []string, err error) {
	o, err := a.pluginOptions(a.cfg)
	if err != nil || !plugin.Present(o.Dirs) {
		return nil, nil, err
	}
	o.Lenient = true
	o.Warn = func(text string) { warnings = append(warnings, text) }
	log.SetOutput(io.Discard) // As for loading them in a session.
	set, err := plugin.Load(ctx, o)
	if err != nil {
		return nil, nil, errors.Join(err, ctx.Err())
	}
	defer set.Close()
	_, err = set.Merge(tools.New(tools.Options{}))
	return set.Plugins(), warnings, err
}

// Load starts the extensions and returns what each registers, or why it does not run.
func (p *Python) Load(ctx context.Context) ([]pyext.Loaded, error) {
	if p.Err != nil {
		return nil, p.Err
	}
	host := pyext.New(p.options(), p.Found)
	defer host.Close()
	host.Start()
	err := host.Wait(ctx)
	return host.Extensions(), err
}
