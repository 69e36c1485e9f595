package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// HO-30: N model calls are allowed, then the turn ends with an error; the
// conversation goes on afterwards.
func TestMaxSteps(t *testing.T) {
	const loop = "loop: true\nturns: [{calls: [{name: Ls, arguments: {}}]}]\n"
	for _, n := range []int{1, 3} {
		r := newRig(t, loop, setup{profile: func(p *agent.Profile) { p.Settings.MaxSteps = n }})
		if err := r.fails("go", "maximum steps exceeded"); !errors.Is(err, agent.ErrMaxSteps) {
			t.Errorf("error %v", err)
		}
		r.model.count(n)
		r.fails("on", "maximum steps exceeded")
		r.model.count(2 * n)
	}
	// What the command line says wins over the profile.
	r := newRig(t, loop, setup{options: func(o *agent.Options) { o.Switches.MaxSteps = 2 }})
	if got := r.Snapshot().MaxSteps; got != 2 {
		t.Errorf("MaxSteps %d", got)
	}
	r.fails("go", "maximum steps exceeded: 2 model calls")
	r.model.count(2)
}

// A turn that ends with the last allowed call is no error.
func TestMaxStepsIsEnough(t *testing.T) {
	r := newRig(
		t,
		"turns: [{calls: [{name: Ls, arguments: {}}]}, {text: done}]\n",
		setup{profile: func(p *agent.Profile) { p.Settings.MaxSteps = 2 }},
	)
	if got := r.send("go"); got != "done" {
		t.Errorf("answer %q", got)
	}
}

func TestTokenBudget(t *testing.T) {
	r := newRig(t, "loop: true\nturns: [{calls: [{name: Ls, arguments: {}}], usage: {input: 40, output: 10}}]\n", setup{
		profile: func(p *agent.Profile) { p.Settings.TokenBudget = 100 },
	})
	if err := r.fails("go", "token budget exceeded: 100 of 100 tokens used"); !errors.Is(err, agent.ErrBudget) {
		t.Errorf("error %v", err)
	}
	r.model.count(2)
	r.fails("again", "token budget exceeded")
	r.model.count(2)
}

// HO-21: in auto mode open todos keep the loop going; without it they do not.
func TestAutoMode(t *testing.T) {
	const turns = `
turns:
  - calls: [{name: TodoCreate, arguments: {items: [{content: a}, {content: b}]}}]
  - text: one
  - {text: "", calls: [{name: TodoProgress, arguments: {updates: [{index: 1, status: completed}, {index: 2, status: in_progress}]}}]}
  - text: two
  - calls: [{name: TodoProgress, arguments: {updates: [{index: 2, status: completed}]}}]
  - text: three
`
	r := newRig(t, turns, setup{})
	if got := r.send("go"); got != "one" {
		t.Errorf("without auto mode the answer is %q", got)
	}
	r = newRig(t, turns, setup{options: func(o *agent.Options) { o.Switches.Auto = true }})
	if got := r.send("go"); got != "three" {
		t.Errorf("the answer is %q", got)
	}
	r.model.count(6)
	// The reminder is seen once and says what is open.
	for n, want := range map[int]string{1: "", 2: "", 3: "1. [ ] a", 4: "", 5: "2. [>] b", 6: ""} {
		msgs := r.model.request(n).Messages
		last := msgs[len(msgs)-1].Content
		if want == "" && r.model.holds(n, "Auto mode is on") ||
			want != "" && (!strings.HasPrefix(last, "Auto mode is on") || !strings.Contains(last, want)) {
			t.Errorf("request %d:\n%s", n, show(msgs))
		}
	}
}

// HO-32: Done is offered only when switched on, and ends the turn at once.
func TestDone(t *testing.T) {
	r := newRig(
		t,
		"turns: [{text: hi}, {text: so, calls: [{name: Ls, arguments: {}}, {name: Done, arguments: {summary: "+
			"all}}]}, {text: next}]\n",
		setup{},
	)
	r.send("a")
	r.Switches().SetDone(true)
	r.send("b")
	r.model.count(2)
	if r.model.offers(1, "Done") || !r.model.offers(2, "Done") {
		t.Error("Done is offered at the wrong time")
	}
	r.send("c")
	if !r.model.holds(3, "all") {
		t.Error("the result of Done is not in the history")
	}
}

