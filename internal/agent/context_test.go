package agent_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// SD-06 SD-07 SD-08: the estimate covers messages and tool schemas, LastAPI is what
// the provider reported for the last call, and Percent follows from the estimate.
func TestTokenState(t *testing.T) {
	var seen []sdk.Context
	h := []lifecycle.Binding{watch(lifecycle.BeforeChat, &seen)}
	turns := "model: {context_length: 20000}\nturns:\n  - {text: one, usage: {input: 123, output: 7}}\n" +
		"  - {text: two, usage: {input: 0, output: 0}}\n"
	r := newRig(t, turns, setup{handlers: h})
	bare := newRig(t, turns, setup{handlers: h, profile: func(p *agent.Profile) { p.Tools = nil }})

	r.send("hi")
	r.send("again")
	bare.send("hi")
	first, second, toolless := seen[0].Tokens, seen[1].Tokens, seen[2].Tokens
	if first.LastAPI != 0 || second.LastAPI != 123 {
		t.Errorf("LastAPI %d then %d, want 0 then 123", first.LastAPI, second.LastAPI)
	}
	if first.Estimate <= toolless.Estimate || toolless.Estimate <= 0 {
		t.Errorf("estimate %d with tools, %d without", first.Estimate, toolless.Estimate)
	}
	if first.Max != 20000 {
		t.Errorf("Max %d", first.Max)
	}
	for _, s := range []sdk.TokenState{first, toolless} {
		if want := float64(s.Estimate) * 100 / float64(s.Max); s.Percent != want {
			t.Errorf("Percent %v, want %v", s.Percent, want)
		}
	}
	if s := r.Snapshot().Stats; s.TokensIn != 123 || s.TokensOut != 7 { // SD-14
		t.Errorf("tokens %d in, %d out", s.TokensIn, s.TokensOut)
	}
}

// SD-08: the window configured for the agent wins over the model's own.
func TestContextOverride(t *testing.T) {
	r := newRig(t, "model: {context_length: 20000}\nturns: [{text: hi}]\n", setup{
		profile: func(p *agent.Profile) { p.Model.Context = 512 },
	})
	if s := r.Snapshot(); s.Tokens.Max != 512 || s.ModelInfo.ContextLength != 512 {
		t.Errorf("Max %d, ContextLength %d", s.Tokens.Max, s.ModelInfo.ContextLength)
	} else if s.Tokens.Estimate <= 512 || s.Tokens.Percent != 100 { // More than full is full.
		t.Errorf("estimate %d, %v%%", s.Tokens.Estimate, s.Tokens.Percent)
	}
}

// server counts how often it is asked about a model.
type server struct {
	provider.Client
	asked int
}

func (s *server) Model(ctx context.Context, name string) sdk.ModelInfo {
	s.asked++
	return s.Client.Model(ctx, name)
}

// A snapshot asks nobody: it tells what is known. The server is asked once for each
// profile: before a turn, on a switch, and when somebody wants to know.
func TestResolveModel(t *testing.T) {
	s := &server{}
	r := newRig(t, "model: {context_length: 20000}\nturns: [{text: one}, {text: two}]\n", setup{
		profile: func(p *agent.Profile) { s.Client, p.Model.Client = p.Model.Client, s },
	})
	known := func(what string, asked, window int) {
		t.Helper()
		got := r.Snapshot()
		if s.asked != asked || got.ModelInfo.Name != "tiny" || got.Tokens.Max != window {
			t.Errorf("%s: asked %d times, want %d; %+v, window %d", what, s.asked, asked, got.ModelInfo, got.Tokens.Max)
		}
	}
	known("at first", 0, 0)
	r.send("a")
	known("after a turn", 1, 20000)
	r.send("b")
	known("after another", 1, 20000)
	if err := r.SetMode("plan"); err != nil {
		t.Fatal(err)
	}
	known("after another profile", 1, 0)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	r.ResolveModel(cancelled)
	known("after nobody waited for the answer", 2, 0)
	r.ResolveModel(t.Context())
	r.ResolveModel(t.Context())
	known("after it was wanted", 3, 20000)
	if err := r.Switch(t.Context(), "other", "", "user"); err != nil {
		t.Fatal(err)
	}
	known("after a switch", 4, 20000)
}

// The system prompt follows the tools that it lists.
func TestPromptFollowsDone(t *testing.T) {
	r := newRig(t, "turns: [{text: ok}]\n", setup{
		profile: func(p *agent.Profile) { p.Prompt.Agent = `{{ join .Tools.Eager " " }}` },
	})
	for _, done := range []bool{false, true, false} {
		r.Switches().SetDone(done)
		text, err := r.SystemPrompt(t.Context())
		if err != nil || slices.Contains(strings.Fields(text), "Done") != done {
			t.Errorf("done %v: %q, %v", done, text, err)
		}
	}
}

