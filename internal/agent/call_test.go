package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// meeting is a tool that comes back only when n calls of it run at the same time.
func meeting(name string, n int) tool.Tool {
	var wg sync.WaitGroup
	wg.Add(n)
	return fake(name, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		wg.Done()
		met := make(chan struct{})
		go func() { wg.Wait(); close(met) }()
		select {
		case <-met:
			return tool.Result{Text: "met " + c.ID}, nil
		case <-time.After(patience):
			return tool.Result{}, errors.New("nobody came")
		}
	})
}

// alone is a tool that fails if another call of it runs at the same time.
func alone(name string, serial bool) tool.Tool {
	var mu sync.Mutex
	t := fake(name, func(context.Context, tool.Call) (tool.Result, error) {
		if !mu.TryLock() {
			return tool.Result{}, errors.New("crowded")
		}
		defer mu.Unlock()
		for range 1000 { // Give others a chance to be wrong.
			ctxSwitch()
		}
		return tool.Result{Text: "alone"}, nil
	})
	t.Serial = serial
	return t
}

func ctxSwitch() { c := make(chan int); go close(c); <-c }

// journal is where handlers note the order of things.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) String() string { return strings.Join(j.lines, " ") }

// around notes every tool call before and after.
func (j *journal) around() []lifecycle.Binding {
	return []lifecycle.Binding{
		on(lifecycle.BeforeToolExecution, "j", func(d *sdk.BeforeToolContext) lifecycle.Reply {
			j.note("<%s", d.ToolCallID)
			return lifecycle.Reply{}
		}),
		on(lifecycle.AfterToolExecution, "j", func(d *sdk.AfterToolContext) lifecycle.Reply {
			j.note("%s>", d.ToolCallID)
			return lifecycle.Reply{}
		}),
	}
}

// HO-40: neighbours that may run side by side do; before-handlers, after-handlers
// and results are in the order of the calls.
func TestParallelCalls(t *testing.T) {
	j := &journal{}
	serial := answers("Alone", "ok")
	serial.Serial = true
	r := newRig(t, `
turns:
  - calls: [{name: Meet, id: a}, {name: Meet, id: b}, {name: Meet, id: c}, {name: Alone, id: d}, {name: Apple, id: e}, {name: Apple, id: f}]
  - text: ok
`, setup{tools: []tool.Tool{meeting("Meet", 3), serial, answers("Apple", "apple")}, handlers: j.around()})
	r.send("go")
	if got, want := j.String(), "<a <b <c a> b> c> <d d> <e <f e> f>"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if got, want := brief(
		r.model.request(2).Messages[2:],
	), "tool:met a tool:met b tool:met c tool:ok tool:apple tool:apple"; got != want {
		t.Errorf("results %s", got)
	}
}

// HO-40: a serial tool never runs beside another call, and nothing does where
// tools.parallel is off.
func TestSerialCalls(t *testing.T) {
	const turns = "turns: [{calls: [{name: One, id: a}, {name: One, id: b}, {name: One, id: c}]}, {text: ok, " +
		"expect: {not_contains: [crowded]}}]\n"
	for _, serial := range []bool{true, false} { // The tool, or all tools.
		j := &journal{}
		newRig(t, turns, setup{
			tools: []tool.Tool{
				alone("One", serial),
			},
			handlers: j.around(),
			profile:  func(p *agent.Profile) { p.Settings.Serial = !serial },
		}).send("go")
		if got, want := j.String(), "<a a> <b b> <c c>"; got != want {
			t.Errorf("serial tool %v: order %s, want %s", serial, got, want)
		}
	}
}

