package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/profile"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/workspace"
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

// OpenSessions opens the store that a session with the options would use.
func OpenSessions(o Options) (*session.Store, error) {
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return nil, err
	}
	workdir, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	}
	store := Sessions(homes, workdir)
	if store == nil {
		return nil, errors.New("no sessions are kept: there is neither a project home nor a global one")
	}
	return store, nil
}

// kept makes an observer that, before the first turn is written to the session, keeps
// git away from it.
func kept(store *session.Store, observe func(agent.Event)) func(agent.Event) {
	if store == nil {
		return observe
	}
	var once sync.Once
	return func(e agent.Event) {
		if e.Kind == agent.TurnStarted {
			// If it fails, so does the session, which says why.
			once.Do(func() { _ = config.Ignore(filepath.Dir(store.Dir())) })
		}
		if observe != nil {
			observe(e)
		}
	}
}

// commandSession is what slash commands act on.
func (a *App) commandSession(
	store *session.Store, approvals *guard.Approvals, reads *guard.ReadSwitches,
) *commands.Session {
	return &commands.Session{
		Agent: a.agent, Store: store, Reads: reads, Approvals: approvals, MCP: a.MCP(),
		Skills: skillsOf{a.extensions}, Extensions: a.extensions,
		Lists: commands.Lists{
			Commands: func() []commands.Command { all, _ := a.allCommands(); return all },
			Agents:   func() []commands.Choice { return agentChoices(a.current().cfg, a.agent.Profile().Agent) },
			Modes:    func() []commands.Choice { return modeChoices(a.current().cfg, a.agent.Profile().Mode) },
			Tools:    a.Tools, Models: a.modelChoices,
		},
		Actions: commands.Actions{
			Print: a.face.Print, Submit: a.Submit, Shell: a.Shell, SetModel: a.setModel,
			Reload:     func(ctx context.Context) error { return a.reload(ctx, approvals, reads) },
			Sandbox:    func() agent.SandboxState { return agent.SandboxState(sandbox.StateOf(a.rules())) },
			SetSandbox: func(on bool) error { a.sandbox.Switch(on); return a.agent.Reload() },
			Restore:    func(m session.Meta) { a.restore(m, approvals, reads) },
		},
	}
}

// skillsOf are the skills that are in force: after a reload they are others.
type skillsOf struct{ set *extension.Set }

func (s skillsOf) Table() string { return extension.Find[commands.Skills](s.set).Table() }
func (s skillsOf) Text(name string) (string, error) {
	return extension.Find[commands.Skills](s.set).Text(name)
}

// allCommands are the commands of the session, and those that others hide.
func (a *App) allCommands() (all, hidden []commands.Command) {
	var custom []commands.Text
	for _, c := range a.current().cfg.Commands {
		custom = append(custom, commands.Text{
			Name: c.Name, Description: c.Description, Hints: c.Hints, Body: c.Body, File: c.Source.File,
		})
	}
	return commands.All(custom, a.extensions.Commands())
}

// agentChoices lists the agents a user can choose.
func agentChoices(cfg *config.Config, active string) (list []commands.Choice) {
	for _, x := range cfg.Agents {
		if !x.Hide {
			list = append(list, commands.Choice{Name: x.Name, Description: x.Description, Active: x.Name == active})
		}
	}
	return list
}

// modeChoices lists the modes a user can choose.
func modeChoices(cfg *config.Config, active string) (list []commands.Choice) {
	for _, x := range cfg.Modes {
		if !x.Hide {
			list = append(list, commands.Choice{Name: x.Name, Description: x.Description, Active: x.Name == active})
		}
	}
	return list
}

// modelChoices lists the models of the provider of the active agent.
func (a *App) modelChoices(ctx context.Context) ([]commands.Choice, error) {
	now, name := a.current(), ""
	if active, err := now.cfg.Provider(a.agent.Profile().Model.Provider); err == nil {
		name = active.Name
	}
	_, all, err := now.models.List(ctx, name)
	var list []commands.Choice
	for _, m := range all {
		active := m.Name == a.agent.Profile().Model.Name
		list = append(list, commands.Choice{Name: m.Name, Description: m.Family, Active: active})
	}
	return list, err
}

// setModel overrides the model of every agent from now on.
func (a *App) setModel(name string) error {
	undo := a.current().models.Pick(name)
	err := a.agent.Reload()
	if err != nil {
		undo()
	}
	return err
}

