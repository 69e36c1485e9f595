package commands_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/sdk"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		line, name, args string
		ok               bool
	}{
		{"/help", "help", "", true},
		{"  /AGENT  My Agent ", "agent", "My Agent", true},
		{"/save\ta title", "save", "a title", true},
		{"/assert auto\n\"x\"", "assert", "auto\n\"x\"", true},
		{"/etc/passwd is what?", "", "", false},
		{"//x", "", "", false}, {"hello", "", "", false}, {"", "", "", false}, {"a / b", "", "", false},
		{"/", "", "", true}, {"/ x", "", "x", true}, {"/\thelp", "", "help", true}, // No name: refused, not sent.
	} {
		name, args, ok := commands.Parse(tt.line)
		if name != tt.name || args != tt.args || ok != tt.ok {
			t.Errorf("Parse(%q) = %q, %q, %v", tt.line, name, args, ok)
		}
	}
}

// PC-05
func TestTyped(t *testing.T) {
	for line, want := range map[string]string{
		"/x": "", "/x  ": "", " /x a": "a", "/x  \"a  b\"  c ": "\"a  b\"  c ", "/x a\nb \r\n": "a\nb ",
		"/x\ta\t": "a\t",
	} {
		if got := commands.Typed(line); got != want {
			t.Errorf("Typed(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestBuiltin(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range commands.Builtin() {
		if c.Name != strings.ToLower(c.Name) || c.Name == "" || c.Group == "" || c.Description == "" || c.Run == nil ||
			c.Source != "" ||
			seen[c.Name] {
			t.Errorf("command %+v is incomplete or there twice", c)
		}
		seen[c.Name] = true
	}
	for _, name := range []string{"stats", "greet", "ping", "mood"} { // Left to extensions.
		if seen[name] {
			t.Errorf("/%s must not be built in", name)
		}
	}
}

// HO-59
func TestNamesInAnyCase(t *testing.T) {
	w := newWorld(t, echo)
	w.do("/AGENT pLANNER")
	if c := w.Agent.Snapshot(); c.Agent != "Planner" || c.Mode != "Plan" {
		t.Errorf("agent %q mode %q", c.Agent, c.Mode)
	}
	w.do("/Mode NONE")
	w.do("/mode PLAN")
	if got := w.Agent.Snapshot().Mode; got != "Plan" {
		t.Errorf("mode = %q", got)
	}
}

func TestUnknownCommand(t *testing.T) {
	w := newWorld(t, echo)
	for input, want := range map[string]string{
		"/zzzzzz":    "unknown command: /zzzzzz (try /help)",
		"/hlep me":   "unknown command: /hlep (try /help), did you mean /help?",
		"/help reum": "unknown command: /reum (try /help), did you mean /resume?",
		"/":          "not a command: the name must follow the slash at once, as in /help",
		"/ help":     "not a command: the name must follow the slash at once, as in /help",
	} {
		if err := w.submit(t.Context(), input); err == nil || err.Error() != want {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// HO-22 SD-24 SD-25 SD-35, all but /mcp and /sandbox: what each switch does to the
// snapshot that handlers see.
func TestSwitches(t *testing.T) {
	for _, tt := range []struct {
		input, printed string
		get            func(sdk.Context) any
		want           any
	}{
		{"/auto on", "auto: on", func(c sdk.Context) any { return c.Auto }, true},
		{"/auto", "auto: on", func(c sdk.Context) any { return c.Auto }, true},
		{"/auto disabled", "auto: off", func(c sdk.Context) any { return c.Auto }, false},
		{"/done YES", "done: on", func(c sdk.Context) any { return c.DoneActive }, true},
		{"/done", "done: on", func(c sdk.Context) any { return slices.Contains(c.AvailableTools, "Done") }, true},
		{"/verbose 1", "verbose: on", func(c sdk.Context) any { return c.Features.ShowThinking }, true},
		{"/verbose", "verbose: on", func(c sdk.Context) any { return c.Features.ShowThinking }, true},
		{"/think high", "think: high", func(c sdk.Context) any { return c.ThinkMode }, "high"},
		{"/think on", "think: medium", func(c sdk.Context) any { return c.ThinkMode }, "medium"},
		{"/think", "think: off", func(c sdk.Context) any { return c.ThinkMode }, "off"},
		{
			"/readbefore write off", "read before write: off\nread before delete: off",
			func(c sdk.Context) any { return c.Features.ReadBeforeWrite }, false,
		},
		{
			"/readbefore write", "read before write: off\nread before delete: off",
			func(c sdk.Context) any { return c.Features.ReadBeforeWrite }, false,
		},
		{
			"/readbefore delete", "read before write: on\nread before delete: on",
			func(c sdk.Context) any { return c.Features.ReadBeforeWrite }, true,
		},
		{
			"/readbefore all", "read before write: on\nread before delete: on",
			func(c sdk.Context) any { return c.Features.ReadBeforeWrite }, true,
		},
		{
			"/readbefore off", "read before write: off\nread before delete: off",
			func(c sdk.Context) any { return c.Features.ReadBeforeWrite }, false,
		},
		{
			"/readbefore", "read before write: on\nread before delete: off",
			func(c sdk.Context) any { return c.Features.ReadBeforeWrite }, true,
		},
		{
			"/agent planner", "agent: Planner, mode: Plan, model: tiny", func(c sdk.Context) any { return c.Agent },
			"Planner",
		},
		{"/mode plan", "mode: Plan", func(c sdk.Context) any { return strings.Join(c.AvailableTools, " ") }, "Look"},
		{"/mode none", "mode: none", func(c sdk.Context) any { return c.Mode }, ""},
		{"/model bigger", "model: bigger", func(c sdk.Context) any { return c.Agent }, "Coder"},
	} {
		t.Run(tt.input, func(t *testing.T) {
			w := newWorld(t, echo)
			if got := w.do(tt.input); got != tt.printed {
				t.Errorf("printed %q", got)
			}
			if got := tt.get(w.Agent.Snapshot()); got != tt.want {
				t.Errorf("state = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestFlipTwice(t *testing.T) {
	w := newWorld(t, echo)
	for _, name := range []string{"auto", "done", "verbose"} {
		if a, b := w.do("/"+name), w.do("/"+name); a != name+": on" || b != name+": off" {
			t.Errorf("%s: %q, then %q", name, a, b)
		}
	}
	w.do("/readbefore delete on")
	if w.reads.Write != nil { // Not named: the configuration goes on to decide.
		t.Error("write was switched too")
	}
}

func TestWrongWords(t *testing.T) {
	w := newWorld(t, echo)
	for input, part := range map[string]string{
		"/auto maybe":             `auto: "maybe" is not one of on, off`,
		"/done 2":                 `done: "2" is not one of on, off`,
		"/think hard":             `"hard" is not one of off, on, low, medium, high`,
		"/readbefore read":        `"read" is not one of write, delete, all, on, off`,
		"/readbefore write maybe": `readbefore write: "maybe" is not one of on, off`,
		"/readbefore on off":      `"on" is not one of write, delete, all`,
		"/readbefore a b c":       "at most two words",
		"/agent nobody":           `no agent "nobody"`,
		"/mode none of it":        `no mode "none of it"`,
		"/exit now":               `exit takes no arguments, got "now"`,
		"/sessions x":             "/resume x",
		"/trace many":             "whole number",
		"/undo":                   "nothing to undo",
		"/compact":                "nothing to compact",
		"/fork":                   "nothing to fork",
	} {
		before := w.Agent.Snapshot()
		w.fails(input, part)
		after := w.Agent.Snapshot()
		before.Stats, after.Stats = sdk.Stats{}, sdk.Stats{}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s changed the state", input)
		}
	}
}

// HO-22
func TestExit(t *testing.T) {
	w := newWorld(t, echo)
	for _, input := range []string{"/exit", "/quit", `/assert todo_empty "/exit" "/auto on"`} {
		if err := w.submit(t.Context(), input); !errors.Is(err, commands.ErrExit) {
			t.Errorf("%s: %v", input, err)
		}
	}
	if w.Agent.Switches().Auto() {
		t.Error("an action ran after /exit")
	}
}

func TestAgentSwitchIsTold(t *testing.T) {
	w := newWorld(t, echo)
	w.do("/agent planner")
	if want := []string{"on_agent_switch Coder>Planner user"}; !slices.Equal(w.events, want) {
		t.Errorf("events = %q", w.events)
	}
}

func TestReload(t *testing.T) {
	w := newWorld(t, echo)
	if got := w.do("/reload"); got != "reloaded" || w.loads != 1 {
		t.Errorf("printed %q, %d loads", got, w.loads)
	}
	w.Session.Reload = func(context.Context) error { return errors.New("hooks/a.yaml:3: unknown key") }
	w.fails("/reload", "hooks/a.yaml:3")
}

// HO-21 SD-24
func TestAutoGoesOn(t *testing.T) {
	const src = "turns:\n  - text: Started.\n  - calls: [{name: Finish}]\n  - text: Finished.\n"
	for _, tt := range []struct {
		input      string
		iterations int
	}{{"/auto on", 3}, {"/auto off", 1}} {
		w := newWorld(t, src)
		w.Agent.Todo().Replace("", []todo.Item{{Content: "one", Status: todo.Pending}})
		w.do(tt.input)
		w.do("Begin.")
		if got := w.Agent.Snapshot().Stats.Iterations; got != tt.iterations {
			t.Errorf("%s: %d model calls, want %d", tt.input, got, tt.iterations)
		}
	}
}

// HO-16
func TestCompact(t *testing.T) {
	w := newWorld(
		t,
		"loop: true\nturns:\n  - when: Summarise this conversation\n    text: They greeted.\n  - text: An answer.\n",
	)
	for range 3 {
		w.do("Hello.")
	}
	w.do("/compact")
	c := w.Agent.Snapshot()
	if c.Stats.Compactions != 1 || c.MessageCount != 3 {
		t.Errorf("%d compactions, %d messages: %q", c.Stats.Compactions, c.MessageCount, w.texts())
	}
	contains(t, w.texts()[0], "They greeted.")
}

func TestUndo(t *testing.T) {
	w := newWorld(
		t,
		"loop: true\nturns:\n  - when: Summarise this conversation\n    text: They greeted.\n"+
			"  - when: use a tool\n    repeat: 1\n    calls: [{name: Look}]\n  - text: An answer.\n",
	)
	w.do("First.")
	w.do("Second: use a tool.")
	if got := w.do("/undo"); got != "taken back: Second: use a tool." {
		t.Errorf("printed %q", got)
	}
	if want := []string{
		"First.",
		"An answer.",
	}; !slices.Equal(w.texts(), want) ||
		w.Agent.Snapshot().MessageCount != 2 {
		t.Errorf("left: %q", w.texts())
	}
	state, _, err := w.Store.Read(w.Agent.Log().ID()) // Also on disk.
	if err != nil || len(state.Messages) != 2 {
		t.Errorf("%d messages on disk, %v", len(state.Messages), err)
	}
	w.do("Second.")
	w.do("Third.")
	w.do("/compact")
	w.do("/undo") // The third input was kept.
	w.fails("/undo", "nothing to undo")
	if len(w.texts()) == 0 {
		t.Error("the summary was taken back")
	}
}