// What cannot be called tells the model why, all problems at once. The exchange is
// seen once and then forgotten together with its calls; the good call stays.
func TestRejectedCalls(t *testing.T) {
	after := 0
	r := newRig(t, `
turns:
  - calls:
      - {name: Nope, id: a}
      - {name: Hidden, id: b}
      - {name: Ls, id: c, arguments: {path: 5, depth: many, color: red}}
      - {name: Bash, id: d}
      - {name: Apple, id: e}
      - {name: Done, id: f, arguments: {summary: x}}
  - {calls: [{name: Apple, id: g}]}
  - text: ok
`, setup{
		tools: []tool.Tool{answers("Apple", "apple"), answers("Hidden", "x")},
		profile: func(p *agent.Profile) {
			p.Mode = "plan"
			p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t tool.Tool) bool { return t.Name == "Hidden" })
		},
		handlers: []lifecycle.Binding{
			on(
				lifecycle.AfterToolExecution,
				"a",
				func(*sdk.AfterToolContext) lifecycle.Reply { after++; return lifecycle.Reply{} },
			),
		},
	})
	r.send("go")
	second := r.model.request(2).Messages
	for i, want := range [][]string{
		{`unknown tool "Nope"; the tools are: Bash, Read,`}, {`tool "Hidden" is not available in mode plan`},
		{"invalid arguments", "path", "depth", "color"}, {"command"}, {"apple"}, {`"Done" is disabled for now`},
	} {
		for _, w := range want {
			if got := second[2+i].Content; !strings.Contains(got, w) {
				t.Errorf("answer %d lacks %q: %s", i+1, w, got)
			}
		}
	}
	if got, want := brief(
		r.model.request(3).Messages,
	), "user:go assistant:+e tool:apple assistant:+g tool:apple"; got != want {
		t.Errorf("third request %s\nwant %s", got, want)
	}
	if s := r.Snapshot().Stats; after != 2 || s.ToolCalls != 2 || s.ToolErrors != 0 {
		t.Errorf("%d times after, %+v", after, s)
	}
}

// Rewritten arguments are used, chained and
// checked; a call that became invalid is not made, and what was said about it is not
// said.
func TestRewrittenArguments(t *testing.T) {
	rewrite := func(name string, f func(map[string]any)) lifecycle.Binding {
		return on(lifecycle.BeforeToolExecution, name, func(d *sdk.BeforeToolContext) lifecycle.Reply {
			args := tool.CloneArgs(d.Arguments)
			f(args)
			return lifecycle.Reply{Result: sdk.Result{Message: "said by " + name}, Arguments: args}
		})
	}
	add := func(s string) func(map[string]any) {
		return func(a map[string]any) { a["command"] = a["command"].(string) + s }
	}
	const turns = "turns: [{calls: [{name: Bash, arguments: {command: echo x}}]}, {text: ok}]\n"
	r := newRig(t, turns, setup{handlers: []lifecycle.Binding{rewrite("a", add("a")), rewrite("b", add("b"))}})
	r.send("go")
	if got, want := brief(
		r.model.request(2).Messages[2:],
	), "tool:xab assistant:said by a assistant:said by b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, f := range map[string]func(map[string]any){
		"unknown": func(a map[string]any) { a["zzz"] = 1 },
		"type":    func(a map[string]any) { a["command"] = 5 },
		"missing": func(a map[string]any) { delete(a, "command") },
	} {
		r := newRig(t, turns, setup{handlers: []lifecycle.Binding{rewrite("a", f), rewrite("b", add("b"))}})
		r.send("go")
		if got := brief(
			r.model.request(2).Messages[2:],
		); !strings.HasPrefix(got, "tool:Error: plugin modified arguments are invalid: ") || !strings.Contains(got, `(plugin "a")`) ||
			strings.Contains(got, "said by") {
			t.Errorf("%s: %s", name, got)
		}
		if got := r.Snapshot().Stats.ToolCalls; got != 0 {
			t.Errorf("%s: the tool ran", name)
		}
	}
}

