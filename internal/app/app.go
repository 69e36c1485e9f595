// Package app is the composition root: it reads the configuration, builds tools,
// guards, providers and the agent from it, and connects them to a face. It is the
// only package that knows all the others; it contains no behaviour of its own.
package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/models"
	"github.com/idelchi/aura/internal/profile"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/internal/workspace"
)

// App is one running program: a session with everything around it.
type App struct {
	Place
	face     Face
	log      *slog.Logger
	closeLog func() error
	notices  notices

	pipeline   *lifecycle.Pipeline
	extensions *extension.Set
	sandbox    *sandbox.Confinement
	agent      *agent.Agent
	commands   *commands.Session
	todo       todo.List
	reads      guard.Reads // What the model has seen.

	mu  sync.Mutex
	now generation
}

// generation is what follows from one reading of the configuration.
type generation struct {
	cfg      *config.Config
	models   *models.Models
	profiles *profile.Profiles
}

// Open reads the configuration and starts a session for the given face. The
// session has said nothing yet; call Start. ctx is for the opening only.
func Open(ctx context.Context, o Options, face Face) (*App, error) {
	place, err := Read(o)
	if err != nil {
		return nil, err
	}
	if face.Print == nil {
		face.Print = func(string) {}
	}
	a := &App{Place: place, face: face}
	if a.log, a.closeLog, err = a.OpenLog(); err != nil {
		return nil, err
	}
	if err := a.compose(ctx); err != nil {
		return nil, errors.Join(err, a.release())
	}
	return a, nil
}

// compose builds the session: pipeline, extensions, agent and commands.
func (a *App) compose(ctx context.Context) (err error) {
	approvals, reads := &guard.Approvals{}, &guard.ReadSwitches{}
	approvals.Restore(a.Config().Approvals)
	a.pipeline = lifecycle.New(lifecycle.Options{
		Logger: a.log, Shell: a.Shell, Begin: a.face.Begin, Trace: a.face.Trace,
	})
	a.sandbox = sandbox.New(sandbox.Options{
		Workdir: a.Workdir(), Command: a.Options().Reexec, Env: a.Env, Logger: a.log,
		Notice: func(text string) { a.notices.say("sandbox", text) },
	})
	kinds, err := a.kinds(a.Config(), a.guards(approvals))
	if err != nil {
		return err
	}
	if a.extensions, err = extension.Open(ctx, a.pipeline, kinds, workspace.BuiltinTools()); err != nil {
		return err
	}
	m := a.modelOptions()
	m.Logger = a.log
	a.now = a.generation(a.Config(), models.New(m), reads)
	if err := a.openAgent(Sessions(a.Config().Homes, a.Workdir()), approvals, reads); err != nil {
		return err
	}
	p := a.agent.Profile()
	a.log.Info("session opened", "workdir", a.Workdir(), "homes", a.Config().Homes.All(), "agent", p.Agent,
		"mode", p.Mode, "provider", p.Model.Provider, "model", p.Model.Name, "tools", len(p.Tools))
	return ctx.Err()
}

// guards are the built-in gates of the session.
func (a *App) guards(approvals *guard.Approvals) []lifecycle.Binding {
	list := guard.Bindings(guard.Options{
		Tool: a.Tool, Reads: &a.reads, Approvals: approvals,
		For: func(name, mode string) (guard.Config, error) { return a.current().profiles.Guard(name, mode) },
	})
	rules := func(name, mode string) (*sandbox.Rules, error) { return a.current().profiles.Sandbox(name, mode) }
	return append(append(list, sandbox.Guard(a.Tool, rules)), a.Options().Watch...)
}

// generation makes what follows from a configuration.
func (a *App) generation(cfg *config.Config, m *models.Models, reads *guard.ReadSwitches) generation {
	o := a.profileOptions(cfg, m)
	o.Sandbox, o.Reads, o.Stale = a.sandbox, reads, a.staleServers
	o.Servers = func() profile.Servers { return a.servers() }
	o.Tools = func(f config.Features, find func(string) (tool.Tool, bool)) []tool.Tool {
		return a.extensions.Tools(a.builtinTools(f, find))
	}
	return generation{cfg, m, profile.New(o)}
}

// builtinTools are the tools that are there without any extension.
func (a *App) builtinTools(f config.Features, find func(string) (tool.Tool, bool)) []tool.Tool {
	bash := f.Tools.Bash
	return tools.New(tools.Options{
		Todo: &a.todo, Env: a.Env, ReadSmallFileTokens: f.Tools.ReadSmallFileTokens,
		Parallel: func(name string) bool {
			t, ok := find(name)
			return f.Tools.Parallel && ok && !t.Serial
		},
		Bash: tools.BashLimits{
			Timeout: bash.Timeout, MaxBytes: bash.Truncation.MaxBytes, MaxLines: bash.Truncation.MaxLines,
			Head: bash.Truncation.Head, Tail: bash.Truncation.Tail,
		},
	})
}

// current is the generation that is in force.
func (a *App) current() generation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

// use puts a generation in force and returns the one before.
func (a *App) use(g generation) (old generation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, a.now = a.now, g
	return old
}

