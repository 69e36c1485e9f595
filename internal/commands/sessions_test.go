package commands_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/todo"
)

// HO-22 SD-33
func TestSave(t *testing.T) {
	w := newWorld(t, echo)
	id := w.Agent.Log().ID()
	contains(t, w.do("/save  My   title"), id, "with your first message")
	if got := w.Agent.Snapshot().SessionTitle; got != "My title" {
		t.Errorf("title = %q", got)
	}
	w.do("Hello.")
	if got := w.do("/save"); got != "saved: "+id {
		t.Errorf("printed %q", got)
	}
	w.do("/save Another title")
	state, _, err := w.Store.Read(id)
	if err != nil || state.Meta.Title != "Another title" || len(state.Messages) != 2 {
		t.Errorf("on disk: %+v, %v", state.Meta, err)
	}
}

func TestName(t *testing.T) {
	w := newWorld(t, echo)
	if got := w.do("/name"); got != "name: none" {
		t.Errorf("printed %q", got)
	}
	w.do("Hello.")
	w.do("/name parser work")
	first := w.Agent.Log().ID()
	w.do("/clear")
	w.do("Something else.")
	w.fails("/name Parser Work", "belongs to session "+first[:8])
	w.do("/name other")
	w.do("/name other") // Its own name is no conflict.
	w.do("/resume PARSER")
	if got := w.Agent.Log().ID(); got != first {
		t.Errorf("resumed %s, want %s", got, first)
	}
	if got := w.do("/name"); got != "name: parser work" {
		t.Errorf("printed %q", got)
	}
}

// HO-22
func TestResume(t *testing.T) {
	w := newWorld(t, echo)
	if got := w.do("/resume"); got != "there are no saved sessions" {
		t.Errorf("printed %q", got)
	}
	w.do("/agent planner")
	w.do("/think low")
	w.do("/done on")
	w.Agent.Todo().Replace("", []todo.Item{{Content: "one", Status: todo.Pending}})
	w.do("Hello.")
	w.do("/save The first")
	first := w.Agent.Log().ID()
	w.do("/clear")
	w.do("/agent coder")
	w.do("/think off")
	w.do("/done off")
	w.do("Other talk.")
	second := w.Agent.Log().ID()

	list := w.do("/resume")
	contains(t, list, "* "+second[:8], "  "+first[:8], "The first", "2 messages")
	if w.do("/sessions") != list {
		t.Error("/sessions differs from /resume")
	}
	w.fails("/resume "+second, "is the current one")
	w.fails("/resume nothing-like-it", `session "nothing-like-it" does not exist`)

	w.events = nil
	var restored session.Meta
	w.Restore = func(m session.Meta) { restored = m }
	contains(t, w.do("/resume "+first[:8]), "resumed "+first, "The first", "2 messages", "agent Planner")
	c := w.Agent.Snapshot()
	if c.SessionID != first || c.Agent != "Planner" || c.ThinkMode != "low" || !c.DoneActive || c.TodoPending != 1 ||
		c.SessionTitle != "The first" {
		t.Errorf("state = %+v", c)
	}
	if restored.Agent != "Planner" {
		t.Errorf("restored %+v", restored)
	}
	if want := []string{
		"session_end",
		"on_agent_switch Coder>Planner resume",
		"session_start",
	}; !slices.Equal(
		w.events,
		want,
	) {
		t.Errorf("events = %q", w.events)
	}
	if want := []string{"Hello.", "An answer."}; !slices.Equal(w.texts(), want) {
		t.Errorf("conversation = %q", w.texts())
	}
	w.do("More.") // It can be continued, and left, again.
	w.do("/resume " + second)
}

func TestResumeFails(t *testing.T) {
	w := newWorld(t, echo)
	w.do("Hello.")
	first := w.Agent.Log().ID()
	w.do("/clear")
	w.do("Other talk.")
	second := w.Agent.Log().ID()
	held, _, _, err := w.Store.Resume(first)
	if err != nil {
		t.Fatal(err)
	}
	w.events = nil
	err = w.submit(t.Context(), "/resume "+first)
	if _, ok := errors.AsType[*session.InUseError](err); !ok {
		t.Errorf("error = %v", err)
	}
	if len(w.events) > 0 || w.Agent.Log().ID() != second {
		t.Errorf("the current session was left: %q", w.events)
	}
	w.do("Still here.")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}

	f, err := os.OpenFile(held.Path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{broken\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	contains(t, w.do("/resume "+first), "the original is kept", "resumed "+first)
}

func TestFork(t *testing.T) {
	w := newWorld(t, echo)
	w.do("Hello.")
	w.do("/name origin")
	first := w.Agent.Log().ID()
	contains(t, w.do("/fork"), "forked into", "2 messages")
	second := w.Agent.Log().ID()
	if first == second {
		t.Fatal("still in the same session")
	}
	w.do("Only here.")
	for id, want := range map[string]int{first: 2, second: 4} {
		state, _, err := w.Store.Read(id)
		if err != nil || len(state.Messages) != want {
			t.Errorf("session %s has %d messages, %v", id, len(state.Messages), err)
		}
		if (state.Meta.Name == "origin") != (id == first) {
			t.Errorf("session %s is named %q", id, state.Meta.Name)
		}
	}
}

func TestClear(t *testing.T) {
	w := newWorld(t, echo)
	id := w.Agent.Log().ID()
	w.Agent.Todo().Replace("", []todo.Item{{Content: "one", Status: todo.Pending}})
	w.do("/clear") // Nothing is on disk: the session goes on.
	if c := w.Agent.Snapshot(); c.SessionID != id || c.TodoTotal != 0 {
		t.Errorf("session %s, %d todos", c.SessionID, c.TodoTotal)
	}
	w.do("Hello.")
	contains(t, w.do("/clear"), "/resume "+id[:8])
	c := w.Agent.Snapshot()
	if c.SessionID == id || c.MessageCount != 0 || c.SessionTitle != "" {
		t.Errorf("after /clear: %+v", c)
	}
	w.do("/resume " + id[:8])
	if got := strings.Join(w.texts(), " "); got != "Hello. An answer." {
		t.Errorf("resumed %q", got)
	}
}

func TestSessionsAll(t *testing.T) {
	w := newWorld(t, echo)
	for range 21 {
		w.do("Hello.")
		w.do("/clear")
	}
	contains(t, w.do("/sessions"), "1 more: /sessions all")
	if got := w.do("/sessions all"); strings.Count(got, "\n") != 20 {
		t.Errorf("not all are listed:\n%s", got)
	}
}

func TestNothingIsKept(t *testing.T) {
	w := newWorld(t, echo)
	w.Store = nil
	if err := w.Agent.Begin(nil); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"/save", "/name x", "/sessions", "/resume", "/resume x", "/fork"} {
		w.fails(input, "no sessions are kept")
	}
	w.do("Hello.")
	w.do("/clear")
	if n := w.Agent.Snapshot().MessageCount; n != 0 {
		t.Errorf("%d messages", n)
	}
	contains(t, w.do("/info"), "nothing is kept")
}
