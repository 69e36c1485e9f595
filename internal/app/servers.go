package app

import (
	"context"
	"slices"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/tool"
)

// servers are the MCP servers of the session.
func (a *App) servers() *mcp.Servers { return extension.Find[*mcp.Servers](a.extensions) }

// MCP returns the hub of the MCP servers of the session.
func (a *App) MCP() *mcp.Hub { return a.servers().Hub }

// allowedServers names the servers that the active agent may use.
func (a *App) allowedServers() []string {
	p := a.agent.Profile()
	return a.current().profiles.Servers(p.Agent, p.Mode)
}

// startServers begins to connect to the servers of the active agent, so that they are
// there when the model is first called.
func (a *App) startServers(ctx context.Context) {
	s := a.servers()
	snapshot := func() tool.Context {
		a.agent.ResolveModel(ctx) // Conditions may be about the model.
		return a.agent.Snapshot()
	}
	s.Hub.Start(s.Wanted(ctx, a.allowedServers(), snapshot, a.Shell)...)
}

// staleServers makes the question whether servers have changed since a profile was
// made. Asking it starts those that are missing, waits for them, and tells the user
// what went wrong.
func (a *App) staleServers(names []string) func(context.Context) bool {
	hub := a.MCP()
	before := hub.Version()
	return func(ctx context.Context) bool {
		wanted := a.servers().Wanted(ctx, names, a.agent.Snapshot, a.Shell)
		hub.Start(wanted...)
		hub.Wait(ctx, wanted...)
		for _, text := range hub.Notices() {
			a.agent.Notice("mcp", text)
		}
		return hub.Version() != before
	}
}

// ConnectServers connects to the named MCP servers, or to all that the active agent
// may use, and makes their tools known. It returns what went wrong.
func (a *App) ConnectServers(ctx context.Context, names ...string) ([]string, error) {
	allowed := a.allowedServers()
	if len(names) == 0 {
		names = allowed
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(allowed, name) })
	hub := a.MCP()
	hub.Start(names...)
	hub.Wait(ctx, names...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return hub.Notices(), a.agent.Reload()
}
