// Package commands holds the built-in slash commands, one file each, and finds
// the command that a line of input calls. It owns no state: a command acts on the
// session it is given.
package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

// ErrExit is returned by the command that ends the session.
var ErrExit = errors.New("exit")

// Command is one slash command.
type Command struct {
	Name        string   // Without the slash, lower case.
	Group       string   // Heading in /help; empty for commands of extensions.
	Description string   // One line.
	Hints       []string // Labels of the arguments.
	Details     string   // More text for /help with the command's name.
	Source      string   // "" for built-in commands, else who added it.

	// Run executes the command; args is the text after its name, without blanks at
	// its ends unless Raw is set.
	Run func(ctx context.Context, s *Session, args string) error
	Raw bool // Run and Prompt get what Typed returns.

	// Prompt stands in for Run where the command makes something for the model. If it
	// makes nothing, nothing is sent.
	Prompt   func(ctx context.Context, s *Session, args string) (agent.Input, error)
	Template bool // Prompt only puts args into a text; it needs no session.
}

// Call executes the command. piped is text that goes to the model with what the
// command sends there; it is no part of args, and only commands with Prompt take it.
func (c Command) Call(ctx context.Context, s *Session, args, piped string) error {
	if c.Prompt == nil {
		return c.Run(ctx, s, args)
	}
	in, err := c.Prompt(ctx, s, args)
	if err != nil || in.Text == "" && len(in.Images) == 0 {
		return err
	}
	in.Text = WithPiped(in.Text, piped)
	_, err = s.Agent.Send(ctx, in)
	return err
}

// WithPiped is a prompt together with what was piped in.
func WithPiped(prompt, piped string) string {
	if piped == "" {
		return prompt
	}
	return prompt + "\n\n" + piped
}

// Session is what commands act on.
type Session struct {
	Agent     *agent.Agent
	Store     *session.Store
	Reads     ReadSwitches
	Approvals Approvals
	MCP       Servers
	Skills    Skills

	Extensions *extension.Set // What extends the session; nil: nothing.
	Lists
	Actions
}

// ReadSwitches turn the rule that files must be read before they are changed.
type ReadSwitches interface {
	Effective(write, delete bool) (bool, bool) // The rule, given what is configured.
	Override(write, delete *bool)              // nil leaves one as it is.
}

// Approvals are the patterns that the user has allowed.
type Approvals interface {
	Session() []string  // For this session.
	Patterns() []string // All.
}

// Servers are the MCP servers of the session.
type Servers interface {
	Table() string
	Describe(ctx context.Context, name string) (string, error)
	Reconnect(ctx context.Context, name string) error
}

// Skills are the skills of the session.
type Skills interface {
	Table() string
	Text(name string) (string, error) // As the model reads it.
}

// Lists are what there is to choose from.
type Lists struct {
	Commands func() []Command // All commands, those of extensions included.
	Agents   func() []Choice  // Agents a user can choose.
	Modes    func() []Choice
	Tools    func() []tool.Tool // Every tool there is, before filters.
	Models   func(ctx context.Context) ([]Choice, error)
}

// Actions are what a command can do beyond the agent.
type Actions struct {
	Print    func(text string)                             // Shows text to the user.
	Submit   func(ctx context.Context, input string) error // Processes input as if it had been typed.
	Reload   func(ctx context.Context) error               // Reads the configuration anew.
	SetModel func(name string) error                       // Overrides the model of the profile.

	Sandbox    func() agent.SandboxState
	SetSandbox func(on bool) error
	Shell      func(ctx context.Context, command string) bool

	// Restore takes over what a resumed session knows beyond the agent: approvals,
	// files read, read-before switches. It is called before the agent resumes; nil
	// restores nothing.
	Restore func(session.Meta)
}

// Choice is one thing a user can pick from a list.
type Choice struct {
	Name        string
	Description string
	Active      bool
}

// Parse splits a line of input into the command it calls and its raw arguments.
// ok is false for input that is not a command. A slash with nothing or a blank behind
// it calls a command without a name, which Find does not know.
func Parse(line string) (name, args string, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "/") || strings.HasPrefix(line, "//") {
		return "", "", false
	}
	name, args, _ = strings.Cut(line[1:], " ")
	if i := strings.IndexAny(name, "\t\n"); i >= 0 {
		name, args = line[1:1+i], line[1+i+1:]
	}
	if strings.Contains(name, "/") { // A path, not a command.
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(args), true
}

// Typed returns the arguments of a command as they were typed: only what separates
// them from the name, and line ends after them, are missing.
func Typed(line string) string {
	line = strings.TrimLeft(line, blanks)
	i := strings.IndexAny(line, blanks)
	if i < 0 {
		return ""
	}
	return strings.TrimRight(strings.TrimLeft(line[i:], blanks), "\r\n")
}

// Find returns the first command of that name. Names are not case-sensitive.
func Find(list []Command, name string) (Command, error) {
	if name == "" {
		return Command{}, errors.New("not a command: the name must follow the slash at once, as in /help")
	}
	i := slices.IndexFunc(list, func(c Command) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		names := make([]string, len(list))
		for i := range list {
			names[i] = list[i].Name
		}
		hint := ""
		if near := wording.Closest(name, names); near != "" {
			hint = fmt.Sprintf(", did you mean /%s?", near)
		}
		return Command{}, fmt.Errorf("unknown command: /%s (try /help)%s", name, hint)
	}
	return list[i], nil
}
