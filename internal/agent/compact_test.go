package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/sdk"
)

// compactions notes what the handlers around compactions are told.
type compactions struct {
	before []sdk.BeforeCompactionContext
	after  []sdk.AfterCompactionContext
	skip   bool
}

func (c *compactions) bindings() []lifecycle.Binding {
	return []lifecycle.Binding{
		on(lifecycle.BeforeCompaction, "c", func(d *sdk.BeforeCompactionContext) lifecycle.Reply {
			c.before = append(c.before, *d)
			return lifecycle.Reply{
				Result: sdk.Result{
					Message:    "about the compaction",
					Compaction: &sdk.CompactionModification{Skip: c.skip},
				},
			}
		}),
		on(lifecycle.AfterCompaction, "c", func(d *sdk.AfterCompactionContext) lifecycle.Reply {
			c.after = append(c.after, *d)
			return lifecycle.Reply{Result: sdk.Result{Notice: "compacted"}}
		}),
	}
}

// talk is a model that talks and summarises.
const talk = `
model: {context_length: 100000}
turns:
  - {when: Summarise this conversation, text: We talked., repeat: 100}
  - {when: hello, text: an answer, repeat: 100}
`

// small makes a profile that keeps few messages and has no tools in the way.
func small(keep int, threshold float64, max int) func(*agent.Profile) {
	return func(p *agent.Profile) {
		p.Tools = nil
		p.Settings.Compaction = agent.Compaction{Threshold: threshold, MaxTokens: max, KeepLast: keep}
	}
}

// HO-16 SD-14: /compact replaces all but the last
// messages by a summary, with the open todos; handlers are told, and what they say
// about it outlives it.
func TestCompactForced(t *testing.T) {
	c := &compactions{}
	r := newRig(t, talk, setup{handlers: c.bindings(), profile: small(2, 80, 0)})
	r.todo.Replace("plan", []todo.Item{{Content: "buy milk", Status: todo.Pending}})
	for i := range 3 {
		r.send(fmt.Sprint("hello ", i))
	}
	estimate := r.Snapshot().Tokens.Estimate
	if err := r.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	msgs := r.Messages()
	if len(msgs) != 5 || !strings.Contains(msgs[0].Content, "We talked.") ||
		!strings.Contains(msgs[0].Content, "1. [ ] buy milk") ||
		msgs[0].Role != "user" ||
		msgs[1].Content != "hello 2" ||
		msgs[2].Content != "an answer" ||
		msgs[3].Content != "compacted" ||
		msgs[4].Content != "about the compaction" {
		t.Errorf("history:\n%s", show(msgs))
	}
	if r.model.request(4).Tools != nil || !r.model.holds(4, "hello 1") || r.model.holds(4, "hello 2") {
		t.Errorf("the summary was asked for with:\n%s", show(r.model.request(4).Messages))
	}
	if len(c.before) != 1 || len(c.after) != 1 {
		t.Fatalf("%d before, %d after", len(c.before), len(c.after))
	}
	if b := c.before[0]; !b.Forced || b.TokensUsed != estimate || b.MessageCount != 6 || b.KeepLast != 2 ||
		b.ContextPercent != b.Tokens.Percent {
		t.Errorf("before: %+v", b)
	}
	if a := c.after[0]; !a.Success || a.PreMessages != 6 || a.PostMessages != 3 ||
		a.SummaryLength != len("We talked.") ||
		a.Stats.Compactions != 1 {
		t.Errorf("after: %+v", a)
	}
	state, _, err := r.store.Read(r.Log().ID())
	if err != nil || brief(state.Messages) != brief(r.Messages()) {
		t.Errorf("saved, %v:\n%s", err, show(state.Messages))
	}
	r.send("hello again")
	if got := r.Snapshot().Stats; got.Compactions != 1 {
		t.Errorf("%+v", got)
	}
}

// A handler can skip the compaction; nothing is asked of the
// model and AfterCompaction does not fire.
func TestCompactSkipped(t *testing.T) {
	c := &compactions{skip: true}
	r := newRig(t, talk, setup{handlers: c.bindings(), profile: small(2, 80, 0)})
	r.send("hello")
	r.send("hello")
	if err := r.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.model.count(2)
	if len(c.after) != 0 || len(r.Messages()) != 5 || r.Messages()[4].Content != "about the compaction" {
		t.Errorf("%d after, history:\n%s", len(c.after), show(r.Messages()))
	}
}

