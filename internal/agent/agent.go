// Package agent is the loop between the user, the model and the tools. It owns
// a conversation and dispatches every moment of its life on the pipeline. It
// reads no configuration, knows no provider and draws nothing: profiles come from
// the composition root, what happens goes to an observer. What was said and counted
// is data of package conversation.
package agent

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// Options configures an Agent. Pipeline and Resolve are required.
type Options struct {
	Pipeline *lifecycle.Pipeline
	Resolve  func(agent, mode string) (Profile, error)
	Agent    string // To begin with.
	Mode     string
	Switches Choices // As the command line sets them.

	Log     *session.Log // Where the conversation is kept; nil = nowhere.
	Todo    *todo.List   // Shared with the todo tools; nil = a list of its own.
	Place   Place
	Observe func(Event) // nil = nobody watches.

	// Approve puts a call to the user. nil means that nobody can be asked.
	Approve func(context.Context, Approval) Decision
	// Ask puts a question of the model to the user. nil means likewise.
	Ask func(context.Context, tool.Question) ([]string, error)

	// Exists reports whether there is a tool of that name that the filters hide.
	Exists func(name string) bool

	// Meta completes what is saved about the session; nil adds nothing.
	Meta func(*session.Meta)

	Logger *slog.Logger
}

// Place is where a session happens.
type Place struct {
	Workdir   string // Absolute.
	LaunchDir string
	Vars      map[string]string // From --set.
	Sandbox   func() SandboxState
	Servers   func() []string // Connected MCP servers.
	Hooks     func(agent, mode string) HookData
	Additions func() []string // Paragraphs that extensions add to every system prompt.

	// Shell runs a `bash:` term of a tool's condition; nil makes them false.
	Shell func(ctx context.Context, command string) bool
}

// Agent is one conversation. All methods belong to one goroutine, which the face
// chooses, except where they say otherwise.
type Agent struct {
	opts     Options
	conv     *conversation.Conversation
	switches *Switches
	record   *record
	feed     *feed

	profile    Profile
	model      modelFacts
	promptDone bool         // The system prompt was rendered with the Done tool on: it may list the tools.
	subcalls   atomic.Int64 // Numbers the calls that tools make.
}

// New makes an agent and resolves its first profile.
func New(o Options) (*Agent, error) { return begin(o, conversation.New(o.Todo, tool.Match)) }

// begin makes an agent for a conversation.
func begin(o Options, conv *conversation.Conversation) (*Agent, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := o.Resolve(o.Agent, o.Mode)
	if err != nil {
		return nil, err
	}
	a := &Agent{opts: o, conv: conv, switches: newSwitches(o.Switches), feed: &feed{observe: o.Observe}}
	a.record = newRecord(o.Log, a.meta, func(err error) {
		a.Notice("session", "the session cannot be saved: "+err.Error())
	})
	a.use(p)
	return a, nil
}

// use makes p the active profile.
func (a *Agent) use(p Profile) {
	a.profile = p
	a.model = modelFacts{info: p.Model.apply(sdk.ModelInfo{})}
	a.conv.SetSystem("")
	a.conv.Offer.SetTools(p.listed())
	a.conv.Tokens.SetDivisor(p.Settings.Divisor)
}

// Switch makes another agent active, in the given mode, and tells the handlers
// why. An empty mode means the agent's own.
func (a *Agent) Switch(ctx context.Context, name, mode, reason string) error {
	p, err := a.opts.Resolve(name, mode)
	if err != nil {
		return err
	}
	previous := a.profile.Agent
	a.use(p)
	if p.Agent != previous {
		a.ResolveModel(ctx) // Whoever hears of it may ask how large the window is.
		a.feed.send(Event{Kind: Switched, Text: p.Agent, Source: reason})
		announce(ctx, a, &sdk.OnAgentSwitchContext{PreviousAgent: previous, NewAgent: p.Agent, Reason: reason})
	}
	return a.record.saveMeta()
}

// SetMode makes a mode active for the current agent; "none" ends modes.
func (a *Agent) SetMode(mode string) error {
	p, err := a.opts.Resolve(a.profile.Agent, mode)
	if err != nil {
		return err
	}
	a.use(p)
	return a.record.saveMeta()
}

// Reload resolves the active profile anew from changed configuration.
func (a *Agent) Reload() error {
	p, err := a.opts.Resolve(a.profile.Agent, cmp.Or(a.profile.Mode, "none"))
	if err != nil {
		return err
	}
	a.use(p)
	return nil
}

// The state of the session, for commands and faces.

// Profile returns the active profile.
func (a *Agent) Profile() Profile { return a.profile }

// Messages returns a copy of the conversation. It may be called by any goroutine.
func (a *Agent) Messages() []message.Message { return a.conv.History.Messages() }

// Todo returns the todo list.
func (a *Agent) Todo() *todo.List { return a.conv.Todo }

// Pipeline returns the pipeline of the session.
func (a *Agent) Pipeline() *lifecycle.Pipeline { return a.opts.Pipeline }

// Switches returns what the user can turn while the session runs.
func (a *Agent) Switches() *Switches { return a.switches }

// CountInteraction counts one input of the user, command or not.
func (a *Agent) CountInteraction() { a.conv.Stats.AddInteraction() }

// Notice shows a text to the user only. It may be called by any goroutine.
func (a *Agent) Notice(source, text string) {
	a.feed.send(Event{Kind: Noticed, Source: source, Text: text})
}

// Snapshot returns the state of the session as handlers, tools, conditions and
// prompts see it. It asks nobody: what the model's server would say is in it after
// ResolveModel. It may be called while tools run.
func (a *Agent) Snapshot() sdk.Context {
	p, place := &a.profile, &a.opts.Place
	s := a.switches.Now()
	c := sdk.Context{
		Agent: p.Agent, Mode: p.Mode, Provider: p.Model.Provider, ModelInfo: a.model.info,
		Workdir: place.Workdir, Vars: place.Vars, SessionID: a.record.id(), SystemPrompt: a.prompt(),
		Auto: s.Auto, DoneActive: s.Done, MaxSteps: cmp.Or(s.MaxSteps, p.Settings.MaxSteps),
		ThinkMode: cmp.Or(s.thinkMode(p.Model.Think), "off"),
		Features: sdk.FeatureState{
			ReadBeforeWrite: p.Settings.ReadBefore, ShowThinking: s.Verbose,
			CompactionEnabled: !p.Settings.Compaction.Disabled,
			Sandbox:           place.sandbox().Enforced,
		},
	}
	if place.Servers != nil {
		c.MCPServers = place.Servers()
	}
	return a.conv.Snapshot(c)
}

// offered returns the tools that the model may call right now. It may be called while
// tools run.
func (a *Agent) offered() []tool.Tool {
	return a.profile.among(a.conv.Offer.Offered(a.switches.Done()))
}

// tokens tells how full the window is.
func (a *Agent) tokens() sdk.TokenState {
	return a.conv.TokenState(a.model.info.ContextLength, a.switches.Done())
}

// append adds a finished message to the conversation and its record.
func (a *Agent) append(m message.Message) { a.record.add(a.conv.History.Add(m)) }
