// Package extension is what all kinds of extensions have in common: a kind is one
// value that loads what it finds, and a Set holds what was loaded, merges it, lists it
// and replaces it as a whole. It knows no kind: hooks, plugins, Python extensions, MCP
// servers, skills and guards each describe themselves by a Kind.
package extension

import (
	"context"
	"fmt"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// Kind is a kind of extension. The order of kinds is their rank: where two bring a tool
// or a command of the same name, the earlier one has it.
type Kind struct {
	Name  string // In listings and JSON: "plugins".
	Title string // Heading of its listing.

	// Handlers is the kind of its handlers on the pipeline; empty: it has none.
	Handlers lifecycle.Kind

	// Load finds and loads what there is of this kind. previous is what the kind loaded
	// before a reload, of which it may take parts over; nil the first time. An error ends
	// the start, or leaves what was loaded before in force.
	Load func(ctx context.Context, previous *Loaded) (Loaded, error)

	// Check looks at everything of this kind and says what is wrong. It may run the
	// extensions, and ends them again. limit is the time that ctx gives it, for messages.
	// nil: there is nothing to check.
	Check func(ctx context.Context, limit time.Duration) []Finding

	// Taken is the error of a tool whose name another one has; nil: the tool is left out,
	// and the user told.
	Taken func(t, owner tool.Tool) error
}

// Loaded is what a kind adds to a session. A function that is nil adds nothing; the
// others are asked whenever the answer may have changed.
type Loaded struct {
	Bindings func() []lifecycle.Binding
	Tools    func() []tool.Tool
	Commands func() []tool.Command
	Prompts  func() []string // Paragraphs of the system prompt.
	List     func() []Item
	Err      func() error // Why nothing of what is listed is in force; nil where it is.
	Problems func() []Problem

	Begin func()                    // Puts it in force, once it is sure that it will be used.
	Ready func(ctx context.Context) // Waits for what starts in the background.
	Close func()                    // Releases everything; it may not have begun.

	Value any // The kind's own view of what was loaded; see Find.
}

// Item is one extension in a listing.
type Item struct {
	Kind        string   `json:"kind"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`           // In one or few words: "active", "off", "shadowed by project".
	Origin      string   `json:"origin,omitempty"` // Where it comes from: "project", "user", "builtin".
	Path        string   `json:"path,omitempty"`   // FILE or FILE:LINE.
	Description string   `json:"description,omitempty"`
	Moments     []string `json:"moments,omitempty"` // Where it takes part, in the words of its kind.
	Tools       []string `json:"tools,omitempty"`
	Confirm     []string `json:"confirm,omitempty"`  // Those of its tools that need approval.
	Commands    []string `json:"commands,omitempty"` // Without the slash.
	Prompts     int      `json:"prompts,omitempty"`  // Paragraphs that it adds to the system prompt.
	Problem     string   `json:"problem,omitempty"`  // Why it is not in force.
}

// Problem is something about an extension that the user should know when a session starts.
type Problem struct {
	Kind string // Of the extension; the set fills it in.
	Name string // Of the extension; empty: the whole kind.
	Text string
}

// Level is how bad a finding is.
type Level string

// The levels of findings. The zero value is OK.
const (
	OK    Level = ""
	Warn  Level = "warn" // Works, though perhaps not as meant.
	Error Level = "fail" // Does not work.
)

// Finding is one thing that a check looked at, and how it is.
type Finding struct {
	Level   Level
	Subject string // What was looked at: "hook go:format".
	Text    string // How it is.
	Hint    string // What can be done about it.
}

// Mistakes makes a finding of each error that is joined in err.
func Mistakes(subject string, err error) []Finding {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []Finding
		for _, e := range joined.Unwrap() {
			out = append(out, Mistakes(subject, e)...)
		}
		return out
	}
	return []Finding{{Level: Error, Subject: subject, Text: err.Error()}}
}

// Count says how many there are: "1 hook", "2 hooks".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