func TestNothingToCompact(t *testing.T) {
	r := newRig(t, talk, setup{profile: small(4, 80, 0)})
	if err := r.Compact(t.Context()); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Errorf("error %v", err)
	}
	// A summary of one short message gains nothing.
	r.send("hello")
	if err := r.Compact(t.Context()); !errors.Is(err, agent.ErrNothingToCompact) || len(r.Messages()) != 2 {
		t.Errorf("%v, history:\n%s", err, show(r.Messages()))
	}
	r.model.count(1)
	// A short conversation is compacted as far as it goes, and not twice.
	r.send("hello")
	if err := r.Compact(t.Context()); err != nil || len(r.Messages()) != 3 {
		t.Errorf("%v, history:\n%s", err, show(r.Messages()))
	}
	if err := r.Compact(t.Context()); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Error(err)
	}
	// One long message is worth a summary.
	r = newRig(t, talk, setup{profile: small(4, 80, 0)})
	r.send("hello " + strings.Repeat("and so on ", 1000))
	if err := r.Compact(t.Context()); err != nil || len(r.Messages()) != 2 {
		t.Errorf("%v, history:\n%s", err, show(r.Messages()))
	}
}

// HO-26: the history is compacted by itself when the window or the limit is
// nearly full.
func TestCompactAutomatic(t *testing.T) {
	for name, profile := range map[string]func(*agent.Profile){
		"threshold": func(p *agent.Profile) { small(2, 50, 0)(p); p.Model.Context = 400 },
		"tokens":    small(2, 90, 200),
	} {
		t.Run(name, func(t *testing.T) {
			c := &compactions{}
			r := newRig(t, talk, setup{handlers: c.bindings(), profile: profile})
			for range 3 {
				r.send("hello " + strings.Repeat("x", 300))
			}
			if len(c.before) == 0 || c.before[0].Forced || r.Snapshot().Stats.Compactions == 0 ||
				!strings.HasPrefix(r.Messages()[0].Content, "<summary>") {
				t.Errorf("%d compactions, history:\n%s", len(c.before), show(r.Messages()))
			}
			if got := len(r.seen(agent.Compacted)); got != r.Snapshot().Stats.Compactions {
				t.Errorf("%d events, %d compactions", got, r.Snapshot().Stats.Compactions)
			}
		})
	}
	r := newRig(t, talk, setup{profile: func(p *agent.Profile) {
		small(2, 50, 0)(p)
		p.Model.Context, p.Settings.Compaction.Disabled = 400, true
	}})
	for range 3 {
		r.send("hello " + strings.Repeat("x", 300))
	}
	if s := r.Snapshot(); s.Stats.Compactions != 0 || s.Features.CompactionEnabled {
		t.Error("compacted although switched off")
	}
}

// In the middle of a turn nothing is lost that the model has not seen yet: the
// results of its calls, refusals, and what was said to it.
func TestCompactInTheMiddle(t *testing.T) {
	r := newRig(t, `
turns:
  - {when: Summarise this conversation, text: We talked.}
  - text: `+strings.Repeat("long ", 200)+`
  - {calls: [{name: Ls, arguments: {}}, {name: Nope, arguments: {}}]}
  - {text: ok, expect: {contains: [We talked., "unknown tool \"Nope\"", psst], not_contains: [hello]}}
`, setup{
		handlers: []lifecycle.Binding{
			on(lifecycle.AfterToolExecution, "a", func(*sdk.AfterToolContext) lifecycle.Reply { return says("psst") }),
		},
		profile: func(p *agent.Profile) {
			p.Settings.Compaction = agent.Compaction{MaxTokens: 1, KeepLast: 5}
		},
	})
	r.send("hello")
	r.send("go")
	if r.Snapshot().Stats.Compactions == 0 {
		t.Error("not compacted at all")
	}
}

