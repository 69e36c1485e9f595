// Package agent is the loop between the user, the model and the tools. It owns
// the conversation and dispatches every moment of its life on the pipeline. It
// reads no configuration, knows no provider and draws nothing: profiles come from
// the composition root, what happens goes to an observer.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
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
	Auto     bool
	Think    string // Overrides the profiles' thinking mode; empty does not.

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
	opts    Options
	profile Profile
	info    sdk.ModelInfo // Zero until resolved: asking a server costs a round trip.
	system  string        // Rendered prompt.
	hist    *history
	tokens  tokenScale
	state   toggles

	watch    sync.Mutex   // Serialises Observe.
	subcalls atomic.Int64 // Numbers the calls that tools make.

	mu     sync.Mutex // Guards what tools that run side by side touch.
	stats  counters
	turn   turn
	loaded []string // Deferred tools that were loaded.
	hidden []string // Tools whose condition did not hold at the latest request.
	label  label
}

// label is how the session is called.
type label struct {
	title string // What it is about.
	name  string // How the user calls it.
}

// toggles are switches the user can turn while the session runs.
type toggles struct {
	auto    bool
	done    bool
	verbose bool
	think   string // Empty: the profile's.
	steps   int    // Overrides Settings.MaxSteps; 0 does not.
}

// turn is the state of one user turn.
type turn struct {
	iteration int
	patches   map[string]int
	calls     []sdk.ToolCall
	disabled  []string           // Tool name patterns.
	offered   []tool.Tool        // With the latest request.
	said      []lifecycle.Said   // Wait for the end of a tool batch.
	notices   []lifecycle.Notice // Likewise; they have been shown already.
	response  responseState
	results   waitingResults
	finished  bool // The Done tool was called, or the loop has ended by itself.

	uncompactable bool     // A summary failed: this turn goes on without.
	failovers     []string // Agents left to try.
}

// responseState is what the snapshot says about the latest response.
type responseState struct{ empty, textless, calls, cut bool }

// New makes an agent and resolves its first profile.
func New(o Options) (*Agent, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Todo == nil {
		o.Todo = &todo.List{}
	}
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	a := &Agent{opts: o, hist: newHistory(nil), state: toggles{auto: o.Auto, think: o.Think}}
	a.stats.start = time.Now()
	p, err := o.Resolve(o.Agent, o.Mode)
	if err != nil {
		return nil, err
	}
	a.use(p)
	return a, nil
}

// use makes p the active profile.
func (a *Agent) use(p Profile) {
	a.profile = p
	a.info, a.system, a.tokens.divisor = sdk.ModelInfo{}, "", p.Settings.Divisor
}

// resolveModel finds out about the active model, once, when somebody first wants
// to know.
func (a *Agent) resolveModel(ctx context.Context) {
	m := &a.profile.Model
	if a.info.Name != "" {
		return
	}
	a.info = m.apply(m.Client.Model(ctx, m.Name))
	// A server that lets the window be chosen cuts silently what does not fit into
	// its own small default, so it is told the one that is counted with.
	if m.Context == 0 && slices.Contains(a.info.Capabilities, provider.ContextOverride) {
		a.info.ContextLength = min(a.info.ContextLength, maxChosenWindow)
		m.Generation.Context = a.info.ContextLength
	}
}

// maxChosenWindow bounds the context window that is asked for where nobody chose
// one: it costs the server memory.
const maxChosenWindow = 32768

// Switch makes another agent active, in the given mode, and tells the handlers
// why. An empty mode means the agent's own.
func (a *Agent) Switch(ctx context.Context, name, mode, reason string) error {
	p, err := a.opts.Resolve(name, mode)
	if err != nil {
		return err
	}
	previous := a.profile.Agent
	a.use(p)
	if p.Agent == previous {
		return a.saveMeta()
	}
	a.emit(Event{Kind: Switched, Text: p.Agent, Source: reason})
	out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.OnAgentSwitchContext{
		Context: a.Snapshot(), PreviousAgent: previous, NewAgent: p.Agent, Reason: reason,
	}, nil)
	a.tell(out.Outcome)
	a.say(out.Said)
	return a.saveMeta()
}

// SetMode makes a mode active for the current agent; "none" ends modes.
func (a *Agent) SetMode(mode string) error {
	p, err := a.opts.Resolve(a.profile.Agent, mode)
	if err != nil {
		return err
	}
	a.use(p)
	return a.saveMeta()
}

// Reload resolves the active profile anew from changed configuration.
func (a *Agent) Reload() error {
	mode := a.profile.Mode
	if mode == "" {
		mode = "none"
	}
	p, err := a.opts.Resolve(a.profile.Agent, mode)
	if err != nil {
		return err
	}
	a.use(p)
	return nil
}

// Start tells the handlers that the session begins.
func (a *Agent) Start(ctx context.Context, resumed bool) {
	if !a.opts.Pipeline.Has(lifecycle.SessionStart) {
		return
	}
	out := lifecycle.Emit(ctx, a.opts.Pipeline, &sdk.SessionStartContext{Context: a.Snapshot(), Resumed: resumed}, nil)
	a.tell(out.Outcome)
	a.say(out.Said)
}

// Close tells the handlers that the session ends and closes its log.
func (a *Agent) Close(ctx context.Context, reason string) error {
	a.end(ctx, reason)
	if a.opts.Log == nil {
		return nil
	}
	return errors.Join(a.saveMeta(), a.opts.Log.Sync(), a.opts.Log.Close())
}

// The state of the session, for commands and faces.

