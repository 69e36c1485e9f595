package app

import (
	"context"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/workspace"
)

// What the command line decides, see package workspace.
type (
	Options          = workspace.Options
	Choice           = workspace.Choice
	Limits           = workspace.Limits
	TaskOptions      = workspace.TaskOptions
	ExtensionOptions = workspace.ExtensionOptions
	ChildOptions     = workspace.ChildOptions
	PluginFlags      = workspace.PluginFlags
)

// Face is how a session meets the user. All fields are optional.
type Face struct {
	Observe func(agent.Event)
	Print   func(text string) // Output of commands.

	// Approve and Ask put something to the user; nil means that nobody is there.
	Approve func(context.Context, agent.Approval) agent.Decision
	Ask     func(context.Context, agent.Question) ([]string, error)

	// Begin is told which handler is about to run, Trace what came of it. Both may be
	// called by several goroutines.
	Begin func(lifecycle.Moment, lifecycle.Source)
	Trace func(lifecycle.Record)
}