// SD-11 SD-12 SD-15 SD-23 SD-28: what is counted, and that the iteration begins
// anew with every turn.
func TestCounts(t *testing.T) {
	var seen []sdk.Context
	r := newRig(t, `
turns:
  - calls: [{name: Read, arguments: {path: a}}, {name: Read, arguments: {path: a}}, {name: Read, arguments: {path: gone}}]
  - calls: [{name: Bash, arguments: {command: "true"}}, {name: Apple, arguments: {}}]
  - text: done
  - text: again
`, setup{handlers: []lifecycle.Binding{watch(lifecycle.BeforeChat, &seen)}, tools: []tool.Tool{answers("Apple", "a")}})
	r.write("a", "text")
	r.CountInteraction() // A slash command.
	r.CountInteraction()
	r.send("one")
	r.CountInteraction()
	r.send("two")

	var iterations, total, turns []int
	for _, c := range seen {
		iterations, total, turns = append(
			iterations,
			c.Iteration,
		), append(
			total,
			c.Stats.Iterations,
		), append(
			turns,
			c.Stats.Turns,
		)
		if c.MaxSteps != 20 {
			t.Errorf("MaxSteps %d", c.MaxSteps)
		}
	}
	if !slices.Equal(iterations, []int{1, 2, 3, 1}) || !slices.Equal(total, []int{1, 2, 3, 4}) {
		t.Errorf("iterations %v, in all %v", iterations, total)
	}
	if !slices.Equal(turns, []int{1, 1, 1, 2}) { // A turn counts from its start.
		t.Errorf("turns %v", turns)
	}
	s := r.Snapshot()
	if s.Iteration != 0 {
		t.Errorf("iteration %d outside a turn", s.Iteration)
	}
	if s.Stats.Interactions != 3 || s.Stats.Turns != 2 || s.Stats.ToolCalls != 5 || s.Stats.ToolErrors != 1 {
		t.Errorf("%+v", s.Stats)
	}
	if want := []sdk.ToolCount{
		{Name: "Read", Count: 3},
		{Name: "Apple", Count: 1},
		{Name: "Bash", Count: 1},
	}; !slices.Equal(
		s.Stats.TopTools,
		want,
	) {
		t.Errorf("top tools %v, want %v", s.Stats.TopTools, want)
	}
	if s.Stats.StartTime.IsZero() || s.Stats.Duration <= 0 {
		t.Errorf("start %v, duration %v", s.Stats.StartTime, s.Stats.Duration)
	}
}

// SD-26 SD-27: the snapshot of AfterResponse describes the response.
func TestResponseState(t *testing.T) {
	var seen []sdk.Context
	r := newRig(t, `
turns:
  - {text: reading, calls: [{name: Ls, arguments: {}}]}
  - calls: [{name: Ls, arguments: {}}]
  - text: ""
`, setup{handlers: []lifecycle.Binding{watch(lifecycle.AfterResponse, &seen)}})
	r.send("go")
	want := [][3]bool{{false, false, true}, {false, true, true}, {true, true, false}}
	for i, c := range seen {
		if got := [3]bool{c.ResponseEmpty, c.ResponseContentEmpty, c.HasToolCalls}; got != want[i] {
			t.Errorf("response %d: %v, want %v", i+1, got, want[i])
		}
	}
}