// A call and its results stay together, whatever number of messages is kept.
func TestCompactKeepsPairs(t *testing.T) {
	for keep := range 9 {
		r := newRig(t, `
turns:
  - {when: Summarise this conversation, text: We talked.}
  - {calls: [{name: Ls, arguments: {}}, {name: Ls, arguments: {}}]}
  - {calls: [{name: Ls, arguments: {}}]}
  - text: done
  - text: end
`, setup{profile: func(p *agent.Profile) { p.Settings.Compaction = agent.Compaction{KeepLast: keep} }})
		r.send("go")
		if err := r.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept := r.Messages()[1:]
		if problems := contract(kept); len(problems) > 0 || len(kept) < min(keep, 3) {
			t.Errorf("keep %d: %v\n%s", keep, problems, show(kept))
		}
		r.send("on")
	}
}

// Notices and what handlers said do not count as messages that are kept, and are not
// worth a summary on their own.
func TestCompactCountsWhatItKeeps(t *testing.T) {
	r := newRig(t, talk, setup{profile: small(2, 80, 0), handlers: []lifecycle.Binding{
		on(lifecycle.BeforeChat, "a", func(*sdk.BeforeChatContext) lifecycle.Reply { return says("noise") }),
		on(lifecycle.AfterResponse, "b", func(*sdk.AfterResponseContext) lifecycle.Reply {
			return lifecycle.Reply{Result: sdk.Result{Notice: "notice"}}
		}),
	}})
	r.send("hello one")
	r.send("hello two")
	if err := r.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := brief(r.Messages()[1:]); got != "user:hello two assistant:an answer" {
		t.Errorf("kept %s", got)
	}
	r = newRig(t, talk, setup{profile: small(2, 80, 0), handlers: []lifecycle.Binding{
		on(lifecycle.SessionStart, "a", func(*sdk.SessionStartContext) lifecycle.Reply {
			return lifecycle.Reply{Result: sdk.Result{Notice: "welcome"}}
		}),
	}})
	r.Start(t.Context(), false)
	if err := r.Compact(t.Context()); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Errorf("error %v", err)
	}
}

// HO-26: when the provider says that the request is too long, the history
// is compacted, keeping less each time, and the request made again. Handlers are
// asked once.
func TestCompactRecovery(t *testing.T) {
	const long = "  - error: {class: context_exhausted, message: too long}\n"
	const summary = "turns:\n  - {when: Summarise this conversation, text: We talked.}\n"
	for _, c := range []struct {
		name     string
		src      string
		attempts int // Compactions.
		fails    bool
	}{
		{"at once", summary + "  - text: one\n  - text: two\n" + long + "  - text: fine\n", 1, false},
		{"after three", summary + "  - text: one\n  - text: two\n" + long + long + long + "  - text: fine\n", 3, false},
		{"never", summary + "  - text: one\n  - text: two\n" + strings.Repeat(long, 9), 3, true},
		{"no summary", "turns:\n  - {when: Summarise this conversation, error: {status: 500, message: tired}}\n" +
			"  - text: one\n  - text: two\n" + strings.Repeat(long, 9), 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cs, asked := &compactions{}, 0
			r := newRig(
				t,
				c.src,
				setup{
					profile: small(3, 80, 0),
					handlers: append(
						cs.bindings(),
						on(lifecycle.OnError, "e", func(d *sdk.OnErrorContext) lifecycle.Reply {
							if asked++; d.ErrorType != "context_exhausted" {
								t.Errorf("class %s", d.ErrorType)
							}
							return lifecycle.Reply{}
						}),
					),
				},
			)
			r.send("a")
			r.send("b")
			if c.fails {
				r.fails("hello", "context window exceeded")
			} else if got := r.send("hello"); got != "fine" {
				t.Errorf("answer %q", got)
			}
			if len(cs.before) != 1 || cs.before[0].Forced || len(cs.after) != c.attempts {
				t.Errorf("%d before, %d after, want 1 and %d", len(cs.before), len(cs.after), c.attempts)
			}
			if c.fails != (asked == 1) {
				t.Errorf("OnError was asked %d times", asked)
			}
			if c.name == "no summary" &&
				//
				(cs.after[0].Success || cs.after[0].PostMessages != 0 || cs.after[0].SummaryLength != 0 || cs.after[0].PreMessages != 5) {
				t.Errorf("after: %+v", cs.after[0])
			}
		})
	}
}