// Profile returns the active profile.
func (a *Agent) Profile() Profile { return a.profile }

// Messages returns the conversation.
func (a *Agent) Messages() []message.Message { return slices.Clone(a.hist.msgs) }

// Todo returns the todo list.
func (a *Agent) Todo() *todo.List { return a.opts.Todo }

// Pipeline returns the pipeline of the session.
func (a *Agent) Pipeline() *lifecycle.Pipeline { return a.opts.Pipeline }

// Log returns the session log; nil if nothing is kept.
func (a *Agent) Log() *session.Log { return a.opts.Log }

// Auto reports whether auto mode is on.
func (a *Agent) Auto() bool { return a.state.auto }

// SetAuto switches auto mode.
func (a *Agent) SetAuto(on bool) { a.state.auto = on }

// DoneActive reports whether the Done tool is offered.
func (a *Agent) DoneActive() bool { return a.state.done }

// SetDone offers the Done tool, or takes it away.
func (a *Agent) SetDone(on bool) { a.state.done = on }

// Verbose reports whether thinking is displayed.
func (a *Agent) Verbose() bool { return a.state.verbose }

// SetVerbose switches the display of thinking.
func (a *Agent) SetVerbose(on bool) { a.state.verbose = on }

// SetMaxSteps bounds the model calls of a turn; 0 takes the profile's bound.
func (a *Agent) SetMaxSteps(n int) { a.state.steps = n }

// Think returns the thinking mode.
func (a *Agent) Think() string {
	switch think := cmpOr(a.state.think, a.profile.Model.Think); think {
	case "":
		return "off"
	case "on":
		return "medium"
	default:
		return think
	}
}

// SetThink sets the thinking mode: off, on, low, medium or high.
func (a *Agent) SetThink(mode string) error {
	if !slices.Contains([]string{"off", "on", "low", "medium", "high"}, mode) {
		return fmt.Errorf("think: %q is not one of off, on, low, medium, high", mode)
	}
	a.state.think = mode
	return nil
}

// Clear begins the conversation anew; the todo list is emptied too.
func (a *Agent) Clear() error {
	a.opts.Todo.Replace("", nil)
	a.replace(nil)
	return a.saveMeta()
}

// replace sets the whole history and writes it to the log, as append does.
func (a *Agent) replace(msgs []message.Message) {
	a.hist.reset(msgs)
	if a.opts.Log == nil {
		return
	}
	lasting := slices.DeleteFunc(slices.Clone(a.hist.msgs), func(m message.Message) bool { return m.Eject })
	if err := a.opts.Log.Rewrite(lasting); err != nil {
		a.cannotSave(err)
	}
}

// CountInteraction counts one input of the user, command or not.
func (a *Agent) CountInteraction() { a.stats.interactions++ }

// Notice shows a text to the user only.
func (a *Agent) Notice(source, text string) { a.emit(Event{Kind: Noticed, Source: source, Text: text}) }

// emit hands an event to the observer. Safe for use by several goroutines.
func (a *Agent) emit(e Event) {
	a.watch.Lock()
	defer a.watch.Unlock()
	a.opts.Observe(e)
}

// tell shows the notices of an outcome, keeps them in the log, and takes away the
// tools it disables.
func (a *Agent) tell(out lifecycle.Outcome) {
	a.show(out.Notices)
	a.record(out.Notices)
	if len(out.DisableTools) > 0 {
		a.mu.Lock()
		a.turn.disabled = append(a.turn.disabled, out.DisableTools...)
		a.mu.Unlock()
	}
}

// show displays notices. Safe for use by several goroutines.
func (a *Agent) show(notices []lifecycle.Notice) {
	for _, n := range notices {
		a.emit(Event{Kind: Noticed, Source: n.Source.String(), Text: n.Text})
	}
}

// record keeps notices in the conversation, where no model sees them.
func (a *Agent) record(notices []lifecycle.Notice) {
	for _, n := range notices {
		a.append(message.Message{
			Message: sdk.Message{Role: message.Assistant, Content: n.Text, Type: message.DisplayOnly},
			Source:  n.Source.String(),
		})
	}
}

// say injects the messages of handlers into the conversation.
func (a *Agent) say(said []lifecycle.Said) {
	for _, s := range said {
		a.emit(Event{Kind: Injected, Source: s.Source.String(), Text: s.Text})
		a.append(message.Message{
			Message: sdk.Message{Role: string(s.Role), Content: s.Text, Type: sdk.TypeSynthetic},
			Eject:   s.Eject, Source: s.Source.String(),
		})
	}
}

// append adds a finished message to the conversation and its log. That the log
// cannot be written must not stop the conversation: the user is told once.
func (a *Agent) append(m message.Message) {
	if m.CreatedAt.IsZero() {
		m.CreatedAt = time.Now()
	}
	if m.Type == "" {
		m.Type = sdk.TypeNormal
	}
	a.hist.add(m)
	if a.opts.Log == nil || !m.Saved() || m.Eject {
		return
	}
	if m.Role == message.User && m.Type == sdk.TypeNormal {
		if err := a.saveChoices(); err != nil {
			a.cannotSave(err)
			return
		}
	}
	if err := a.opts.Log.Append(m); err != nil {
		a.cannotSave(err)
	}
}

// cannotSave gives up the log.
func (a *Agent) cannotSave(err error) {
	a.emit(Event{Kind: Noticed, Source: "session", Text: fmt.Sprintf("the session cannot be saved: %v", err)})
	_ = a.opts.Log.Close()
	a.opts.Log = nil
}

// cmpOr returns a, or b if a is empty.
func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