// SD-18 SD-30 SD-31: the tools of the current turn, oldest first; equal arguments
// have equal ArgsJSON; patches are counted by file. All begin anew with the turn.
func TestToolHistory(t *testing.T) {
	var seen []sdk.Context
	r := newRig(t, `
turns:
  - calls:
      - {name: Write, arguments: {path: a.go, content: "x\n"}}
      - {name: Patch, arguments: {patch: "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b.go\n+b\n*** End Patch\n"}}
      - {name: Edit, arguments: {file_path: a.go, old_string: "y", new_string: "z"}}
      - {name: Edit, raw: '{"new_string":"q","old_string":"missing","file_path":"a.go"}'}
      - {name: Edit, raw: '{"file_path":"a.go","old_string":"missing","new_string":"q"}'}
  - text: done
  - text: again
`, setup{handlers: []lifecycle.Binding{watch(lifecycle.BeforeChat, &seen), watch(lifecycle.AfterToolExecution, &seen)}})
	r.send("one")
	r.send("two")
	last := seen[len(seen)-2] // Before the second model call.
	if want := map[string]int{"a.go": 2, "b.go": 1}; !reflect.DeepEqual(last.PatchCounts, want) {
		t.Errorf("PatchCounts %v, want %v", last.PatchCounts, want)
	}
	var names []string
	for _, c := range last.ToolHistory {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "Write Patch Edit Edit Edit" {
		t.Errorf("history %s", got)
	}
	h := last.ToolHistory
	if h[3].ArgsJSON != h[4].ArgsJSON || h[2].ArgsJSON == h[3].ArgsJSON {
		t.Errorf("ArgsJSON %s, %s, %s", h[2].ArgsJSON, h[3].ArgsJSON, h[4].ArgsJSON)
	}
	if h[0].Error != "" || h[0].Result == "" || h[3].Error == "" || h[0].Args["path"] != "a.go" {
		t.Errorf("records %+v, %+v", h[0], h[3])
	}
	// AfterToolExecution sees the call that it is about as the last one.
	if after := seen[1]; len(after.ToolHistory) != 1 || after.ToolHistory[0].Name != "Write" {
		t.Errorf("history in AfterToolExecution: %v", after.ToolHistory)
	}
	if next := seen[len(seen)-1]; len(next.ToolHistory) != 0 || len(next.PatchCounts) != 0 {
		t.Errorf("the next turn begins with %v and %v", next.ToolHistory, next.PatchCounts)
	}
}

// SD-20 SD-24 SD-25 SD-29 SD-32 SD-33 SD-34 SD-35 SD-36 SD-39 SD-40 SD-41: the rest
// of the snapshot.
func TestSnapshot(t *testing.T) {
	enforced := false
	r := newRig(t, `
turns:
  - calls:
      - {name: TodoCreate, arguments: {summary: s, items: [{content: a}, {content: b}, {content: c}]}}
      - {name: TodoProgress, arguments: {updates: [{index: 1, status: completed}, {index: 2, status: in_progress}]}}
  - text: done
`, setup{
		options: func(o *agent.Options) {
			o.Place.Sandbox = func() agent.SandboxState { return agent.SandboxState{Enabled: true, Enforced: enforced} }
			o.Place.Servers = func() []string { return []string{"files"} }
		},
		profile: func(p *agent.Profile) { p.Settings.Title.Length = 20 },
	})
	r.send("A rather long first line of a prompt")
	s := r.Snapshot()
	if s.TodoPending != 1 || s.TodoInProgress != 1 || s.TodoTotal != 3 {
		t.Errorf("todos %d, %d, %d", s.TodoPending, s.TodoInProgress, s.TodoTotal)
	}
	if s.Auto || s.DoneActive || s.Features.Sandbox || s.Features.ShowThinking || !s.Features.ReadBeforeWrite ||
		!s.Features.CompactionEnabled {
		t.Errorf("switches %+v", s)
	}
	if slices.Contains(s.AvailableTools, "Done") {
		t.Error("Done is available before it is switched on")
	}
	r.Switches().SetAuto(true)
	r.Switches().SetDone(true)
	r.Switches().SetVerbose(true)
	enforced = true
	if err := r.Switches().SetThink("on"); err != nil {
		t.Fatal(err)
	}
	s = r.Snapshot()
	if !s.Auto || !s.DoneActive || !s.Features.Sandbox || !s.Features.ShowThinking || s.ThinkMode != "medium" {
		t.Errorf("switches %+v", s)
	}
	if !slices.Contains(s.AvailableTools, "Done") {
		t.Error("Done is not available after it is switched on")
	}
	if s.SessionID != r.Log().ID() || len(s.SessionID) != 36 || s.SessionTitle != "A rather long first…" {
		t.Errorf("session %q, title %q", s.SessionID, s.SessionTitle)
	}
	if err := r.SetTitle("My title"); err != nil || r.Snapshot().SessionTitle != "My title" {
		t.Errorf("title %q, %v", r.Snapshot().SessionTitle, err)
	}
	if s.Provider != "script" || s.ModelInfo.Name != "tiny" || s.Vars["A"] != "b" ||
		!slices.Equal(s.MCPServers, []string{"files"}) {
		t.Errorf("%+v", s)
	}
	req := r.model.request(2)
	if s.SystemPrompt != req.System {
		t.Errorf("SystemPrompt %q, sent %q", s.SystemPrompt, req.System)
	}
	r.Switches().SetDone(false)
	var sent []string
	for _, tool := range req.Tools {
		sent = append(sent, tool.Name)
	}
	if s = r.Snapshot(); !slices.Equal(s.AvailableTools, sent) {
		t.Errorf("available %v, sent %v", s.AvailableTools, sent)
	}
}

// SD-38: Turns lists what was said, and nothing else.
func TestTurns(t *testing.T) {
	var seen []sdk.Context
	r := newRig(t, `
turns:
  - {text: I look, calls: [{name: Ls, arguments: {}}]}
  - text: empty
`, setup{handlers: []lifecycle.Binding{
		watch(lifecycle.AfterResponse, &seen),
		on(lifecycle.BeforeChat, "nag", func(*sdk.BeforeChatContext) lifecycle.Reply { return says("nag") }),
		on(lifecycle.BeforeChat, "ask", func(*sdk.BeforeChatContext) lifecycle.Reply {
			return lifecycle.Reply{Result: sdk.Result{Message: "ask", Role: sdk.RoleUser}}
		}),
		on(lifecycle.AfterToolExecution, "note", func(*sdk.AfterToolContext) lifecycle.Reply {
			return lifecycle.Reply{Result: sdk.Result{Notice: "note"}}
		}),
	}})
	r.send("hello")
	want := []sdk.Turn{
		{Role: "user", Content: "hello"},
		{Role: "assistant", Content: "I look"},
		{Role: "assistant", Content: "empty"},
	}
	if got := r.Snapshot().Turns; !slices.Equal(got, want) {
		t.Errorf("turns %v, want %v", got, want)
	}
	if got := seen[1].Turns; !slices.Equal(got, want[:2]) {
		t.Errorf("turns during the second response %v", got)
	}
}

// A deferred tool is not offered, and calling it tells how to load it.
func TestDeferredTools(t *testing.T) {
	r := newRig(t, "turns: [{text: hi}, {calls: [{name: Rare, arguments: {}}]}, {text: ok}]\n", setup{
		profile: func(p *agent.Profile) { p.Deferred = []tool.Tool{answers("Rare", "rare")} },
	})
	r.send("one")
	if r.model.offers(1, "Rare") {
		t.Error("a deferred tool is offered before it is loaded")
	}
	r.send("two")
	if !r.model.holds(3, "not loaded: call LoadTools") {
		t.Errorf("no word about loading:\n%s", show(r.model.request(3).Messages))
	}
}

// CN-37 HO-14: handlers and conditions see the state at the moment of the call.
func TestStateIsOfTheMoment(t *testing.T) {
	var calls []int
	r := newRig(
		t,
		"turns: [{calls: [{name: Ls, arguments: {}}]}, {calls: [{name: Ls, arguments: {}}]}, {text: ok}]\n",
		setup{
			handlers: []lifecycle.Binding{
				on(lifecycle.BeforeChat, "a", func(d *sdk.BeforeChatContext) lifecycle.Reply {
					calls = append(calls, d.Stats.ToolCalls)
					return lifecycle.Reply{}
				}),
			},
			profile: func(p *agent.Profile) {
				p.Prompt.Agent = "I am {{ .Agent }}, {{ .Model.Name }}, {{ index .Vars \"A\" }}."
			},
		},
	)
	r.send("go")
	if !slices.Equal(calls, []int{0, 1, 2}) {
		t.Errorf("tool calls %v", calls)
	}
	if got := r.model.request(1).System; got != "I am main, tiny, b." {
		t.Errorf("system %q", got)
	}
}

// HO-44: thinking modes reach the provider, thinking reaches handlers, and its
// signatures come back with the history.
func TestThinking(t *testing.T) {
	var thought string
	r := newRig(t, "turns: [{thinking: hmm, text: one}, {text: two, expect: {thoughts: 1}}, {text: three}]\n", setup{
		handlers: []lifecycle.Binding{
			on(lifecycle.AfterResponse, "a", func(d *sdk.AfterResponseContext) lifecycle.Reply {
				thought += d.Thinking
				return lifecycle.Reply{}
			}),
		},
	})
	r.send("a")
	if err := r.Switches().SetThink("high"); err != nil {
		t.Fatal(err)
	}
	r.send("b")
	if err := r.Switches().SetThink("on"); err != nil {
		t.Fatal(err)
	}
	r.send("c")
	if thought != "hmm" {
		t.Errorf("thought %q", thought)
	}
	for i, want := range []string{"", "high", "medium"} {
		if got := r.model.request(i + 1).Think; got != want {
			t.Errorf("request %d: mode %q, want %q", i+1, got, want)
		}
	}
	if err := r.Switches().SetThink("hard"); err == nil {
		t.Error("an unknown mode is accepted")
	}
	if got := r.seen(agent.ThoughtDelta); !slices.Equal(got, []string{"hmm"}) {
		t.Errorf("thinking shown: %q", got)
	}
}