// A handler that skips the recovery leaves the error to OnError.
func TestCompactRecoverySkipped(t *testing.T) {
	c := &compactions{skip: true}
	r := newRig(
		t,
		"turns: [{text: one}, {error: {class: context_exhausted, message: too long}}]\n",
		setup{profile: small(1, 80, 0), handlers: c.bindings()},
	)
	r.send("a")
	r.fails("b", "too long")
	r.model.count(2)
	if len(c.before) != 1 || len(c.after) != 0 {
		t.Errorf("%d before, %d after", len(c.before), len(c.after))
	}
}

// That a summary fails does not end the turn.
func TestCompactFails(t *testing.T) {
	r := newRig(
		t,
		"turns:\n  - {when: Summarise this conversation, text: ''}\n  - {when: hello, text: an answer}\n",
		setup{profile: small(1, 0, 1)},
	)
	r.send("hello")
	r.send("hello")
	if got := strings.Join(
		r.seen(agent.Noticed),
		"\n",
	); !strings.Contains(
		got,
		"could not be compacted: summary: the model answered nothing",
	) {
		t.Errorf("notices: %s", got)
	}
	if got := r.Snapshot().Stats.Compactions; got != 0 {
		t.Errorf("%d compactions", got)
	}
}

// HO-26: whatever number of messages is kept, what the user asked for stays word for
// word while the turn runs, and after it was broken off.
func TestCompactKeepsTheRequest(t *testing.T) {
	request := "fix it " + strings.Repeat("please ", 1000) + "now"
	for keep := range 9 {
		r := newRig(t, `
turns:
  - {when: Summarise this conversation, text: We talked.}
  - text: hi
  - {calls: [{name: Ls, arguments: {}}, {name: Quote, arguments: {}}]}
  - {calls: [{name: Ls, arguments: {}}]}
  - error: {class: context_exhausted, message: too long}
  - error: {status: 401, message: go away}
`, setup{profile: func(p *agent.Profile) {
			p.Settings.Compaction = agent.Compaction{KeepLast: keep}
			p.Tools = append(p.Tools, answers("Quote", "<summary>\nquoted\n</summary>"))
		}})
		r.send("hello")
		r.fails(request, "go away")
		check := func(when string) {
			t.Helper()
			msgs := r.Messages()
			if n := len(
				msgs,
			); n < 2 || !strings.HasPrefix(msgs[0].Content, "<summary>") || len(contract(msgs)) > 0 ||
				strings.Count(show(msgs), request) != 1 {
				t.Errorf("keep %d, %s: %v\n%s", keep, when, contract(msgs), show(msgs))
			}
		}
		check("in the turn")
		for i := range r.model.reqs {
			if r.model.holds(i+1, "Summarise this") && r.model.holds(i+1, request) {
				t.Errorf("keep %d: all of the request is to be summarised", keep)
			}
		}
		for r.Compact(t.Context()) == nil {
			check("afterwards")
		}
	}
}

// What the user asked for is all there is: nothing can be compacted.
func TestCompactOnlyTheRequest(t *testing.T) {
	r := newRig(t, "turns: [{error: {class: context_exhausted, message: too long}}]\n", setup{profile: small(0, 80, 1)})
	r.fails("hello "+strings.Repeat("x", 9000), "nothing is left to compact: the input (about 2")
	if err := r.Compact(t.Context()); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Error(err)
	}
	r.model.count(1)
}

// What has been answered is not what the user waits for: the compaction at the end of a
// turn may summarise it, and tells the model of nothing that is left to do.
func TestCompactAfterTheAnswer(t *testing.T) {
	r := newRig(t, `
model: {context_length: 1000}
turns:
  - {when: Summarise this conversation, text: We talked.}
  - text: `+strings.Repeat("word ", 900)+`
`, setup{profile: small(0, 50, 0)})
	r.send("hello")
	if msgs := r.Messages(); len(msgs) != 1 || !strings.HasPrefix(msgs[0].Content, "<summary>") ||
		strings.Contains(msgs[0].Content, "asked for last") {
		t.Errorf("after the turn:\n%s", show(msgs))
	}
}
