package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
)

// Sessions is where sessions are kept: in the project's home if there is one, else in
// the global one; nil if there is neither. Those of the project that are in another
// home, from before it had its own, are found too.
func Sessions(homes config.Homes, workdir string) *session.Store {
	last := homes.Last()
	if last == "" {
		return nil
	}
	dir := func(home string) string { return filepath.Join(home, "sessions") }
	roots := []string{workdir}
	if filepath.Base(last) == config.Dir {
		roots = append(roots, filepath.Dir(last))
	}
	var others []string
	for _, home := range homes.All() {
		if home != last {
			others = append(others, dir(home))
		}
	}
	return session.Open(dir(last)).With(roots, others...)
}

// kept makes an observer that, before the first turn is written to the session, keeps
// git away from it.
func (a *App) kept(observe func(agent.Event)) func(agent.Event) {
	if a.commands.Store == nil {
		return observe
	}
	var once sync.Once
	return func(e agent.Event) {
		if e.Kind == agent.TurnStarted {
			// If it fails, so does the session, which says why.
			once.Do(func() { _ = config.Ignore(filepath.Dir(a.commands.Store.Dir())) })
		}
		if observe != nil {
			observe(e)
		}
	}
}

// wireCommands connects the slash commands to the session.
func (a *App) wireCommands() {
	s := a.commands
	s.Agent = a.agent
	s.Commands = func() []commands.Command {
		return a.serverCommands(a.extensionCommands(a.pluginCommands(a.ownCommands())))
	}
	s.Agents = a.agents
	s.Modes = a.modes
	s.Tools = a.allTools
	s.MCP = a.servers
	s.Models = a.modelChoices
	s.Skills = a.Skills
	s.Extensions = a.extensions.list
	s.Print = a.face.Print
	s.Submit = a.Submit
	s.Reload = a.reload
	s.SetModel = a.setModel
	s.Shell = a.shell
	s.Sandbox = a.sandboxState
	s.SetSandbox = a.setSandbox
	s.Restore = a.restore
}

// agents lists the agents a user can choose.
func (a *App) agents() []commands.Choice {
	var list []commands.Choice
	for _, x := range a.cfg.Agents {
		if !x.Hide {
			list = append(
				list,
				commands.Choice{Name: x.Name, Description: x.Description, Active: x.Name == a.agent.Profile().Agent},
			)
		}
	}
	return list
}

// modes lists the modes a user can choose.
func (a *App) modes() []commands.Choice {
	var list []commands.Choice
	for _, x := range a.cfg.Modes {
		if !x.Hide {
			list = append(
				list,
				commands.Choice{Name: x.Name, Description: x.Description, Active: x.Name == a.agent.Profile().Mode},
			)
		}
	}
	return list
}

