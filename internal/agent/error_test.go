package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// recovers is an OnError handler.
func recovers(name string, f func(*sdk.OnErrorContext) sdk.ErrorModification) lifecycle.Binding {
	return on(lifecycle.OnError, name, func(d *sdk.OnErrorContext) lifecycle.Reply {
		return lifecycle.Reply{Result: sdk.Result{Error: new(f(d))}}
	})
}

func always(m sdk.ErrorModification) func(*sdk.OnErrorContext) sdk.ErrorModification {
	return func(*sdk.OnErrorContext) sdk.ErrorModification { return m }
}

// Retry and skip. Three retries are four requests; a
// retry is no iteration; when they are used up, OnError is asked once more.
func TestErrorRetryAndSkip(t *testing.T) {
	const broken = "loop: true\nturns: [{error: {status: 503, message: down}}]\n"
	retry, skip := always(sdk.ErrorModification{Retry: true}), always(sdk.ErrorModification{Skip: true})
	for _, c := range []struct {
		name     string
		handlers []lifecycle.Binding
		requests int
		fails    bool
	}{
		{"nobody", nil, 1, true},
		{"nothing", []lifecycle.Binding{recovers("a", always(sdk.ErrorModification{}))}, 1, true},
		{"retry", []lifecycle.Binding{recovers("a", retry)}, 4, true},
		{"skip", []lifecycle.Binding{recovers("a", skip)}, 1, false},
		{"retry and skip", []lifecycle.Binding{recovers("a", retry), recovers("b", skip)}, 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var iterations []int
			watch := on(lifecycle.OnError, "w", func(d *sdk.OnErrorContext) lifecycle.Reply {
				iterations = append(iterations, d.Iteration, d.Stats.Iterations)
				return lifecycle.Reply{}
			})
			r := newRig(t, broken, setup{handlers: append(c.handlers, watch)})
			if c.fails {
				r.fails("go", "script: provider server error (HTTP 503): down")
			} else if got := r.send("go"); got != "" {
				t.Errorf("answer %q", got)
			}
			r.model.count(c.requests)
			if want := slices.Repeat([]int{1}, 2*c.requests); !slices.Equal(iterations, want) {
				t.Errorf("iterations %v, want %v", iterations, want)
			}
		})
	}
}

// A retry that works is a normal answer; the count of retries is per call. Messages
// of the handler are kept.
func TestErrorThenAnswer(t *testing.T) {
	fail := "  - {error: {status: 503, message: down}}\n"
	src := "turns:\n" + fail + fail + fail + "  - {calls: [{name: Ls, arguments: {}}]}\n" + fail + fail + fail + "  - {text: fine}\n"
	r := newRig(
		t,
		src,
		setup{handlers: []lifecycle.Binding{on(lifecycle.OnError, "a", func(d *sdk.OnErrorContext) lifecycle.Reply {
			return lifecycle.Reply{
				Result: sdk.Result{Error: &sdk.ErrorModification{Retry: d.Retryable}, Notice: "trying again"},
			}
		})}},
	)
	if got := r.send("go"); got != "fine" {
		t.Errorf("answer %q", got)
	}
	r.model.count(8)
	if got := len(r.seen(agent.Noticed)); got != 6 {
		t.Errorf("%d notices", got)
	}
	if got := r.Snapshot().Stats.Iterations; got != 2 {
		t.Errorf("%d iterations", got)
	}
}

// What OnError is told about each class.
func TestErrorClasses(t *testing.T) {
	for _, c := range []struct {
		script, class string
		status        int
		retryable     bool
	}{
		{"status: 429", "rate_limit", 429, true},
		{"status: 401", "auth", 401, false},
		{"status: 403", "auth", 403, false},
		{"class: network", "network", 0, true},
		{"status: 500", "server", 500, true},
		{"class: content_filter, status: 400", "content_filter", 400, false},
		{"status: 402", "credit_exhausted", 402, false},
		{"status: 404", "model_unavailable", 404, false},
		{"class: context_exhausted, status: 400", "context_exhausted", 400, false},
		{"status: 418", "", 418, false},
	} {
		var seen []sdk.OnErrorContext
		r := newRig(
			t,
			fmt.Sprintf("turns: [{error: {%s, message: the words}}]\n", c.script),
			setup{handlers: []lifecycle.Binding{
				on(lifecycle.OnError, "a", func(d *sdk.OnErrorContext) lifecycle.Reply {
					seen = append(seen, *d)
					return lifecycle.Reply{}
				}),
			}},
		)
		r.fails("go", "the words")
		if len(seen) != 1 {
			t.Fatalf("%s: OnError was called %d times", c.script, len(seen))
		}
		if d := seen[0]; d.ErrorType != c.class || d.StatusCode != c.status || d.Retryable != c.retryable ||
			!strings.Contains(d.Error, "the words") {
			t.Errorf("%s: %+v", c.script, d)
		}
	}
}

