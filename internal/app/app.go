// Package app is the composition root: it reads the configuration, builds tools,
// guards, providers and the agent from it, and connects them to a face. It is the
// only package that knows all the others; it contains no behaviour of its own.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
)

// App is one running program: a session with everything around it.
type App struct {
	opts     Options
	face     Face
	workdir  string
	env      environ
	log      *slog.Logger
	closeLog func() error

	pipeline *lifecycle.Pipeline
	agent    *agent.Agent
	commands *commands.Session
	parts
	state

	mu sync.Mutex // Guards what sub-agents resolve side by side.
	shared
}

// parts are what extends the session.
type parts struct {
	hooks      *hooks.Set
	plugins    *plugin.Set // nil: none.
	servers    *mcp.Hub
	extensions extensions
}

// state is what tools and guards remember during the session.
type state struct {
	reads    guard.Reads
	pick     pick
	confined confinement
	todo     *todo.List
}

// shared is guarded by App.mu.
type shared struct {
	cfg     *config.Config
	written written
	tools   map[string]tool.Tool
	clients map[string]provider.Client
	cache   map[[2]string]resolved
}

// Read reads the configuration of a session and starts nothing. What it returns is
// for looking at the parts: it holds no conversation and needs no Close.
func Read(o Options) (*App, error) {
	start, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	}
	workdir := cmp.Or(o.Task.Workdir, start)
	if info, err := os.Stat(workdir); err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("workdir: %s is not a directory", workdir)
	}
	a := &App{
		opts:    o,
		workdir: workdir,
		log:     slog.New(slog.DiscardHandler),
		state:   state{todo: &todo.List{}},
		shared: shared{
			tools:   map[string]tool.Tool{},
			clients: map[string]provider.Client{},
			cache:   map[[2]string]resolved{},
		},
	}
	if !o.Confined { // A child gets its whole environment from its parent.
		if a.env, err = loadEnviron(o.EnvFile, start); err != nil {
			return nil, err
		}
	}
	a.env = a.env.with(o.Task.Env)
	homes, err := config.FindHomes(o.Homes)
	if err != nil {
		return nil, err
	}
	if a.cfg, err = config.Load(homes); err != nil {
		return nil, err
	}
	a.cfg = a.cfg.WithTask(o.Task.Features)
	a.written = readWritten(homes, workdir)
	return a, nil
}

// Open reads the configuration and starts a session for the given face. The
// session has said nothing yet; call Start. ctx is for the opening only.
func Open(ctx context.Context, o Options, face Face) (*App, error) {
	a, err := Read(o)
	if err != nil {
		return nil, err
	}
	homes := a.cfg.Homes
	a.face = face
	if a.face.Print == nil {
		a.face.Print = func(string) {}
	}
	if a.log, a.closeLog, err = openLog(o.Debug, homes.Last()); err != nil {
		return nil, err
	}
	if err := a.compose(ctx, homes); err != nil {
		return nil, errors.Join(err, a.release())
	}
	return a, nil
}

// compose builds the session: pipeline, parts, agent and commands.
func (a *App) compose(ctx context.Context, homes config.Homes) (err error) {
	if a.extensions.host, err = a.startExtensions(a.cfg, false); err != nil {
		return err
	}
	approvals := &guard.Approvals{}
	approvals.Restore(a.cfg.Approvals)
	a.commands = &commands.Session{
		Reads:     &guard.ReadSwitches{},
		Approvals: approvals,
		Store:     Sessions(homes, a.workdir),
	}
	a.pipeline = lifecycle.New(
		lifecycle.Options{Logger: a.log, Shell: a.shell, Begin: a.face.Begin, Trace: a.face.Trace},
	)
	guards := guard.Bindings(guard.Options{Tool: a.tool, For: a.guarded, Reads: &a.reads, Approvals: approvals})
	guards = append(guards, sandbox.Guard(a.tool, a.sandboxed))
	a.pipeline.Bind(lifecycle.Guard, append(guards, a.opts.Watch...))
	set, report, err := a.loadHooks(a.cfg, nil)
	if err != nil {
		return err
	}
	a.useHooks(set, report)
	plugins, err := a.loadPlugins(ctx, a.cfg)
	if err != nil {
		return err
	}
	a.usePlugins(plugins)
	if err := a.openServers(); err != nil {
		return err
	}
	if err := a.openAgent(); err != nil {
		return err
	}
	a.wireCommands()
	a.logOpened()
	return ctx.Err()
}

// release ends everything that runs beside the agent.
func (a *App) release() error {
	a.servers.Close()
	a.extensions.close()
	a.closeWorkers()
	a.plugins.Close()
	return a.closeLog()
}

