package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// SD-37 HO-43: a resumed session continues with its switches, counts, todos and
// loaded tools, and its agent takes over with reason resume. Of calls that a crash left
// unanswered the model learns that their result is not known.
func TestResume(t *testing.T) {
	var switches []string
	h := []lifecycle.Binding{on(lifecycle.OnAgentSwitch, "w", func(d *sdk.OnAgentSwitchContext) lifecycle.Reply {
		switches = append(switches, d.PreviousAgent+">"+d.NewAgent+" "+d.Reason)
		return lifecycle.Reply{}
	})}
	first := newRig(
		t,
		"turns: [{calls: [{name: TodoCreate, arguments: {items: [{content: a}]}}], usage: {input: 5, output: "+
			"6}}, {text: ok, usage: {input: 7, output: 8}}]\n",
		setup{handlers: h},
	)
	if err := first.Switch(t.Context(), "other", "", "user"); err != nil {
		t.Fatal(err)
	}
	first.Switches().SetDone(true)
	first.send("make a list")
	id := first.Log().ID()
	if err := first.Close(t.Context(), "exit"); err != nil {
		t.Fatal(err)
	}
	// A crash in the middle of a tool leaves a call without its answer.
	log, state, _, err := first.store.Resume(id)
	if err != nil {
		t.Fatal(err)
	}
	meta := state.Meta
	meta.LoadedTools = []string{"Rare"}
	lost := message.Message{Message: sdk.Message{Role: message.Assistant, Content: "I try", Type: sdk.TypeNormal,
		ToolCalls: []sdk.MessageToolCall{{ID: "lost", Name: "Bash", Arguments: map[string]any{"command": "reboot"}}}}}
	if err := errors.Join(log.SetMeta(meta), log.Append(lost), log.Close()); err != nil {
		t.Fatal(err)
	}

	r := newRig(
		t,
		"turns: [{text: back, expect: {contains: [make a list, I try, in the middle of this call], tools: "+
			"[Rare, Done], last: [hello]}}]\n",
		setup{
			handlers: h, store: first.store, dir: first.dir,
			profile: func(p *agent.Profile) { p.Deferred = []tool.Tool{answers("Rare", "rare")} },
		},
	)
	resume(t, r, id)
	s := r.Snapshot()
	if s.SessionID != id || s.Agent != "other" || !s.DoneActive || s.TodoPending != 1 || s.Stats.ToolCalls != 1 ||
		s.Stats.Turns != 1 ||
		s.Stats.TokensIn != 12 ||
		s.Stats.TokensOut != 14 ||
		!slices.Equal(s.LoadedTools, []string{"Rare"}) {
		t.Errorf("%+v", s)
	}
	r.send("hello")
	if got := strings.Join(switches, ", "); got != "main>other user, main>other resume" {
		t.Errorf("switches: %s", got)
	}
}

func resume(t *testing.T, r *rig, id string) {
	t.Helper()
	log, state, _, err := r.store.Resume(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Agent.Resume(t.Context(), log, state); err != nil {
		t.Fatal(err)
	}
}

// Auto mode that the command line asked for is not kept; one that was switched on in
// the session is.
func TestResumeAuto(t *testing.T) {
	for _, flag := range []bool{true, false} {
		first := newRig(t, "turns: [{text: ok}]\n", setup{options: func(o *agent.Options) { o.Switches.Auto = flag }})
		first.Switches().SetAuto(true)
		first.send("go")
		id := first.Log().ID()
		if err := first.Close(t.Context(), "exit"); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, "turns: [{text: ok}]\n", setup{store: first.store})
		resume(t, r, id)
		if got := r.Switches().Auto(); got == flag {
			t.Errorf("by the command line %v: auto %v", flag, got)
		}
	}
}

// SD-32: where a session cannot be saved, the user is told once and the conversation
// goes on without an ID.
func TestSessionCannotBeSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "loop: true\nturns: [{text: ok}]\n", setup{store: session.Open(filepath.Join(file, "sessions"))})
	r.send("one")
	r.send("two")
	if err := r.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if got := r.seen(agent.Noticed); len(got) != 1 || !strings.Contains(got[0], "the session cannot be saved: ") {
		t.Errorf("notices %q", got)
	}
	if got := r.Snapshot().SessionID; got != "" {
		t.Errorf("session %s", got)
	}
}

// A session whose agent is gone is resumed by the one there is.
func TestResumeWithoutAgent(t *testing.T) {
	r := newRig(t, "turns: [{text: hi}]\n", setup{})
	log, err := r.store.Create(session.Meta{Agent: "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Agent.Resume(t.Context(), log, session.State{Meta: log.Meta()}); err != nil {
		t.Fatal(err)
	}
	if got := r.seen(
		agent.Noticed,
	); len(got) != 1 ||
		!strings.Contains(got[0], `no agent "nobody"; agent main goes on`) {
		t.Errorf("notices %q", got)
	}
	r.send("hello")
}
