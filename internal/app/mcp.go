package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk/version"
)

// loadServers reads the MCP servers of a configuration. The project's .mcp.json
// starts programs that nobody may have looked at, so it is read only where the
// features say so.
func (a *App) loadServers(cfg *config.Config) ([]mcp.Server, error) {
	if a.opts.Confined {
		return nil, nil
	}
	f, err := cfg.Resolve(config.Agent{}, nil, a.opts.Overrides)
	if err != nil {
		return nil, err
	}
	project := ""
	if f.MCP.Project {
		dirs, _ := config.Within(a.workdir)
		project = mcp.FindProject(dirs)
	}
	var files []mcp.File
	for _, f := range cfg.Files["mcp"] {
		files = append(files, mcp.File(f))
	}
	return mcp.Load(files, cfg.Homes.Global, project)
}

// openServers makes the hub of the session; no server is started.
func (a *App) openServers() error {
	servers, err := a.loadServers(a.cfg)
	if err != nil {
		return err
	}
	a.servers = mcp.New(servers, mcp.Options{
		Dir: a.workdir, Env: a.env.list, Client: version.Version, Logger: a.log, Ask: a.face.Ask,
	})
	return nil
}

// useServers takes over another set of servers.
func (a *App) useServers(ctx context.Context, servers []mcp.Server) error {
	a.servers.Update(servers)
	if err := a.agent.Reload(); err != nil { // What it may use depends on what there is.
		return err
	}
	a.startServers(ctx)
	return nil
}

// allowedServers names the servers that the filters leave.
func (a *App) allowedServers(f config.MCP) []string {
	lower := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = strings.ToLower(s)
		}
		return out
	}
	layers := []tool.Filter{
		{Enabled: lower(f.Enabled), Disabled: lower(f.Disabled)},
		{Enabled: lower(a.opts.MCP.Enabled), Disabled: lower(a.opts.MCP.Disabled)},
	}
	var names []string
	for _, s := range a.servers.Servers() {
		refused := slices.ContainsFunc(layers, func(f tool.Filter) bool { return !f.Allows(strings.ToLower(s.Name)) })
		if !s.Disabled && !refused {
			names = append(names, s.Name)
		}
	}
	return names
}

// startServers begins to connect to the servers of the active agent, so that they are
// there when the model is first called.
func (a *App) startServers(ctx context.Context) {
	p := a.agent.Profile()
	a.mu.Lock()
	names := a.cache[[2]string{p.Agent, p.Mode}].servers
	a.mu.Unlock()
	a.servers.Start(a.wantedServers(ctx, names)...)
}

// wantedServers are those whose condition holds.
func (a *App) wantedServers(ctx context.Context, names []string) []string {
	var wanted []string
	for _, s := range a.servers.Servers() {
		if !slices.Contains(names, s.Name) {
			continue
		}
		if when := s.When(); when != nil {
			a.agent.ResolveModel(ctx)
			snapshot := a.agent.Snapshot()
			if !when.Eval(ctx, condition.Env{Context: &snapshot, Shell: a.shell}) {
				continue
			}
		}
		wanted = append(wanted, s.Name)
	}
	return wanted
}

// staleServers makes the question whether servers have changed since a profile was
// made. Asking it starts those that are missing, waits for them, and tells the user
// what went wrong.
func (a *App) staleServers(names []string) func(context.Context) bool {
	if len(names) == 0 {
		return nil
	}
	before := a.servers.Version()
	return func(ctx context.Context) bool {
		wanted := a.wantedServers(ctx, names)
		a.servers.Start(wanted...)
		a.servers.Wait(ctx, wanted...)
		a.serverNotices()
		return a.servers.Version() != before
	}
}

func (a *App) serverNotices() {
	for _, text := range a.servers.Notices() {
		a.agent.Notice("mcp", text)
	}
}

// serverTools adds the tools of the servers that a profile may use, and makes all of
// them known. a.mu is held.
func (a *App) serverTools(names []string, all []tool.Tool) []tool.Tool {
	for name, t := range a.tools {
		if t.Source.Kind == "mcp" {
			delete(a.tools, name)
		}
	}
	for _, t := range a.servers.Tools() {
		a.tools[t.Name] = t
		if slices.Contains(names, t.Source.Name) {
			all = append(all, t)
		}
	}
	return all
}

// deferredServers are patterns for the tools that a model must load first.
func (a *App) deferredServers() []string {
	var patterns []string
	for _, s := range a.servers.Servers() {
		if s.Deferred {
			patterns = append(patterns, s.Pattern())
		}
	}
	return patterns
}

// MCP returns the MCP servers of the session.
func (a *App) MCP() *mcp.Hub { return a.servers }

// ConnectServers connects to the named MCP servers, or to all that the active agent
// may use, and makes their tools known. It returns what went wrong.
func (a *App) ConnectServers(ctx context.Context, names ...string) ([]string, error) {
	p := a.agent.Profile()
	a.mu.Lock()
	allowed := a.cache[[2]string{p.Agent, p.Mode}].servers
	a.mu.Unlock()
	if len(names) == 0 {
		names = allowed
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(allowed, name) })
	a.servers.Start(names...)
	a.servers.Wait(ctx, names...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return a.servers.Notices(), a.agent.Reload()
}

// serverCommands adds the prompts of servers to the commands.
func (a *App) serverCommands(list []commands.Command) []commands.Command {
	var prompts []commands.Command
	for _, p := range a.servers.Prompts() {
		c := commands.Command{Name: p.Name, Description: p.Description, Source: "mcp"}
		for _, arg := range p.Arguments {
			hint := "[" + arg.Name + "]"
			if arg.Required {
				hint = "<" + arg.Name + ">"
			}
			c.Hints = append(c.Hints, hint)
		}
		c.Prompt = func(ctx context.Context, _ *commands.Session, args string) (agent.Input, error) {
			r, err := a.servers.Prompt(ctx, p.Name, args)
			a.serverNotices()
			if err == nil && r.Text == "" && len(r.Images) == 0 {
				err = fmt.Errorf("/%s: the server sent an empty prompt", p.Name)
			}
			return agent.Input{Text: r.Text, Images: r.Images}, err
		}
		prompts = append(prompts, c)
	}
	all, _ := commands.Merge(list, prompts)
	return all
}