// One veto is enough, and later handlers are not asked.
func TestBlockedCall(t *testing.T) {
	asked := false
	r := newRig(
		t,
		"turns: [{calls: [{name: Write, arguments: {path: a, content: x}}]}, {text: ok, expect: {last: [not "+
			"today]}}, {text: ok, expect: {not_contains: [not today]}}]\n",
		setup{handlers: []lifecycle.Binding{
			on(
				lifecycle.BeforeToolExecution,
				"a",
				func(*sdk.BeforeToolContext) lifecycle.Reply { return says("fine with me") },
			),
			on(lifecycle.BeforeToolExecution, "b", func(*sdk.BeforeToolContext) lifecycle.Reply {
				return lifecycle.Reply{Block: true, Reason: "not today"}
			}),
			on(
				lifecycle.BeforeToolExecution,
				"c",
				func(*sdk.BeforeToolContext) lifecycle.Reply { asked = true; return lifecycle.Reply{} },
			),
		}},
	)
	r.send("go")
	if r.read("a") != "" || asked || r.model.holds(2, "fine with me") {
		t.Errorf("written %q, asked %v", r.read("a"), asked)
	}
	r.send("on")
}

// After-handlers see result, error and duration, and
// each may replace the text that the one before left.
func TestReplacedOutput(t *testing.T) {
	var seen []sdk.AfterToolContext
	replace := func(name string, f func(string) *string) lifecycle.Binding {
		return on(lifecycle.AfterToolExecution, name, func(d *sdk.AfterToolContext) lifecycle.Reply {
			seen = append(seen, *d)
			return lifecycle.Reply{Result: sdk.Result{Output: f(d.ToolResult)}}
		})
	}
	broken := fake("Broken", func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "half"}, errors.New("broke")
	})
	turns := "turns: [{calls: [{name: Apple}, {name: Broken}]}, {text: ok}]\n"
	r := newRig(t, turns, setup{tools: []tool.Tool{answers("Apple", "apple"), broken}, handlers: []lifecycle.Binding{
		replace("a", func(s string) *string { return new(s + "a") }),
		replace("b", func(s string) *string { return new(s + "b") }),
		replace("c", func(string) *string { return nil }),
	}})
	r.send("go")
	if got, want := brief(r.model.request(2).Messages[2:]), "tool:appleab tool:halfab"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if seen[0].ToolResult != "apple" || seen[1].ToolResult != "applea" || seen[2].ToolResult != "appleab" ||
		seen[0].ToolError != "" ||
		seen[0].ToolDuration <= 0 ||
		seen[3].ToolError != "broke" ||
		seen[3].ToolName != "Broken" {
		t.Errorf("%+v", seen)
	}
	r = newRig(
		t,
		turns,
		setup{
			tools:    []tool.Tool{answers("Apple", "apple"), broken},
			handlers: []lifecycle.Binding{replace("a", func(string) *string { return new("") })},
		},
	)
	r.send("go")
	if got, want := brief(r.model.request(2).Messages[2:]), "tool: tool:"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r = newRig(t, turns, setup{tools: []tool.Tool{answers("Apple", "apple"), broken}})
	r.send("go")
	if got, want := brief(r.model.request(2).Messages[2:]), "tool:apple tool:half\n\nError: broke"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A tool that panics, or does not come back, fails; the turn goes on.
