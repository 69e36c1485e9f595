package tool

import (
	"context"

	"github.com/idelchi/aura/sdk"
)

// Command is a slash command that an extension brings. The built-in ones are in
// package commands.
type Command struct {
	sdk.CommandSchema
	Source Source

	// Run executes the command; args is the raw text after its name.
	Run func(ctx context.Context, args string, snapshot Context) (sdk.CommandResult, error)

	// Prompt stands in for Run where the command only makes something for the model.
	Prompt func(ctx context.Context, args string) (Result, error)
}