// HO-25 SD-13: malformed arguments are handed back three times, then the turn fails.
// The exchange is seen once and then forgotten.
func TestMalformedCalls(t *testing.T) {
	bad := `  - calls: [{name: Ls, raw: '{"path": '}]` + "\n"
	r := newRig(t, "turns:\n"+bad+bad+bad+"  - text: sorry\n", setup{})
	r.send("go")
	if got := r.Snapshot().Stats; got.ParseRetries != 3 || got.ToolCalls != 0 {
		t.Errorf("%+v", got)
	}
	for n := 2; n <= 4; n++ {
		// The question, the broken call and its answer; those before are gone.
		if msgs := r.model.request(
			n,
		).Messages; len(msgs) != 3 ||
			!strings.Contains(msgs[2].Content, `not a valid JSON object: {"path": `) {
			t.Errorf("request %d:\n%s", n, show(msgs))
		}
	}
	if got := len(r.Messages()); got != 2 {
		t.Errorf("%d messages in the history:\n%s", got, show(r.Messages()))
	}

	r = newRig(t, "turns:\n"+bad+bad+bad+bad+"  - text: too late\n", setup{})
	r.fails("go", "not valid JSON 4 times in a row")
	r.model.count(4)
	if got := r.send("still there?"); got != "too late" {
		t.Errorf("answer %q", got)
	}
	// Something good in between begins the count anew.
	r = newRig(
		t,
		"turns:\n"+bad+bad+bad+"  - calls: [{name: Ls, arguments: {}}]\n"+bad+bad+bad+"  - text: ok\n",
		setup{},
	)
	r.send("go")
}

// An ejected message is in exactly one request and not in the session; one
// that is not stays. HO-54: neither is one of the kinds that people said.
func TestEject(t *testing.T) {
	said := 0
	r := newRig(
		t,
		"turns: [{calls: [{name: Ls, arguments: {}}]}, {calls: [{name: Ls, arguments: {}}]}, {text: ok}, {text: "+
			"next}]\n",
		setup{
			handlers: []lifecycle.Binding{on(lifecycle.BeforeChat, "a", func(*sdk.BeforeChatContext) lifecycle.Reply {
				if said++; said != 1 {
					return lifecycle.Reply{}
				}
				return lifecycle.Reply{
					Result: sdk.Result{Message: "once", Role: sdk.RoleUser, Eject: true, Prefix: "[a] "},
				}
			}), on(lifecycle.BeforeChat, "b", func(*sdk.BeforeChatContext) lifecycle.Reply {
				if said != 1 {
					return lifecycle.Reply{}
				}
				return says("always")
			})},
		},
	)
	r.send("go")
	r.send("on")
	for n := 1; n <= 4; n++ {
		if got := r.model.holds(n, "[a] once"); got != (n == 1) {
			t.Errorf("request %d has the ejected message: %v", n, got)
		}
		if !r.model.holds(n, "always") {
			t.Errorf("request %d lacks the other message", n)
		}
	}
	msgs := r.model.request(1).Messages
	if msgs[1].Role != "user" || msgs[1].Type != sdk.TypeSynthetic || msgs[2].Role != "assistant" {
		t.Errorf("injected:\n%s", show(msgs))
	}
	state, _, err := r.store.Read(r.Log().ID())
	if err != nil || strings.Contains(show(state.Messages), "once") ||
		!strings.Contains(show(state.Messages), "always") {
		t.Errorf("saved, %v:\n%s", err, show(state.Messages))
	}
}