// openAgent makes the agent of the session, and the commands that act on it.
func (a *App) openAgent(store *session.Store, approvals *guard.Approvals, reads *guard.ReadSwitches) error {
	o := agent.Options{
		Pipeline: a.pipeline, Todo: &a.todo, Logger: a.log,
		Resolve: func(name, mode string) (agent.Profile, error) { return a.current().profiles.Resolve(name, mode) },
		Agent:   a.Options().Choice.Agent, Mode: a.Options().Choice.Mode,
		Switches: agent.Choices{
			Auto: a.Options().Choice.Auto, Verbose: a.Options().Choice.Verbose, Think: a.Options().Choice.Think,
			MaxSteps: a.Options().Limits.MaxSteps,
		},
		Place:   a.agentPlace(),
		Observe: kept(store, logged(a.Options().Debug, a.log, a.face.Observe)), Ask: a.face.Ask,
		Exists: func(name string) bool { _, ok := a.Tool(name); return ok },
		Meta:   func(m *session.Meta) { a.completeMeta(m, approvals, reads) },
	}
	if ask := a.face.Approve; ask != nil {
		approve := func(ctx context.Context, q agent.Approval) agent.Decision {
			q.Pattern = guard.Suggest(q.Tool, q.Args)
			return ask(ctx, q)
		}
		o.Approve = agent.Remembering(approve, keeper(a.Config().Homes, a.Workdir(), approvals), func(source, text string) {
			a.agent.Notice(source, text)
		})
	}
	if store != nil {
		log, err := store.Create(session.Meta{Workdir: a.Workdir()})
		if err != nil {
			return err
		}
		o.Log = log
	}
	var err error
	if a.agent, err = agent.New(o); err != nil {
		return err
	}
	a.commands = a.commandSession(store, approvals, reads)
	return nil
}

// agentPlace is where the agent works.
func (a *App) agentPlace() agent.Place {
	p := agent.Place{
		Workdir: a.Workdir(), LaunchDir: a.Workdir(), Vars: a.Options().Vars, Shell: a.Shell, Hooks: a.hookData,
		Additions: a.extensions.Prompts,
		Servers:   func() []string { return extension.Find[*mcp.Servers](a.extensions).Hub.Connected() },
		Sandbox:   func() agent.SandboxState { return agent.SandboxState(sandbox.StateOf(a.rules())) },
	}
	if dir, err := os.Getwd(); err == nil {
		p.LaunchDir = dir
	}
	return p
}

// rules are those of the sandbox for the active agent; nil while it is off.
func (a *App) rules() *sandbox.Rules {
	if a.agent == nil {
		return nil
	}
	p := a.agent.Profile()
	r, _ := a.current().profiles.Sandbox(p.Agent, p.Mode)
	return r
}

// keeper remembers approvals. What is allowed in a project is kept in its own home, and
// nowhere else.
func keeper(homes config.Homes, workdir string, approvals *guard.Approvals) agent.Keeper {
	return agent.Keeper{
		Allow: func(pattern string) { approvals.Allow(pattern) },
		Save: func(home, pattern string) error {
			return approvals.Save(filepath.Join(home, "config", "rules", "approvals.yaml"), pattern)
		},
		Homes: map[agent.Remember]string{
			agent.ForProject: homes.Project(workdir), agent.ForAlways: homes.Global,
		},
	}
}

// Tool finds a tool by name, whether or not a filter hides it.
func (a *App) Tool(name string) (tool.Tool, bool) { return a.current().profiles.Tool(name) }

// Tools lists every tool by name, those of extensions included.
func (a *App) Tools() []tool.Tool {
	a.ready(context.Background())
	return a.current().profiles.Tools()
}

// ToolNames names every tool, and those of ours that are there only when they are needed.
func (a *App) ToolNames() []string {
	a.ready(context.Background())
	return a.current().profiles.Names()
}

// Agent returns the agent of the session.
func (a *App) Agent() *agent.Agent { return a.agent }

// Commands returns what slash commands act on.
func (a *App) Commands() *commands.Session { return a.commands }

// Start begins the session, or resumes the one that key names.
func (a *App) Start(ctx context.Context, key string) error {
	if key != "" {
		// Extensions hear of the agent that takes over, as plugins do.
		if err := commands.Resume(ctx, a.commands, key, func() { a.Ready(ctx) }); err != nil {
			return err
		}
		a.agent.Switches().SetVerbose(a.agent.Switches().Verbose() || a.Options().Choice.Verbose)
	}
	a.startServers(ctx)
	a.Ready(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.current().profiles.CheckFilters(); err != nil {
		return err
	}
	a.Review()
	a.agent.Start(ctx, key != "")
	return ctx.Err()
}

// Ready waits for what starts in the background: Python extensions. Later calls cost
// nothing.
func (a *App) Ready(ctx context.Context) {
	a.notices.deliver(a.agent.Notice)
	a.ready(ctx)
}

func (a *App) ready(ctx context.Context) {
	if a.extensions.Ready(ctx) {
		if err := a.agent.Reload(); err != nil { // What it may use depends on what there is.
			a.notices.say("extensions", err.Error())
		}
	}
}

// Submit processes one input of the user: a slash command, or something for the model.
func (a *App) Submit(ctx context.Context, input string) error {
	return a.commands.Process(ctx, input, "")
}

// Latest names the latest session of the working directory.
func (a *App) Latest() (string, error) {
	if a.commands.Store == nil {
		return "", errors.New("no sessions are kept: there is neither a project home nor a global one")
	}
	return a.commands.Store.Latest(a.Workdir())
}

// Close ends the session. reason is "exit", "error" or "cancelled".
func (a *App) Close(reason string) error {
	a.log.Info("session ends", "reason", reason)
	return errors.Join(a.agent.Close(context.Background(), reason), a.release())
}

// release ends everything that runs beside the agent.
func (a *App) release() error {
	a.extensions.Close()
	a.sandbox.Close()
	return a.closeLog()
}
