package commands_test

import (
	"context"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// /why tells the last intervention in words, and some that came before it.
func TestWhy(t *testing.T) {
	w := newWorld(t, echo)
	contains(t, w.do("/why"), "nothing was refused or changed")
	p := w.Agent.Pipeline()
	handle := func(kind lifecycle.Kind, name, file string, r lifecycle.Reply) {
		p.Bind(kind, []lifecycle.Binding{
			{
				Source: lifecycle.Source{Kind: kind, Name: name, File: file},
				Moment: lifecycle.BeforeToolExecution,
				Handler: lifecycle.HandlerFunc(
					func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) { return r, nil },
				),
			},
		})
	}
	call := func() {
		p.Dispatch(
			t.Context(),
			lifecycle.Event{
				Moment: lifecycle.BeforeToolExecution,
				Data:   &sdk.BeforeToolContext{ToolName: "Bash", ToolCallID: "c1"},
			},
			nil,
		)
	}
	handle(lifecycle.Plugin, "careful", "", lifecycle.Reply{Arguments: map[string]any{"command": "ls"}})
	call()
	contains(t, w.do("/why"), `plugin "careful" changed the arguments of Bash, less than a second ago`, "/plugins")
	handle(lifecycle.Hook, "friday", "hooks/f.yaml", lifecycle.Reply{Block: true, Reason: "no pushing on Fridays."})
	call()
	contains(
		t,
		w.do("/why"),
		`hook "friday" refused the call of Bash, `,
		"no pushing on Fridays.\n",
		"It is defined in hooks/f.yaml.",
		"Before that:\n",
		`plugin "careful" changed`,
	)
}