func TestBadTools(t *testing.T) {
	free := make(chan struct{})
	t.Cleanup(func() { close(free) })
	stuck := fake("Stuck", func(context.Context, tool.Call) (tool.Result, error) { <-free; return tool.Result{}, nil })
	stuck.Timeout = time.Millisecond
	patient := fake("Patient", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	patient.Timeout = time.Millisecond
	r := newRig(
		t,
		"turns: [{calls: [{name: Bomb}, {name: Stuck}, {name: Patient}, {name: Edit, arguments: {}}]}, {text: ok}]\n",
		setup{
			tools: []tool.Tool{
				fake("Bomb", func(context.Context, tool.Call) (tool.Result, error) { panic("boom") }),
				stuck,
				patient,
			},
			profile: func(p *agent.Profile) { // Somebody else's Edit, which declares no paths.
				p.Tools = append(
					slices.DeleteFunc(slices.Clone(p.Tools), func(t tool.Tool) bool { return t.Name == "Edit" }),
					answers("Edit", "edited"),
				)
			},
		},
	)
	r.send("go")
	got := r.model.request(2).Messages[2:]
	for i, want := range []string{"Error: tool Bomb panicked: boom", "Error: timed out after 1ms", "", "edited"} {
		if !strings.HasPrefix(got[i].Content, want) {
			t.Errorf("result %d: %s", i+1, got[i].Content)
		}
	}
	if s := r.Snapshot().Stats; s.ToolErrors != 3 || s.ToolCalls != 4 {
		t.Errorf("%+v", s)
	}
}

// A result that would fill the window is cut in the middle, an error too.
func TestResultLimit(t *testing.T) {
	flood := strings.Repeat("ä", 50_000)
	r := newRig(t, "turns: [{calls: [{name: Flood}, {name: Fail}, {name: Apple}]}, {text: ok}]\n", setup{
		tools: []tool.Tool{
			answers("Flood", "begin"+flood+"end"),
			answers("Apple", "apple"),
			fake("Fail", func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{}, errors.New("begin" + flood + "end")
			}),
		},
		profile: func(p *agent.Profile) { p.Settings.Result.Tokens = 500 },
	})
	r.send("go")
	for _, m := range r.model.request(2).Messages[2:4] {
		if len(m.Content) > 2400 || !strings.Contains(m.Content, "begin") || !strings.HasSuffix(m.Content, "end") ||
			!strings.Contains(m.Content, "larger than 500 tokens") || strings.Contains(m.Content, "\ufffd") {
			t.Errorf("%d bytes: %.60s", len(m.Content), m.Content)
		}
	}
	// In percent of the window.
	r = newRig(t, "model: {context_length: 8000}\nturns: [{calls: [{name: Flood}]}, {text: ok}]\n", setup{
		tools:   []tool.Tool{answers("Flood", flood)},
		profile: func(p *agent.Profile) { p.Settings.Result.Percent = 90 },
	})
	r.send("go")
	if got := r.model.request(2).Messages[2]; len(got.Content) > 4*8000 || len(got.Content) < 256 {
		t.Errorf("%d bytes", len(got.Content))
	}
}

// The results of one response share what is left of the window, whether or not their
// tools run together: a small one is whole, the large ones divide the rest.
func TestResultsShareTheWindow(t *testing.T) {
	flood := strings.Repeat("flood ", 20_000)
	for _, serial := range []bool{false, true} {
		r := newRig(
			t,
			"model: {context_length: 8000}\n"+
				"turns: [{calls: [{name: Flood}, {name: Apple}, {name: Flood}, {name: Flood}]}, {text: ok}]\n",
			setup{
				tools: []tool.Tool{answers("Flood", flood), answers("Apple", "apple")},
				profile: func(p *agent.Profile) {
					p.Settings.Serial, p.Settings.Result, p.Settings.Compaction.Disabled = serial, agent.ResultLimit{
						Tokens:  1,
						Percent: 90,
					}, true
				},
			},
		)
		r.send("go")
		var sizes []int
		total := 0
		for _, m := range r.model.request(2).Messages[2:] {
			sizes = append(sizes, len(m.Content)/4)
			total += len(m.Content) / 4
		}
		if r.model.request(2).Messages[3].Content != "apple" {
			t.Errorf("the small result was cut: %d tokens", sizes[1])
		}
		// Three notes about what was left out, and a least size for each, are over the limit.
		if total > 8000*95/100 {
			t.Errorf("serial %v: results of %d tokens fill the window: %v", serial, total, sizes)
		}
		if small, large := min(
			sizes[0],
			sizes[2],
			sizes[3],
		), max(
			sizes[0],
			sizes[2],
			sizes[3],
		); !serial &&
			large-small > 200 {
			t.Errorf("results that ran together are not cut alike: %v", sizes)
		}
		if after := r.Snapshot().Tokens; after.Estimate > after.Max {
			t.Errorf("serial %v: %d tokens in a window of %d", serial, after.Estimate, after.Max)
		}
	}
	// Where the window is unknown, the number of tokens counts.
	r := newRig(t, "model: {context_length: 0}\nturns: [{calls: [{name: Flood}]}, {text: ok}]\n", setup{
		tools:   []tool.Tool{answers("Flood", flood)},
		profile: func(p *agent.Profile) { p.Settings.Result = agent.ResultLimit{Tokens: 500, Percent: 90} },
	})
	r.send("go")
	if window, got := r.Snapshot().Tokens.Max, len(r.model.request(2).Messages[2].Content); window == 0 && got > 2400 {
		t.Errorf("%d bytes", got)
	}
}