// Disabled tools are gone from the next request to the end of the turn. The
// calls of a response that was already there are made.
func TestDisableTools(t *testing.T) {
	disable := lifecycle.Reply{Result: sdk.Result{DisableTools: []string{"L*", "Bash"}}}
	for _, c := range []struct {
		name    string
		handler lifecycle.Binding
		first   bool // Whether the first request offers the tools.
	}{
		{"before_chat", on(lifecycle.BeforeChat, "a", func(d *sdk.BeforeChatContext) lifecycle.Reply {
			if d.Stats.Turns > 1 {
				return lifecycle.Reply{}
			}
			return disable
		}), false},
		{"after_response", on(lifecycle.AfterResponse, "a", func(d *sdk.AfterResponseContext) lifecycle.Reply {
			if d.Stats.Turns > 1 {
				return lifecycle.Reply{}
			}
			return disable
		}), true},
		{"before_tool", on(lifecycle.BeforeToolExecution, "a", func(*sdk.BeforeToolContext) lifecycle.Reply { return disable }), true},
		{"after_tool", on(lifecycle.AfterToolExecution, "a", func(*sdk.AfterToolContext) lifecycle.Reply { return disable }), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(
				t,
				"turns: [{calls: [{name: Glob, arguments: {pattern: x}}, {name: Ls, arguments: {}}]}, {text: "+
					"ok}, {text: next}]\n",
				setup{handlers: []lifecycle.Binding{c.handler}},
			)
			r.send("go")
			r.send("on")
			if r.model.offers(1, "Ls") != c.first || r.model.offers(2, "Ls") || r.model.offers(2, "Bash") ||
				!r.model.offers(2, "Read") ||
				!r.model.offers(3, "Ls") {
				t.Error("the tools are not offered as they should")
			}
			if got := r.model.holds(2, "disabled for now"); got == c.first {
				t.Errorf("the call was refused: %v", got)
			}
		})
	}
}

// A dropped or replaced response is shown as it was, stored as
// the handler wants; the calls stay.
func TestStoredResponse(t *testing.T) {
	for _, c := range []struct {
		name         string
		modification sdk.ResponseModification
		want         string // First two messages of the second request after the user's.
	}{
		{"skip", sdk.ResponseModification{Skip: true}, ""},
		{"content", sdk.ResponseModification{Content: new("<REDACTED>")}, "<REDACTED>"},
		{"both", sdk.ResponseModification{Skip: true, Content: new("x")}, ""},
		{"empty content", sdk.ResponseModification{Content: new("")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := on(lifecycle.AfterResponse, "a", func(d *sdk.AfterResponseContext) lifecycle.Reply {
				if !strings.Contains(d.Response, "SECRET") {
					return lifecycle.Reply{}
				}
				return lifecycle.Reply{Result: sdk.Result{Response: &c.modification}}
			})
			r := newRig(
				t,
				"turns: [{thinking: hm, text: SECRET, calls: [{name: Ls, arguments: {}}]}, {text: more SECRET}, "+
					"{text: end}]\n",
				setup{handlers: []lifecycle.Binding{h}},
			)
			if got := r.send("go"); got != "more SECRET" {
				t.Errorf("answer %q", got)
			}
			r.send("on")
			second, third := r.model.request(2).Messages, r.model.request(3).Messages
			if len(second) != 3 || second[1].Content != c.want || len(second[1].ToolCalls) != 1 {
				t.Errorf("second request:\n%s", show(second))
			}
			if strings.Contains(show(third), "SECRET") {
				t.Errorf("third request:\n%s", show(third))
			}
			if c.want == "" && len(third) != 4 || c.want != "" && len(third) != 5 {
				t.Errorf("third request:\n%s", show(third))
			}
			if got := r.seen(agent.Answered); !slices.Equal(got, []string{"SECRET", "more SECRET", "end"}) {
				t.Errorf("shown %q", got)
			}
		})
	}
}

