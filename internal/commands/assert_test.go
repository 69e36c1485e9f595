package commands_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idelchi/aura/internal/todo"
)

// CN-36 HO-17
func TestAssert(t *testing.T) {
	for _, tt := range []struct {
		input string
		want  []string // Actions that run.
	}{
		{`/assert todo_empty "/auto on"`, []string{"/auto on"}},
		{`/assert todo_empty "/auto on" "/verbose on"`, []string{"/auto on", "/verbose on"}},
		{`/assert auto "/verbose on"`, nil},
		{`/assert not auto "/verbose on"`, []string{"/verbose on"}},
		{`/assert not todo_empty "/verbose on"`, nil},
		// A leading "not" is about the whole expression.
		{`/assert not todo_empty and auto "/verbose on"`, []string{"/verbose on"}},
		{`/assert todo_empty and not auto "/verbose on"`, []string{"/verbose on"}},
		{`/assert not not auto "/verbose on"`, nil},
		{"/assert\ttodo_empty\n\"/auto\ton\"", []string{"/auto\ton"}},
		{`/assert todo_empty "Say \"hi\" to C:\\x and \d."`, []string{`Say "hi" to C:\x and \d.`}},
		{`/assert bash:"test 'a b' = \"a b\"" "/auto on"`, []string{"/auto on"}},
		{`/assert bash:test 'a  b' = 'a  b' "/auto on"`, []string{"/auto on"}},
		{`/assert bash:false "/auto on"`, nil},
		{`/assert not bash:false and todo_empty "/auto on"`, []string{"/auto on"}},
		{`/assert exists:"a file.txt" and todo_empty "/auto on"`, []string{"/auto on"}},
		{`/assert model_context_gt:999 and model_is:TINY "/auto on"`, []string{"/auto on"}},
		{`/assert todo_empty "/assert todo_empty \"/auto on\""`, []string{`/assert todo_empty "/auto on"`, "/auto on"}},
	} {
		t.Run(tt.input, func(t *testing.T) {
			w := newWorld(t, echo)
			if err := os.WriteFile(filepath.Join(w.Agent.Snapshot().Workdir, "a file.txt"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_ = w.submit(t.Context(), tt.input)
			if !slices.Equal(w.inputs, tt.want) {
				t.Errorf("actions = %q, want %q", w.inputs, tt.want)
			}
			if len(tt.want) == 0 && len(w.out) > 0 {
				t.Errorf("printed %q", w.out)
			}
		})
	}
}

// CN-36
func TestAssertTalksToTheModel(t *testing.T) {
	w := newWorld(t, echo)
	w.do(`/assert todo_empty "Make a plan." "/auto on"`)
	if c := w.Agent.Snapshot(); c.Stats.Turns != 1 || !c.Auto ||
		!slices.Equal(w.texts(), []string{"Make a plan.", "An answer."}) {
		t.Errorf("turns %d, auto %v, %q", c.Stats.Turns, c.Auto, w.texts())
	}
	w.fails(`/assert auto "/nonsense" "/verbose on"`, "unknown command: /nonsense")
	if w.Agent.Switches().Verbose() {
		t.Error("an action ran after one that failed")
	}
}

// CN-02
func TestAssertErrors(t *testing.T) {
	w := newWorld(t, echo)
	for input, part := range map[string]string{
		`/assert`:                               "condition missing",
		`/assert "/auto on"`:                    "condition missing",
		`/assert not "/auto on"`:                "condition missing",
		`/assert todo_empty`:                    "action missing",
		`/assert todo_empty '/auto on'`:         "unexpected",
		`/assert todo_empty ""`:                 "action is empty",
		`/assert todo_emty "/auto on"`:          `did you mean "todo_empty"?`,
		`/assert history_gt "/auto on"`:         "needs a value",
		`/assert history_gt:x "/auto on"`:       "whole number",
		`/assert todo_empty and "/auto on"`:     "a term is missing",
		`/assert todo_empty "/auto on`:          "quote is not closed",
		`/assert todo_empty "/auto" on`:         "text after an action",
		`/assert todo_empty "/auto"on`:          "text after an action",
		`/assert bash:grep "x" f "/auto on"`:    `goes into bash:"..."`,
		`/until --max 0 todo_empty "/auto on"`:  "1 or greater",
		`/until --max`:                          "1 or greater",
		`/until --max=x todo_empty "/auto on"`:  "1 or greater",
		`/until --maxi 3 todo_empty "/auto on"`: `unknown option "--maxi"`,
		`/until todo_emty "/auto on"`:           `did you mean "todo_empty"?`,
	} {
		w.fails(input, part)
	}
	if len(w.inputs) > 0 {
		t.Errorf("actions ran: %q", w.inputs)
	}
}

// HO-18
func TestUntil(t *testing.T) {
	w := newWorld(t, echo)
	w.do(`/until todo_empty "/auto on"`)
	if len(w.inputs) > 0 {
		t.Errorf("a true condition ran %q", w.inputs)
	}
	w.do(`/until history_gt:5 "Go on."`)
	if n := w.Agent.Snapshot().MessageCount; n != 6 {
		t.Errorf("%d messages, want 6", n)
	}
	w.do(`/until --max=1 auto "/auto on"`) // True after the last round is in time.

	w.inputs = nil
	w.fails(
		`/until --max 3 todo_pending "/verbose on" "/done on"`,
		`condition "todo_pending" is still false after 3 rounds`,
		"--max",
	)
	if len(w.inputs) != 6 {
		t.Errorf("%d actions, want 6", len(w.inputs))
	}
	w.inputs = nil
	w.fails(`/until not todo_empty "/verbose on"`, `"not todo_empty" is still false after 10 rounds`)
	if len(w.inputs) != 10 {
		t.Errorf("%d actions, want 10", len(w.inputs))
	}
	w.inputs = nil
	w.fails(`/until todo_pending "/nonsense" "/verbose on"`, "unknown command")
	if len(w.inputs) != 1 {
		t.Errorf("%d actions, want 1", len(w.inputs))
	}
}

func TestUntilSeesWhatActionsDid(t *testing.T) {
	w := newWorld(t, "turns:\n  - calls: [{name: Finish}]\n  - text: Done.\n")
	w.Agent.Todo().Replace("", []todo.Item{{Content: "one", Status: todo.Pending}})
	w.do(`/until todo_done "Go on."`)
	if len(w.inputs) != 1 {
		t.Errorf("%d rounds, want 1", len(w.inputs))
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t, echo)
	ctx, cancel := context.WithCancel(t.Context())
	submit := w.Submit
	w.Submit = func(ctx context.Context, input string) error {
		if len(w.inputs) == 2 {
			cancel()
		}
		return submit(ctx, input)
	}
	if err := w.submit(
		ctx,
		`/until --max 1000 todo_pending "/verbose"`,
	); !errors.Is(err, context.Canceled) ||
		len(w.inputs) != 3 {
		t.Errorf("%v after %d actions", err, len(w.inputs))
	}
	w.inputs = nil
	// A cancelled command proves nothing, so its negation must not act.
	if err := w.submit(
		ctx,
		`/assert not bash:true "/verbose"`,
	); !errors.Is(err, context.Canceled) ||
		len(w.inputs) > 0 {
		t.Errorf("%v, actions %q", err, w.inputs)
	}
	if err := w.submit(ctx, `/until not bash:true "/verbose"`); !errors.Is(err, context.Canceled) || len(w.inputs) > 0 {
		t.Errorf("%v, actions %q", err, w.inputs)
	}
}
