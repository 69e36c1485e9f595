package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// counters are the session's statistics.
type counters struct {
	start        time.Time
	interactions int
	turns        int
	iterations   int
	toolErrors   int
	parseRetries int
	compactions  int
	in, out      int
	tools        map[string]int
}

func (c *counters) snapshot() sdk.Stats {
	s := sdk.Stats{
		StartTime:    c.start,
		Duration:     time.Since(c.start),
		Interactions: c.interactions,
		Turns:        c.turns,
		Iterations:   c.iterations,
		ToolErrors:   c.toolErrors,
		ParseRetries: c.parseRetries,
		Compactions:  c.compactions,
		TokensIn:     c.in,
		TokensOut:    c.out,
	}
	for name, n := range c.tools {
		s.ToolCalls += n
		s.TopTools = append(s.TopTools, sdk.ToolCount{Name: name, Count: n})
	}
	slices.SortFunc(s.TopTools, func(a, b sdk.ToolCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// restore continues the counts of a saved session.
func (c *counters) restore(s sdk.Stats) {
	*c = counters{
		start:        time.Now().Add(-s.Duration),
		interactions: s.Interactions,
		turns:        s.Turns,
		iterations:   s.Iterations,
		toolErrors:   s.ToolErrors,
		parseRetries: s.ParseRetries,
		compactions:  s.Compactions,
		in:           s.TokensIn,
		out:          s.TokensOut,
		tools:        map[string]int{},
	}
	for _, t := range s.TopTools {
		c.tools[t.Name] = t.Count
	}
}

// Snapshot returns the state of the session as handlers, tools, conditions and
// prompts see it. It may be called while tools run.
func (a *Agent) Snapshot() sdk.Context {
	a.resolveModel(context.Background())
	todo := a.opts.Todo.Counts()
	offered := a.available()
	names := make([]string, len(offered))
	for i := range offered {
		names[i] = offered[i].Name
	}
	place := a.opts.Place
	c := sdk.Context{
		Tokens: a.tokenState(), Agent: a.profile.Agent, Mode: a.profile.Mode, ModelInfo: a.info,
		Workdir: place.Workdir, MessageCount: len(a.hist.msgs),
		Auto: a.state.auto, DoneActive: a.state.done, MaxSteps: a.maxSteps(),
		TodoPending: todo.Pending, TodoInProgress: todo.InProgress, TodoTotal: todo.Total,
		Provider: a.profile.Model.Provider, ThinkMode: a.Think(),
		Features: sdk.FeatureState{
			ReadBeforeWrite: a.profile.Settings.ReadBefore, ShowThinking: a.state.verbose,
			CompactionEnabled: !a.profile.Settings.Compaction.Disabled,
		},
		AvailableTools: names,
		Turns:          slices.Clip(a.hist.turns),
		SystemPrompt:   a.prompt(),
		Vars:           place.Vars,
		SessionTitle:   a.label.title,
	}
	if a.opts.Log != nil {
		c.SessionID = a.opts.Log.ID()
	}
	if place.Servers != nil {
		c.MCPServers = place.Servers()
	}
	if place.Sandbox != nil {
		c.Features.Sandbox = place.Sandbox().Enforced
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c.Iteration = a.turn.iteration
	c.Stats = a.stats.snapshot()
	c.PatchCounts = maps.Clone(a.turn.patches)
	c.ToolHistory = slices.Clip(a.turn.calls)
	c.LoadedTools = slices.Clone(a.loaded)
	c.ResponseEmpty, c.ResponseContentEmpty, c.HasToolCalls = a.turn.response.empty, a.turn.response.textless, a.turn.response.calls
	return c
}

// maxSteps is the number of model calls a turn may make.
func (a *Agent) maxSteps() int {
	if a.state.steps > 0 {
		return a.state.steps
	}
	return a.profile.Settings.MaxSteps
}

// available returns the tools that are offered right now: those of the profile
// and the loaded deferred ones, less what handlers disabled for this turn and what
// its condition hides.
func (a *Agent) available() []tool.Tool {
	a.mu.Lock()
	disabled, loaded, hidden := a.turn.disabled, a.loaded, a.hidden
	a.mu.Unlock()
	if len(disabled) == 0 && len(loaded) == 0 && len(hidden) == 0 && a.state.done {
		return a.profile.Tools
	}
	out := make([]tool.Tool, 0, len(a.profile.Tools))
	keep := func(t tool.Tool) bool {
		return (t.Name != doneTool || a.state.done) && !slices.Contains(hidden, t.Name) &&
			!slices.ContainsFunc(disabled, func(p string) bool { return tool.Match(p, t.Name) })
	}
	for _, t := range a.profile.Tools {
		if keep(t) {
			out = append(out, t)
		}
	}
	for _, t := range a.profile.Deferred {
		if slices.Contains(loaded, t.Name) && keep(t) {
			out = append(out, t)
		}
	}
	return out
}

// weigh decides by their conditions which tools the next request offers.
func (a *Agent) weigh(ctx context.Context) {
	a.mu.Lock()
	loaded := a.loaded
	a.mu.Unlock()
	var snap *sdk.Context
	var hidden []string
	test := func(t *tool.Tool) {
		if t.Condition == nil {
			return
		}
		if snap == nil {
			snap = new(a.Snapshot())
		}
		if !t.Condition.Eval(ctx, snap, a.opts.Place.Shell) {
			hidden = append(hidden, t.Name)
		}
	}
	for i := range a.profile.Tools {
		test(&a.profile.Tools[i])
	}
	for i := range a.profile.Deferred {
		if slices.Contains(loaded, a.profile.Deferred[i].Name) {
			test(&a.profile.Deferred[i])
		}
	}
	a.mu.Lock()
	a.hidden = hidden
	a.mu.Unlock()
}

// doneTool is offered only after /done on.
const doneTool = "Done"

// saveMeta writes what a resumed session needs to know besides its messages.
func (a *Agent) saveMeta() error {
	if a.opts.Log == nil {
		return nil
	}
	return a.opts.Log.SetMeta(a.meta())
}

// saveChoices is saveMeta if anything but the counts has changed: what was chosen before a
// turn must not be lost if the program dies in it.
func (a *Agent) saveChoices() error {
	m, old := a.meta(), a.opts.Log.Meta()
	same := m
	same.Created, same.Stats = old.Created, old.Stats
	if x, err := json.Marshal(same); err == nil {
		if y, err := json.Marshal(old); err == nil && bytes.Equal(x, y) {
			return nil
		}
	}
	return a.opts.Log.SetMeta(m)
}

// meta is what a resumed session needs to know besides its messages.
func (a *Agent) meta() session.Meta {
	summary, items := a.opts.Todo.Snapshot()
	a.mu.Lock()
	stats, loaded := a.stats.snapshot(), slices.Clone(a.loaded)
	a.mu.Unlock()
	// What the command line allowed, it allowed for this run.
	m := session.Meta{
		Title:       a.label.title,
		Name:        a.label.name,
		Agent:       a.profile.Agent,
		Mode:        a.profile.Mode,
		Model:       a.profile.Model.Name,
		Provider:    a.profile.Model.Provider,
		Think:       a.state.think,
		Switches:    session.Switches{Auto: a.state.auto && !a.opts.Auto, Done: a.state.done, Verbose: a.state.verbose},
		LoadedTools: loaded,
		Stats:       stats,
		Todo:        session.Todo{Summary: summary, Items: items},
		Workdir:     a.opts.Place.Workdir,
	}
	if a.opts.Meta != nil {
		a.opts.Meta(&m)
	}
	return m
}

// Resume continues a saved session: it takes over the log, the conversation and
// the switches, and makes its agent active. Where that agent is gone, the user
// is told and the current one goes on.
func (a *Agent) Resume(ctx context.Context, log *session.Log, state session.State) error {
	if err := a.Detach(); err != nil {
		return err
	}
	a.opts.Log = log
	m := state.Meta
	a.hist.reset(state.Messages)
	a.label.title, a.label.name = m.Title, m.Name
	a.opts.Todo.Replace(m.Todo.Summary, m.Todo.Items)
	a.state.auto, a.state.done, a.state.verbose = a.opts.Auto || m.Switches.Auto, m.Switches.Done, m.Switches.Verbose
	if a.opts.Think == "" {
		a.state.think = m.Think
	}
	a.mu.Lock()
	a.stats.restore(m.Stats)
	a.loaded = m.LoadedTools
	a.mu.Unlock()
	if state.Open {
		a.answerLost()
	}
	if m.Agent == "" {
		return nil
	}
	if err := a.Switch(ctx, m.Agent, cmpOr(m.Mode, "none"), "resume"); err != nil {
		a.Notice("resume", fmt.Sprintf("%v; agent %s goes on", err, a.profile.Agent))
	}
	return nil
}

// lostCall is what the model is told about a call in whose middle the program died.
const lostCall = "aura ended in the middle of this call: it may have been carried out, in part or in full, and " +
	"its result is not known. Find out what it did before you repeat it."

// answerLost answers the calls at the end of the history that a death of the program left
// without an answer: what they did is of concern to the model.
func (a *Agent) answerLost() {
	for i, m := range slices.Backward(a.hist.msgs) {
		if len(m.ToolCalls) == 0 {
			continue
		}
		answers, _ := answersOf(&m, a.hist.msgs[i+1:])
		var names []string
		for _, c := range m.ToolCalls {
			if slices.ContainsFunc(answers, func(x message.Message) bool { return x.ToolCallID == c.ID }) {
				continue
			}
			names = append(names, c.Name)
			a.append(message.Message{
				Message: sdk.Message{Role: message.Tool, Content: lostCall, ToolName: c.Name, ToolCallID: c.ID},
				Failed:  true,
			})
		}
		if len(names) > 0 {
			a.Notice(
				"resume",
				"aura ended in the middle of "+strings.Join(
					names,
					", ",
				)+"; what came of it is not known, and the model is told so",
			)
		}
		return
	}
}

// Begin leaves the current session and starts a new one in log.
func (a *Agent) Begin(log *session.Log) error {
	if err := a.Detach(); err != nil {
		return err
	}
	a.opts.Log = log
	a.hist.reset(nil)
	a.tokens.lastAPI = 0
	a.label.title, a.label.name = "", ""
	a.opts.Todo.Replace("", nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats, a.loaded = counters{start: time.Now()}, nil
	return nil
}

// SetTitle sets what the session is about.
func (a *Agent) SetTitle(title string) error {
	a.label.title = title
	return a.saveMeta()
}

// Title returns what the session is about.
func (a *Agent) Title() string { return a.label.title }

// SetName gives the session a name by which it can be resumed.
func (a *Agent) SetName(name string) error {
	a.label.name = name
	return a.saveMeta()
}