// A message that is injected after an answer makes the model go on; a notice
// or a changed text does not.
func TestInjectedMessageGoesOn(t *testing.T) {
	nagged := false
	r := newRig(t, "turns: [{text: one}, {text: two}]\n", setup{handlers: []lifecycle.Binding{
		on(lifecycle.AfterResponse, "nag", func(d *sdk.AfterResponseContext) lifecycle.Reply {
			if nagged {
				return lifecycle.Reply{Result: sdk.Result{Notice: "fine"}}
			}
			nagged = true
			return says("really?")
		}),
	}})
	if got := r.send("go"); got != "two" {
		t.Errorf("answer %q", got)
	}
	r.model.count(2)
	if msgs := r.model.request(2).Messages; len(msgs) != 3 || msgs[2].Content != "really?" {
		t.Errorf("second request:\n%s", show(msgs))
	}
	if got := r.seen(agent.Noticed); !slices.Equal(got, []string{"fine"}) {
		t.Errorf("notices %q", got)
	}
}

// What handlers say during tools comes after all results, in the order of the calls;
// notices are never sent but saved. HO-54
func TestSaidDuringTools(t *testing.T) {
	r := newRig(
		t,
		"turns: [{calls: [{name: Glob, arguments: {pattern: x}}, {name: Ls, arguments: {}}]}, {text: ok}]\n",
		setup{handlers: []lifecycle.Binding{
			on(lifecycle.AfterResponse, "r", func(d *sdk.AfterResponseContext) lifecycle.Reply {
				if len(d.Calls) == 0 {
					return lifecycle.Reply{}
				}
				if len(d.Calls) != 2 || d.Calls[0].Name != "Glob" || d.Calls[0].ArgsJSON != `{"pattern":"x"}` ||
					d.Calls[0].Result != "" ||
					d.Stats.ToolCalls != 0 {
					t.Errorf("pending calls %+v", d.Calls)
				}
				return says("response")
			}),
			on(
				lifecycle.BeforeToolExecution,
				"b",
				func(d *sdk.BeforeToolContext) lifecycle.Reply { return says("before " + d.ToolName) },
			),
			on(lifecycle.AfterToolExecution, "a", func(d *sdk.AfterToolContext) lifecycle.Reply {
				if d.ToolName == "Ls" {
					return lifecycle.Reply{Result: sdk.Result{Notice: "for you", Message: "lost"}}
				}
				return says("after " + d.ToolName)
			}),
		}},
	)
	r.send("go")
	var got []string
	for _, m := range r.model.request(2).Messages[2:] {
		got = append(got, m.Role+" "+strings.Split(m.Content, "\n")[0])
	}
	want := "tool no files match x|tool [empty]|assistant before Glob|assistant before Ls|assistant after " +
		"Glob|assistant response"
	if len(got) != 6 || strings.Join(got[2:], "|") != strings.Join(strings.Split(want, "|")[2:], "|") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "|"), want)
	}
	state, _, err := r.store.Read(r.Log().ID())
	if err != nil || !strings.Contains(show(state.Messages), "for you") ||
		strings.Contains(show(state.Messages), "lost") {
		t.Errorf("saved, %v:\n%s", err, show(state.Messages))
	}
}

// Additions to the system prompt are joined by blank lines, for
// one call only.
func TestAppendSystem(t *testing.T) {
	appends := func(name, text string) lifecycle.Binding {
		return on(lifecycle.BeforeChat, name, func(d *sdk.BeforeChatContext) lifecycle.Reply {
			if d.Iteration > 1 {
				return lifecycle.Reply{}
			}
			return lifecycle.Reply{Result: sdk.Result{Request: &sdk.RequestModification{AppendSystem: &text}}}
		})
	}
	r := newRig(
		t,
		"turns: [{calls: [{name: Ls, arguments: {}}]}, {text: ok}]\n",
		setup{handlers: []lifecycle.Binding{appends("a", "A"), appends("b", "B")}},
	)
	r.send("go")
	if one, two := r.model.request(
		1,
	).System, r.model.request(
		2,
	).System; one != "You are main.\n\nA\n\nB" ||
		two != "You are main." {
		t.Errorf("system %q, then %q", one, two)
	}
	if got := r.Snapshot().SystemPrompt; got != "You are main." {
		t.Errorf("snapshot %q", got)
	}
	if len(r.Messages()) != 4 {
		t.Errorf("something was injected:\n%s", show(r.Messages()))
	}
}