// allTools lists every tool by name.
func (a *App) allTools() []tool.Tool {
	a.joinExtensions(context.Background())
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]tool.Tool, 0, len(a.tools))
	for _, t := range a.tools {
		list = append(list, t)
	}
	slices.SortFunc(list, func(x, y tool.Tool) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// ToolNames names every tool, and those of ours that are there only when they are needed.
func (a *App) ToolNames() []string {
	names := builtinLater()
	for _, t := range a.allTools() {
		names = append(names, t.Name)
	}
	return names
}

func (a *App) modelChoices(ctx context.Context) ([]commands.Choice, error) {
	_, models, err := a.Models(ctx, "")
	var list []commands.Choice
	for _, m := range models {
		list = append(
			list,
			commands.Choice{Name: m.Name, Description: m.Family, Active: m.Name == a.agent.Profile().Model.Name},
		)
	}
	return list, err
}

// reload reads the configuration anew. If it is wrong, the old one stays in force.
func (a *App) reload(ctx context.Context) error {
	homes, err := config.FindHomes(a.opts.Homes)
	if err != nil {
		return err
	}
	cfg, err := config.Load(homes)
	if err != nil {
		return err
	}
	cfg = cfg.WithTask(a.opts.Task.Features)
	set, report, err := a.loadHooks(cfg, nil)
	if err != nil {
		return err
	}
	servers, err := a.loadServers(cfg)
	if err != nil {
		return err
	}
	plugins, err := a.loadPlugins(ctx, cfg)
	if err != nil {
		return err
	}
	a.mu.Lock()
	oldCfg, oldClients, oldPlugins, oldTools, oldWritten := a.cfg, a.clients, a.plugins, a.tools, a.written
	a.cfg, a.clients, a.plugins, a.tools = cfg, map[string]provider.Client{}, plugins, map[string]tool.Tool{}
	a.written = readWritten(homes, a.workdir)
	a.mu.Unlock()
	if err := a.agent.Reload(); err != nil {
		a.mu.Lock()
		a.cfg, a.clients, a.plugins, a.tools, a.written = oldCfg, oldClients, oldPlugins, oldTools, oldWritten
		a.mu.Unlock()
		plugins.Close()
		return err
	}
	a.useHooks(set, report)
	a.usePlugins(plugins)
	oldPlugins.Close()
	if err := a.useServers(ctx, servers); err != nil {
		return err
	}
	if err := a.reloadExtensions(ctx, cfg); err != nil {
		return err
	}
	a.hiddenCommands()
	a.commands.Approvals.Restore(cfg.Approvals)
	a.reviewWritten()
	a.warnSandbox()
	return nil
}

// restore takes over what the guards knew in a session that is resumed, and its model. Files that
// changed since count as not read.
func (a *App) restore(m session.Meta) {
	a.reads.Restore(m.FilesRead, m.Stats.StartTime.Add(m.Stats.Duration))
	a.commands.Approvals.Allow(m.Approvals...)
	a.commands.Reads.Write, a.commands.Reads.Delete = m.Switches.ReadBeforeWrite, m.Switches.ReadBeforeDelete
	a.restoreModel(m.Switches)
}

// completeMeta adds what the guards know, and what was chosen, to what is saved about
// the session.
func (a *App) completeMeta(m *session.Meta) {
	m.FilesRead = a.reads.Files()
	m.Approvals = a.commands.Approvals.Session()
	m.Switches.ReadBeforeWrite, m.Switches.ReadBeforeDelete = a.commands.Reads.Write, a.commands.Reads.Delete
	a.mu.Lock()
	picked := a.picked()
	a.mu.Unlock()
	m.Switches.Provider, m.Switches.Model = picked.provider, picked.model
}

// approve puts a call to the user and remembers the decision for as long as
// they say. What is allowed in a project is kept in its own home, and nowhere else.
func (a *App) approve(ctx context.Context, q agent.Approval) agent.Decision {
	homes := map[agent.Remember]string{
		agent.ForProject: a.cfg.Homes.Project(a.workdir),
		agent.ForAlways:  a.cfg.Homes.Global,
	}
	q.Keep = []agent.Remember{agent.ForSession}
	for _, r := range []agent.Remember{agent.ForProject, agent.ForAlways} {
		if homes[r] != "" {
			q.Keep = append(q.Keep, r)
		}
	}
	d := a.face.Approve(ctx, q)
	if !d.Allow || d.Pattern == "" || d.Remember == "" {
		return d
	}
	if !q.Keeps(d.Remember) {
		a.agent.Notice(
			"approvals",
			"there is no home to keep that in: it holds for this session (aura init makes one for the project)",
		)
		d.Remember = agent.ForSession
	}
	if d.Remember == agent.ForSession {
		a.commands.Approvals.Allow(d.Pattern)
	} else if err := a.commands.Approvals.Save(filepath.Join(homes[d.Remember], "config", "rules", "approvals.yaml"), d.Pattern); err != nil {
		a.agent.Notice("approvals", err.Error())
	}
	return d
}