// hookData tells prompts and people about the hooks of an agent in a mode.
func (a *App) hookData(name, mode string) agent.HookData {
	set := extension.Find[*hooks.Set](a.extensions)
	active := set.Active(name, mode)
	d := agent.HookData{Display: hooks.Display(active), Listing: set.Listing(name, mode)}
	for _, h := range active {
		d.Active = append(d.Active, agent.HookInfo(h))
	}
	return d
}

// reload reads the configuration anew. If it is wrong, the old one stays in force.
func (a *App) reload(ctx context.Context, approvals *guard.Approvals, reads *guard.ReadSwitches) error {
	cfg, err := workspace.ReadConfig(a.Options())
	if err != nil {
		return err
	}
	kinds, err := a.kinds(cfg, a.guards(approvals))
	if err != nil {
		return err
	}
	next := a.generation(cfg, a.current().models.Reload(cfg), reads)
	err = a.extensions.Reload(ctx, kinds, func() error {
		old := a.use(next)
		if err := a.agent.Reload(); err != nil {
			a.use(old)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.agent.Reload(); err != nil { // The servers are those of the new configuration only now.
		a.agent.Notice("reload", err.Error())
	}
	a.startServers(ctx)
	approvals.Restore(cfg.Approvals)
	a.Review()
	return nil
}

// restore takes over what the guards knew in a session that is resumed, and its model. Files that
// changed since count as not read.
func (a *App) restore(m session.Meta, approvals *guard.Approvals, reads *guard.ReadSwitches) {
	a.reads.Restore(m.FilesRead, m.Stats.StartTime.Add(m.Stats.Duration))
	approvals.Allow(m.Approvals...)
	reads.Write, reads.Delete = m.Switches.ReadBeforeWrite, m.Switches.ReadBeforeDelete
	err := a.current().models.Restore(models.Choice{Provider: m.Switches.Provider, Model: m.Switches.Model})
	if err != nil {
		a.agent.Notice("resume", fmt.Sprintf("%v; the model is not that of the session", err))
	}
}

// completeMeta adds what the guards know, and what was chosen, to what is saved about
// the session.
func (a *App) completeMeta(m *session.Meta, approvals *guard.Approvals, reads *guard.ReadSwitches) {
	m.FilesRead = a.reads.Files()
	m.Approvals = approvals.Session()
	m.Switches.ReadBeforeWrite, m.Switches.ReadBeforeDelete = reads.Write, reads.Delete
	choice := a.current().models.Choice()
	m.Switches.Provider, m.Switches.Model = choice.Provider, choice.Model
}

// Review tells the user what of their files has no effect.
func (a *App) Review() {
	now := a.current()
	for _, p := range a.extensions.Problems() {
		if p.Kind == "extensions" {
			a.extensionNotice(p.Name, p.Text)
			continue
		}
		a.agent.Notice(p.Kind, p.Text)
	}
	all, hidden := a.allCommands()
	for _, c := range hidden {
		a.agent.Notice(commands.Hidden(c, all))
	}
	for _, text := range now.profiles.Undefined() {
		a.agent.Notice("tools", text)
	}
	mistakes, err := profile.PolicyMistakes(now.cfg, a.Options().Overrides, a.ToolNames())
	if err != nil {
		mistakes = []string{err.Error()}
	}
	for _, text := range mistakes {
		a.agent.Notice("policy", text)
	}
	for _, text := range a.rules().Notices() {
		a.agent.Notice("sandbox", text)
	}
}

// ServeConfined is the life of a sandboxed child: it runs the tools its parent asks
// for, under the rules its parent set, until its input ends.
func (a *App) ServeConfined(ctx context.Context, in io.Reader, out io.Writer) error {
	r, ok := sandbox.Requested()
	if !ok {
		return errors.New("--worker is for sandboxed processes that aura starts by itself")
	}
	return sandbox.Serve(ctx, in, out, r, a.Tool)
}

// logged makes an observer that also writes the course of the session into the debug
// log: what happened and how long it took, not what was said.
func logged(debug bool, log *slog.Logger, observe func(agent.Event)) func(agent.Event) {
	if !debug {
		return observe
	}
	return func(e agent.Event) {
		e.Log(log)
		if observe != nil {
			observe(e)
		}
	}
}