// openAgent makes the agent of the session.
func (a *App) openAgent() error {
	o := agent.Options{
		Pipeline: a.pipeline,
		Resolve:  a.resolve,
		Agent:    a.opts.Choice.Agent,
		Mode:     a.opts.Choice.Mode,
		Switches: agent.Choices{
			Auto: a.opts.Choice.Auto, Verbose: a.opts.Choice.Verbose, Think: a.opts.Choice.Think,
			MaxSteps: a.opts.Limits.MaxSteps,
		},
		Todo:     a.todo,
		Logger:   a.log,
		Place: agent.Place{
			Workdir:   a.workdir,
			LaunchDir: a.workdir,
			Vars:      a.opts.Vars,
			Servers:   a.servers.Connected,
			Hooks:     a.hookData,
			Sandbox:   a.sandboxState,
			Shell:     a.shell,
			Additions: a.extensions.prompts,
		},
		Observe: a.kept(a.logged(a.face.Observe)),
		Ask:     a.face.Ask,
		Exists:  func(name string) bool { _, ok := a.tool(name); return ok },
		Meta:    a.completeMeta,
	}
	if dir, err := os.Getwd(); err == nil {
		o.Place.LaunchDir = dir
	}
	if a.face.Approve != nil {
		o.Approve = a.approve
	}
	if a.commands.Store != nil {
		log, err := a.commands.Store.Create(session.Meta{Workdir: a.workdir})
		if err != nil {
			return err
		}
		o.Log = log
	}
	var err error
	a.agent, err = agent.New(o)
	return err
}

// openLog opens the debug log in home.
func openLog(debug bool, home string) (*slog.Logger, func() error, error) {
	if !debug || home == "" {
		return slog.New(slog.DiscardHandler), func() error { return nil }, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, nil, fmt.Errorf("debug log: %w", err)
	}
	_ = config.Ignore(home) // Where it cannot be written, the log cannot either.
	f, err := os.OpenFile(filepath.Join(home, "debug.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("debug log: %w", err)
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})), f.Close, nil
}

// shell runs a `bash:` term of a condition.
func (a *App) shell(ctx context.Context, command string) bool {
	r, err := sh.Run(ctx, sh.Command{Script: command, Dir: a.workdir, Env: a.env.list()})
	return err == nil && r.ExitCode == 0
}

// tool finds a tool by name, whether or not a filter hides it.
func (a *App) tool(name string) (tool.Tool, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.tools[name]
	return t, ok
}

// Agent returns the agent of the session.
func (a *App) Agent() *agent.Agent { return a.agent }

// Config returns the configuration.
func (a *App) Config() *config.Config { return a.cfg }

// Commands returns what slash commands act on.
func (a *App) Commands() *commands.Session { return a.commands }

// Start begins the session, or resumes the one that key names.
func (a *App) Start(ctx context.Context, key string) error {
	if key != "" {
		// Extensions hear of the agent that takes over, as plugins do.
		if err := commands.Resume(ctx, a.commands, key, func() { a.Ready(ctx) }); err != nil {
			return err
		}
		a.agent.Switches().SetVerbose(a.agent.Switches().Verbose() || a.opts.Choice.Verbose)
	}
	a.startServers(ctx)
	a.Ready(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.checkFilters(); err != nil {
		return err
	}
	a.reviewWritten()
	a.warnSandbox()
	a.hiddenCommands()
	a.agent.Start(ctx, key != "")
	return ctx.Err()
}

// Ready waits for what starts in the background: Python extensions. Later calls cost
// nothing.
func (a *App) Ready(ctx context.Context) {
	a.extensions.attach(a.agent)
	a.joinExtensions(ctx)
}

// Latest names the latest session of the working directory.
func (a *App) Latest() (string, error) {
	if a.commands.Store == nil {
		return "", errors.New("no sessions are kept: there is neither a project home nor a global one")
	}
	return a.commands.Store.Latest(a.workdir)
}

// Submit processes one input of the user: a slash command, or something for the
// model.
func (a *App) Submit(ctx context.Context, input string) error { return a.SubmitWith(ctx, input, "") }

// SubmitWith is Submit for an input that text was piped to, which goes to the model
// behind what the input sends there; see Takes.
func (a *App) SubmitWith(ctx context.Context, input, piped string) error {
	a.agent.CountInteraction()
	name, args, ok := commands.Parse(input)
	if !ok {
		_, err := a.agent.Send(ctx, agent.Input{Text: commands.WithPiped(input, piped)})
		return err
	}
	c, err := commands.Find(a.commands.Commands(), name)
	if err != nil {
		return err
	}
	if c.Raw {
		args = commands.Typed(input)
	}
	return c.Call(ctx, a.commands, args, piped)
}

// Takes reports whether an input sends something to the model that piped text can go with.
func (a *App) Takes(input string) bool {
	name, _, ok := commands.Parse(input)
	if !ok {
		return true
	}
	c, err := commands.Find(a.commands.Commands(), name)
	return err == nil && c.Prompt != nil
}

// Rendered is what an input sends to the model, as far as that can be told without
// running anything: custom commands are expanded, other commands stay as they are.
func (a *App) Rendered(ctx context.Context, input, piped string) (string, error) {
	if name, args, ok := commands.Parse(input); ok {
		if c, err := commands.Find(a.commands.Commands(), name); err == nil && c.Template {
			in, err := c.Prompt(ctx, a.commands, args)
			return commands.WithPiped(in.Text, piped), err
		}
	}
	return commands.WithPiped(input, piped), nil
}

// Close ends the session. reason is "exit", "error" or "cancelled".
func (a *App) Close(reason string) error {
	a.log.Info("session ends", "reason", reason)
	return errors.Join(a.agent.Close(context.Background(), reason), a.release())
}