// HO-24: fallback agents are tried in order before OnError; one that cannot
// be resolved is passed over. HO-23: handlers are told why.
func TestFailover(t *testing.T) {
	var switches []string
	asked := 0
	r := newRig(t, `
turns:
  - error: {status: 503, message: down}
  - error: {status: 503, message: down too}
  - {text: third, expect: {contains: ["You are b."]}}
  - {text: fourth}
`, setup{
		handlers: []lifecycle.Binding{
			on(lifecycle.OnAgentSwitch, "w", func(d *sdk.OnAgentSwitchContext) lifecycle.Reply {
				switches = append(switches, d.PreviousAgent+">"+d.NewAgent+" "+d.Reason+" "+d.Agent)
				return lifecycle.Reply{}
			}),
			on(lifecycle.OnError, "e", func(*sdk.OnErrorContext) lifecycle.Reply { asked++; return lifecycle.Reply{} }),
		},
		profile: func(p *agent.Profile) {
			if p.Agent == "main" {
				p.Fallback = []string{"a", "nobody", "b"}
			}
		},
	})
	if got := r.send("go"); got != "third" {
		t.Errorf("answer %q", got)
	}
	if got := strings.Join(switches, ", "); got != "main>a failover a, a>b failover b" {
		t.Errorf("switches: %s", got)
	}
	if asked != 0 {
		t.Errorf("OnError was asked %d times", asked)
	}
	r.send("on")
	if got := r.Snapshot().Agent; got != "b" {
		t.Errorf("agent %s", got)
	}
	if got := strings.Join(
		r.seen(agent.Noticed),
		"\n",
	); !strings.Contains(got, "down; agent a takes over") ||
		!strings.Contains(got, `agent nobody cannot take over: no agent "nobody"`) {
		t.Errorf("notices:\n%s", got)
	}
}

// Neither a content filter, nor an answer that has begun, nor cancellation is
// evaded by failover; when all fail, OnError is asked about the last error.
func TestNoFailover(t *testing.T) {
	fallback := func(p *agent.Profile) {
		if p.Agent == "main" {
			p.Fallback = []string{"a"}
		}
	}
	for _, turn := range []string{"{error: {class: content_filter, message: bad}}", "{text: half an, error: " +
		"{status: 500, message: bad}}", "{text: half an, cut: true}"} {
		r := newRig(t, "turns: ["+turn+", {text: evaded}]\n", setup{profile: fallback})
		r.fails("go", "")
		r.model.count(1)
		if got := r.Snapshot().Agent; got != "main" {
			t.Errorf("%s: agent %s", turn, got)
		}
		if got := len(r.Messages()); got != 1 {
			t.Errorf("%s: something of the answer is kept:\n%s", turn, show(r.Messages()))
		}
	}
	var errs []string
	r := newRig(
		t,
		"turns: [{error: {status: 500, message: first}}, {error: {status: 500, message: second}}]\n",
		setup{profile: fallback,
			handlers: []lifecycle.Binding{on(lifecycle.OnError, "e", func(d *sdk.OnErrorContext) lifecycle.Reply {
				errs = append(errs, d.Agent+": "+d.Error)
				return lifecycle.Reply{}
			})}},
	)
	r.fails("go", "second")
	if len(errs) != 1 || !strings.HasPrefix(errs[0], "a: ") {
		t.Errorf("OnError saw %q", errs)
	}
}

// What was shown of an answer that failed is declared void before it begins anew.
func TestRestart(t *testing.T) {
	r := newRig(
		t,
		"turns: [{text: half, cut: true}, {text: whole}]\n",
		setup{handlers: []lifecycle.Binding{recovers("a", always(sdk.ErrorModification{Retry: true}))}},
	)
	r.send("go")
	var kinds []string
	for _, e := range r.events {
		kinds = append(kinds, string(e.Kind))
	}
	if got := strings.Join(kinds, " "); got != "turn_start text restart text answer turn_end" {
		t.Errorf("events: %s", got)
	}
	if got := len(r.Messages()); got != 2 {
		t.Errorf("messages:\n%s", show(r.Messages()))
	}
}
