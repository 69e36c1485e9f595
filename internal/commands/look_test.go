package commands_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/todo"
)

// HO-22
func TestHelp(t *testing.T) {
	w := newWorld(t, echo)
	w.extra = []commands.Command{
		{Name: "stats", Description: "Counts things.", Hints: []string{"[what]"}, Source: `plugin "counter"`},
	}
	all := w.do("/help")
	for _, c := range w.Commands() {
		contains(t, all, "  /"+c.Name, c.Description)
	}
	contains(
		t,
		all,
		"General\n  /help [command]",
		"Added\n  /stats [what]  Counts things. (plugin \"counter\")",
		"/help <command>",
	)
	contains(t, w.do("/help /ASSERT"), `/assert [not] <condition> "action"...`, "todo_empty", "double quotes")
	contains(t, w.do("/help stats"), "/stats [what]\nCounts things.", `From plugin "counter"`)
}

// HO-22
func TestTodo(t *testing.T) {
	w := newWorld(t, echo)
	if got := w.do("/todo"); got != "the todo list is empty" {
		t.Errorf("printed %q", got)
	}
	w.Agent.Todo().
		Replace("Plan", []todo.Item{{Content: "one", Status: todo.Completed}, {Content: "two", Status: todo.Pending}})
	if got := w.do("/todo"); got != "Plan\n1. [x] one\n2. [ ] two" {
		t.Errorf("printed %q", got)
	}
}

// HO-22
func TestTools(t *testing.T) {
	w := newWorld(t, echo)
	want := strings.Join([]string{
		"Look    builtin                             Looks around.",
		"Finish  plugin todos  serial                Completes a todo.",
		"Done    builtin                             (not available) Ends the turn.",
		"Rare    mcp srv       approval, opt-in  (not available) Seldom used.",
	}, "\n")
	if got := squeeze(w.do("/tools")); got != squeeze(want) {
		t.Errorf("printed\n%s", got)
	}
	w.do("/done on")
	w.do("/mode plan")
	contains(
		t,
		squeeze(w.do("/tools")),
		"Look builtin Looks",
		"Finish plugin todos serial (not available)",
		"Done builtin (not available)",
	)
	w.do("/mode none")
	contains(t, squeeze(w.do("/tools")), "Done builtin Ends the turn.")
}

// squeeze makes runs of blanks one.
func squeeze(s string) string { return regexp.MustCompile(` +`).ReplaceAllString(s, " ") }

// HO-22
func TestInfo(t *testing.T) {
	w := newWorld(
		t,
		"model: {name: tiny, context_length: 1000, capabilities: [tools]}\nturns:\n  - calls: [{name: Look}]\n"+
			"    usage: {input: 100, output: 5}\n  - text: Hi.\n    usage: {input: 110, output: 6}\n",
	)
	w.do("Hello.")
	w.do("/name talk")
	w.do("/auto on")
	got := w.do("/info")
	contains(
		t,
		squeeze(got),
		"agent Coder\n",
		"mode none\n",
		"provider script\n",
		"model tiny (tools)\n",
		"think off\n",
		"of 1000 tokens (",
		"session "+w.Agent.Log().
			ID()+
			", named talk\n",
		"title Hello.\n",
		"messages 4\n",
		"tool calls 1, 0 failed (Look 1)\n",
		"tokens 210 in, 11 out\n",
		"inputs 4, 1 of them turns, 2 model calls (at most 5 per turn)\n",
		"auto on\n",
		"done off\n",
		"read before write on, delete off",
	)
	column := strings.Index(got, "Coder")
	for line := range strings.Lines(got) {
		if line[column-1] != ' ' || line[column] == ' ' {
			t.Errorf("not aligned: %q", line)
		}
	}
	contains(
		t,
		squeeze(w.do("/context")),
		"last request 110 tokens",
		"compaction above 80%",
		"user messages 1, about",
		"tool messages 1, about",
		"tools 2 offered",
	)
	if w.do("/ctx") != w.do("/context") {
		t.Error("/ctx differs from /context")
	}
}

func TestModels(t *testing.T) {
	w := newWorld(t, echo)
	if got := w.do("/model"); got != "* tiny" {
		t.Errorf("printed %q", got)
	}
	w.do("/model other")
	contains(t, w.do("/model"), "  tiny")
	w.Models = func(context.Context) ([]commands.Choice, error) { return nil, nil }
	contains(t, w.do("/model"), "the active one is other")
	w.Models = func(context.Context) ([]commands.Choice, error) { return nil, errors.New("cannot reach provider") }
	w.fails("/model", "cannot reach provider")
}

func TestLists(t *testing.T) {
	w := newWorld(t, echo)
	w.do("/agent planner")
	if got, want := w.do("/agent"), "  Coder    The Coder\n* Planner  The Planner"; got != want {
		t.Errorf("agents:\n%s", got)
	}
	if got, want := w.do("/mode"), "* Plan  The Plan\n  none  No mode"; got != want {
		t.Errorf("modes:\n%s", got)
	}
	w.Modes = func() []commands.Choice { return nil }
	if got := w.do("/mode"); got != "there are no modes" {
		t.Errorf("modes: %s", got)
	}
}

func TestPolicy(t *testing.T) {
	w := newWorld(t, echo)
	w.approvals.Allow("Bash:git status*")
	w.do("/auto on")
	want := "denied: Bash:rm*\napproved for this session: Bash:git status*\neverything else is allowed\n" +
		"auto mode is on: nothing needs approval"
	if got := w.do("/policy"); got != want {
		t.Errorf("printed\n%s", got)
	}
}

func TestTrace(t *testing.T) {
	w := newWorld(t, echo)
	if got := w.do("/trace"); got != "no handler has run yet" {
		t.Errorf("printed %q", got)
	}
	w.do("/agent planner")
	w.do("/agent coder")
	got := w.do("/trace")
	contains(t, got, "on_agent_switch", `guard "witness"`, "passed")
	if strings.Count(got, "\n") != 1 || strings.Count(w.do("/trace 1"), "\n") != 0 {
		t.Errorf("printed\n%s", got)
	}
}

// The page lists every command exactly as it is.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `/") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, c := range commands.Builtin() {
		usage := strings.Join(append([]string{"/" + c.Name}, c.Hints...), " ")
		want = append(want, "| `"+strings.ReplaceAll(usage, "|", `\|`)+"` | "+c.Description+" |")
	}
	if got, want := strings.Join(rows, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("docs/commands.md has\n%s\nwant\n%s", got, want)
	}
}
