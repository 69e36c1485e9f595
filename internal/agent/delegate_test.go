package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// HO-63: a sub-agent works through the same gates with a conversation of its own, and
// cannot delegate again, ask, or touch the todo list.
func TestTask(t *testing.T) {
	var agents []string
	r := newRig(t, `
turns:
  - when: clean up
    repeat: 1
    expect: {messages: 1, not_contains: [the big plan], not_tools: [Task, Ask, Done, TodoCreate, TodoList, TodoProgress], tools: [Bash, Read]}
    calls:
      - {name: Bash, arguments: {command: rm -rf x}}
      - {name: Bash, arguments: {command: echo fine}}
      - {name: Task, arguments: {description: again, prompt: clean up}}
    usage: {input: 10, output: 1}
  - when: clean up
    expect: {contains: ["denied by the tool policy (deny: Bash:rm*)", fine, "\"Task\" is not available"]}
    text: swept
    usage: {input: 20, output: 2}
  - {calls: [{name: Task, arguments: {description: sweep, prompt: clean up, agent: helper}}], usage: {input: 1, output: 1}}
  - {text: ok, expect: {last: [swept], not_contains: [echo fine]}, usage: {input: 1, output: 1}}
`, setup{
		rules: guard.Rules{Deny: []string{"Bash:rm*"}},
		handlers: []lifecycle.Binding{
			on(lifecycle.BeforeToolExecution, "w", func(d *sdk.BeforeToolContext) lifecycle.Reply {
				agents = append(agents, d.Agent+":"+d.ToolName)
				return lifecycle.Reply{}
			}),
		},
	})
	r.send("the big plan")
	if got := strings.Join(agents, " "); got != "main:Task helper:Bash helper:Bash" {
		t.Errorf("calls: %s", got)
	}
	if s := r.Snapshot(); s.Agent != "main" || s.Stats.TokensIn != 32 || s.Stats.TokensOut != 5 {
		t.Errorf("%+v", s.Stats)
	}
	var labels []string
	for _, e := range r.events {
		if e.Kind == agent.ToolStarted {
			labels = append(labels, e.Agent+":"+e.Tool)
		}
	}
	if got := strings.Join(labels, " "); got != ":Task sweep:Bash" {
		t.Errorf("events: %s", got)
	}
}

// What bounds the session bounds its sub-agents: steps and tokens.
func TestTaskLimits(t *testing.T) {
	const turns = `
turns:
  - {when: forever, calls: [{name: Ls, arguments: {}}], usage: {input: 50, output: 0}}
  - {calls: [{name: Task, arguments: {description: d, prompt: forever}}], usage: {input: 60, output: 0}}
  - {text: ok}
`
	r := newRig(t, turns, setup{options: func(o *agent.Options) { o.Switches.MaxSteps = 3 }})
	r.send("go")
	if !r.model.holds(5, "Error: sub-agent main: maximum steps exceeded: 3 model calls") {
		t.Errorf("no word about the steps:\n%s", show(r.model.request(5).Messages))
	}
	r = newRig(t, turns, setup{profile: func(p *agent.Profile) { p.Settings.TokenBudget = 100 }})
	if err := r.fails("go", "token budget exceeded"); !errors.Is(err, agent.ErrBudget) {
		t.Error(err)
	}
	r.model.count(2)
	if got := r.Snapshot().Stats.TokensIn; got != 110 {
		t.Errorf("%d tokens", got)
	}
}

// What the active mode and handlers take away, a sub-agent does not have either,
// whoever it is; nor does a fallback agent leave the mode.
func TestTaskStaysInMode(t *testing.T) {
	r := newRig(t, `
turns:
  - {when: part, text: done, expect: {not_tools: [Bash, Write], tools: [Read], contains: [You are helper.]}}
  - {error: {status: 500, message: down}}
  - {calls: [{name: Task, arguments: {description: one, prompt: part one, agent: helper}}], expect: {contains: [You are b.], not_tools: [Bash, Write]}}
  - {text: ok, expect: {last: [done]}}
`, setup{
		handlers: []lifecycle.Binding{on(lifecycle.BeforeChat, "a", func(d *sdk.BeforeChatContext) lifecycle.Reply {
			if d.Agent == "helper" {
				return lifecycle.Reply{}
			}
			return lifecycle.Reply{Result: sdk.Result{DisableTools: []string{"Wr*"}}}
		})},
		profile: func(p *agent.Profile) {
			if p.Mode == "look" {
				p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t tool.Tool) bool { return t.Name == "Bash" })
			}
			if p.Agent == "main" {
				p.Fallback = []string{"b"}
			}
		},
	})
	if err := r.SetMode("look"); err != nil {
		t.Fatal(err)
	}
	r.send("go")
	if s := r.Snapshot(); s.Agent != "b" || s.Mode != "look" {
		t.Errorf("agent %s in mode %q", s.Agent, s.Mode)
	}
}

// Several sub-agents of one response work at the same time. An unknown one fails.
func TestTasksOverlap(t *testing.T) {
	r := newRig(t, `
turns:
  - {when: part, repeat: 2, calls: [{name: Meet}]}
  - {when: part, text: met}
  - calls:
      - {name: Task, arguments: {description: one, prompt: part one}}
      - {name: Task, arguments: {description: two, prompt: part two}}
      - {name: Task, arguments: {description: three, prompt: part three, agent: nobody}}
  - text: ok
`, setup{tools: []tool.Tool{meeting("Meet", 2)}})
	r.send("go")
	last := r.model.reqs[len(r.model.reqs)-1]
	if got, want := brief(last.Messages[2:]), `tool:met tool:met tool:Error: no agent "nobody"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// HO-23: switching agents tells the handlers why; a mode is no agent.
func TestSwitch(t *testing.T) {
	var switches []string
	r := newRig(
		t,
		"turns: [{text: hi, expect: {contains: [You are b.]}}]\n",
		setup{
			handlers: []lifecycle.Binding{
				on(lifecycle.OnAgentSwitch, "w", func(d *sdk.OnAgentSwitchContext) lifecycle.Reply {
					switches = append(switches, d.PreviousAgent+">"+d.NewAgent+" "+d.Reason)
					return lifecycle.Reply{}
				}),
			},
		},
	)
	for _, next := range []string{"a", "a", "b"} {
		if err := r.Switch(t.Context(), next, "", "user"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.SetMode("plan"), r.SetMode("none")); err != nil {
		t.Fatal(err)
	}
	if err := r.Switch(t.Context(), "nobody", "", "user"); err == nil || r.Snapshot().Agent != "b" {
		t.Errorf("error %v, agent %s", err, r.Snapshot().Agent)
	}
	if want := []string{"main>a user", "a>b user"}; !slices.Equal(switches, want) {
		t.Errorf("switches %v", switches)
	}
	r.send("hello")
}