// A skipped call is no error; what was said with it stays.
func TestSkipChat(t *testing.T) {
	r := newRig(
		t,
		"turns: [{text: never}]\n",
		setup{handlers: []lifecycle.Binding{on(lifecycle.BeforeChat, "a", func(*sdk.BeforeChatContext) lifecycle.Reply {
			return lifecycle.Reply{Result: sdk.Result{Request: &sdk.RequestModification{Skip: true}, Notice: "skipped"}}
		})}},
	)
	if got := r.send("go"); got != "" {
		t.Errorf("answer %q", got)
	}
	r.model.count(0)
	if got := r.seen(agent.Noticed); !slices.Equal(got, []string{"skipped"}) {
		t.Errorf("notices %q", got)
	}
}

// A handler may rewrite what the user says, or refuse it; a refused input leaves
// nothing behind.
func TestUserMessage(t *testing.T) {
	r := newRig(
		t,
		"turns: [{text: ok}]\n",
		setup{
			handlers: []lifecycle.Binding{
				on(lifecycle.UserMessage, "gate", func(d *sdk.UserMessageContext) lifecycle.Reply {
					if strings.Contains(d.Text, "password") {
						return lifecycle.Reply{Block: true, Reason: "no secrets please"}
					}
					return lifecycle.Reply{Text: new(strings.ToUpper(d.Text))}
				}),
			},
		},
	)
	err := r.fails("my password", `refused by plugin "gate": no secrets please`)
	if refused, ok := errors.AsType[*agent.RefusedError](err); !ok || refused.Reason != "no secrets please" {
		t.Errorf("error %#v", err)
	}
	if len(r.Messages()) != 0 || r.Snapshot().Stats.Turns != 0 || r.Log().Saved() {
		t.Errorf(
			"a refused input leaves %s, %d turns, saved %v",
			show(r.Messages()),
			r.Snapshot().Stats.Turns,
			r.Log().Saved(),
		)
	}
	r.send("hello")
	if got := r.model.request(1).Messages[0].Content; got != "HELLO" {
		t.Errorf("the model got %q", got)
	}
}

func TestInputTooLong(t *testing.T) {
	r := newRig(
		t,
		"model: {context_length: 1000}\nturns: [{text: ok}]\n",
		setup{profile: func(p *agent.Profile) { p.Settings.InputShare = 50 }},
	)
	r.fails(strings.Repeat("word ", 500), "more than 50% of the 1000 token window")
	r.model.count(0)
	r.send("short")
}

// The session begins and ends exactly once, also when a turn fails.
func TestSessionMoments(t *testing.T) {
	var log []string
	note := func(m lifecycle.Moment) lifecycle.Binding {
		return lifecycle.Binding{Source: lifecycle.Source{Name: "w"}, Moment: m, Handler: lifecycle.HandlerFunc(
			func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				switch d := ev.Data.(type) {
				case *sdk.SessionStartContext:
					log = append(log, fmt.Sprint("start ", d.Resumed))
				case *sdk.SessionEndContext:
					log = append(log, "end "+d.Reason)
				}
				return lifecycle.Reply{}, nil
			})}
	}
	r := newRig(
		t,
		"turns: [{error: {class: auth, message: no}}]\n",
		setup{handlers: []lifecycle.Binding{note(lifecycle.SessionStart), note(lifecycle.SessionEnd)}},
	)
	r.Start(t.Context(), false)
	r.fails("go", "authentication failed")
	if err := r.Close(t.Context(), "error"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, ", "); got != "start false, end error" {
		t.Errorf("moments: %s", got)
	}
}

// Cancelling ends the turn with the context's error; nothing of the answer is kept
// and the conversation goes on. HO-64
func TestCancelWhileStreaming(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, "turns: [{text: one two three, chunk_delay: 1h}, {text: fine, expect: {messages: 2}}]\n", setup{
		options: func(o *agent.Options) {
			o.Observe = func(e agent.Event) {
				if e.Kind == agent.TextDelta {
					cancel()
				}
			}
		},
	})
	if _, err := r.Send(ctx, agent.Input{Text: "go"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	r.send("again")
}
