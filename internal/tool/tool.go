// Package tool is the contract between the agent and everything it can call:
// built-in tools, plugin tools, extension tools and MCP tools are all a Tool.
// It contains no tool; the built-in ones are in package tools.
package tool

import (
	"context"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/internal/media"
	"github.com/idelchi/aura/sdk"
)

// Tool is one thing the model can call. The zero value of every optional field
// is the default.
type Tool struct {
	Name        string // Unique and case-sensitive.
	Description string
	Usage       string // How to use it; sent to the model after the description.
	Examples    string // Likewise, after the usage.
	Schema      *Schema
	Source      Source

	// Execute runs the tool with arguments that satisfy Schema. An error is told
	// to the model as the result of the call. It is called by Run only.
	Execute func(ctx context.Context, call Call) (Result, error)

	// Paths declares what a call will read and write; nil means nothing.
	Paths func(args map[string]any) (Paths, error)

	Serial      bool          // Must not run beside other calls of the same response.
	InProcess   bool          // Cannot run in the sandboxed child.
	OptIn       bool          // Hidden unless a filter names it.
	Override    bool          // Takes the place of a tool of the same name.
	Confirm     bool          // A user must approve each call, as by a confirm rule.
	SideEffects []string      // Shown in approvals and listings.
	Timeout     time.Duration // Deadline of Execute; 0 means the tool keeps its own.

	// Guard watches over the calls and knows whether they are switched off. The tools of
	// one plugin share it. nil: nothing is ever switched off.
	Guard *foreign.Guard

	Condition Condition // When the tool is offered to the model; nil means always.
}

// Condition says when a tool is offered. *condition.Expr is one.
type Condition interface {
	// Eval reports whether the condition holds; shell runs a command and reports its
	// success.
	Eval(ctx context.Context, snapshot *Context, shell func(ctx context.Context, command string) bool) bool
	String() string
}

// Source says where a tool comes from.
type Source struct {
	Kind string // "builtin", "plugin", "extension" or "mcp".
	Name string // The plugin, extension or server; empty for built-in tools.
}

// Call is one execution of a tool.
type Call struct {
	ID      string
	Args    map[string]any
	Context Context // Snapshot at the time of the call.
	Workdir string  // Absolute; relative paths in Args are relative to it.

	// Output receives live output while the tool runs. It may be nil.
	Output func(chunk string)

	// Host is the agent that runs the tool; nil under `aura tools`.
	Host Host
}

// Image is a picture in a result.
type Image = media.Image

// Result is what a tool answers.
type Result struct {
	Text   string
	Images []Image
	Done   bool // The model has declared its work finished: the turn ends.
}

// Host is what a tool may ask of the agent that runs it.
type Host interface {
	// Run makes another tool call through the same gates as one of the model.
	Run(ctx context.Context, name string, args map[string]any) (Result, error)
	// Delegate lets a sub-agent work on prompt and returns its answer.
	// An empty agent means the one that is active.
	Delegate(ctx context.Context, agent, description, prompt string) (string, error)
	// Ask puts a question to the user. It fails where nobody can answer.
	Ask(ctx context.Context, q Question) ([]string, error)
	// Load offers deferred tools from the next request on; names may be patterns. It
	// returns the tools that can be called then, and an error about the names that
	// stand for none.
	Load(names []string) ([]string, error)
}

// Question is put to the user while a turn runs.
type Question struct {
	Text    string
	Options []string // Empty: any text.
	Multi   bool     // Several options may be chosen.
}

// Paths are what a call declares to read and write.
type Paths = sdk.ToolPaths

// Context is the snapshot of the session that a call, a command and a condition get.
type Context = sdk.Context