// Output of a running tool is shown while it runs.
func TestLiveOutput(t *testing.T) {
	r := newRig(
		t,
		"turns: [{calls: [{name: Bash, id: b1, arguments: {command: 'echo one; echo two'}}]}, {text: ok}]\n",
		setup{},
	)
	r.send("go")
	var kinds []string
	var live string
	for _, e := range r.events {
		if e.Tool == "" {
			continue
		}
		if e.CallID != "b1" || e.Tool != "Bash" {
			t.Errorf("event %+v", e)
		}
		if e.Kind == agent.ToolOutput {
			live += e.Text
			e.Kind = "out"
		}
		kinds = append(kinds, string(e.Kind))
	}
	if got := strings.Join(slices.Compact(kinds), " "); got != "tool_start out tool_end" || live != "one\ntwo\n" {
		t.Errorf("events %s, output %q", got, live)
	}
}

// HO-64: cancelling in the middle of tools ends the turn; the call that ran and those
// that never started are answered, so the next request is well formed.
func TestCancelInTool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := &journal{}
	r := newRig(
		t,
		"turns: [{text: I try, calls: [{name: Wait, id: a}, {name: Apple, id: b}]}, {text: ok, expect: "+
			"{contains: [I try]}}]\n",
		setup{
			tools: []tool.Tool{
				{
					Name:   "Wait",
					Schema: nothing(),
					Serial: true,
					Execute: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
						cancel()
						<-ctx.Done()
						return tool.Result{}, ctx.Err()
					},
				},
				answers("Apple", "apple"),
			},
			handlers: j.around(),
		},
	)
	if _, err := r.Send(ctx, agent.Input{Text: "go"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if got := r.Snapshot().Stats; got.ToolCalls != 1 || j.String() != "<a a>" { // Whoever saw it begin sees it end.
		t.Errorf("%+v, handlers %s", got, j)
	}
	r.send("on")
	if got := brief(
		r.model.request(2).Messages,
	); got != "user:go assistant:I try+a+b tool:Error: context canceled tool:Error: cancelled by the user user:on" {
		t.Errorf("second request: %s", got)
	}
}

// HO-35: what a rule wants confirmed is put to the user, with the arguments that
// will really be used; without anybody to ask it is denied with a word on how to
// allow it; auto mode lifts it.
func TestApproval(t *testing.T) {
	const turns = "turns: [{calls: [{name: Bash, arguments: {command: echo x}}]}, {text: ok}]\n"
	rules := guard.Rules{Confirm: []string{"Bash:echo*"}}
	rewrite := on(lifecycle.BeforeToolExecution, "a", func(*sdk.BeforeToolContext) lifecycle.Reply {
		return lifecycle.Reply{Arguments: map[string]any{"command": "echo y"}, Result: sdk.Result{Message: "rewritten"}}
	})
	var asked []agent.Approval
	for _, c := range []struct {
		name    string
		options func(*agent.Options)
		want    string
	}{
		{"headless", nil, "tool:Error: needs approval (tool policy, confirm: Bash:echo*), and nobody can be " +
			"asked here. The user can allow it with --auto or by a rule in tools.policy.auto."},
		{"yes", func(o *agent.Options) {
			o.Approve = func(_ context.Context, a agent.Approval) agent.Decision {
				asked = append(asked, a)
				return agent.Decision{Allow: true}
			}
		}, "tool:y assistant:rewritten"},
		{"no", func(o *agent.Options) {
			o.Approve = func(context.Context, agent.Approval) agent.Decision { return agent.Decision{Reason: "I said no"} }
		}, "tool:Error: denied by the user: I said no"},
		{"auto", func(o *agent.Options) { o.Switches.Auto = true }, "tool:y assistant:rewritten"},
	} {
		r := newRig(t, turns, setup{rules: rules, handlers: []lifecycle.Binding{rewrite}, options: c.options})
		r.send("go")
		if got := brief(r.model.request(2).Messages[2:]); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if len(asked) != 1 || asked[0].Tool != "Bash" || asked[0].Args["command"] != "echo y" || asked[0].Agent != "main" ||
		len(asked[0].Asks) != 1 {
		t.Errorf("asked %+v", asked)
	}
}

// The calls of a Batch go through every gate: policy, handlers before and
// after, schema, counts.
func TestBatch(t *testing.T) {
	j := &journal{}
	redact := on(lifecycle.AfterToolExecution, "r", func(d *sdk.AfterToolContext) lifecycle.Reply {
		if d.ToolName != "Bash" {
			return lifecycle.Reply{}
		}
		return lifecycle.Reply{
			Result: sdk.Result{Output: new(strings.ReplaceAll(d.ToolResult+d.ToolError, "SECRET", "<redacted>"))},
		}
	})
	r := newRig(t, `
turns:
  - calls:
      - name: Batch
        arguments:
          calls:
            - {name: Bash, arguments: {command: rm -rf x}}
            - {name: Meet}
            - {name: Meet}
            - {name: Bash, arguments: {command: echo SECRET}}
            - {name: Bash, arguments: {command: 'echo SECRET; exit 3'}}
            - {name: Ls, arguments: {color: red}}
            - {name: Nope}
  - text: ok
`, setup{
		tools: []tool.Tool{
			answers("Meet", "met"),
		},
		rules:    guard.Rules{Deny: []string{"Bash:rm*"}},
		handlers: append(j.around(), redact),
	})
	r.send("go")
	got := r.model.request(2).Messages[2].Content
	for _, want := range []string{
		"[1/7] Bash failed: denied by the tool policy (deny: Bash:rm*)", "[4/7] Bash:\n<redacted>", "[5/7] Bash failed: <redacted>", "exit code 3",
		"[6/7] Ls failed: invalid arguments", `[7/7] Nope failed: unknown tool "Nope"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the result lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "SECRET") {
		t.Errorf("a replaced output came through:\n%s", got)
	}
	if s := r.Snapshot().Stats; s.ToolCalls != 5 { // Two Bash, two Meet, and Batch itself.
		t.Errorf("%+v", s)
	}
	if n := strings.Count(j.String(), "<"); n != 5+1 { // The denied one was shown to the handlers too.
		t.Errorf("gates: %s", j)
	}
}

// An unexpected answer of a handler cannot leave messages out of order: results are
// answers to their calls even where handlers speak, disable and replace at once.
func TestResultsStayInOrder(t *testing.T) {
	noisy := lifecycle.Reply{
		Result: sdk.Result{
			Message:      "noise",
			Role:         sdk.RoleUser,
			Eject:        true,
			DisableTools: []string{"X*"},
			Output:       new("out"),
		},
	}
	r := newRig(
		t,
		"turns: [{calls: [{name: Apple, id: a}, {name: Nope, id: b}, {name: Apple, id: c}]}, {calls: [{name: "+
			"Apple, id: a}]}, {text: ok}]\n",
		setup{
			tools: []tool.Tool{answers("Apple", "apple")},
			handlers: []lifecycle.Binding{
				on(lifecycle.BeforeToolExecution, "b", func(*sdk.BeforeToolContext) lifecycle.Reply { return noisy }),
				on(lifecycle.AfterToolExecution, "a", func(*sdk.AfterToolContext) lifecycle.Reply { return noisy }),
				on(lifecycle.AfterResponse, "r", func(d *sdk.AfterResponseContext) lifecycle.Reply {
					if len(d.Calls) == 0 {
						return lifecycle.Reply{}
					}
					return noisy
				}),
			},
		},
	)
	r.send("go")
	if got, want := brief(
		r.model.request(3).Messages,
	), "user:go assistant:+a+c tool:out tool:out assistant:+a tool:out user:noise user:noise user:noise"; got != want {
		t.Errorf("third request %s\nwant %s", got, want)
	}
}
