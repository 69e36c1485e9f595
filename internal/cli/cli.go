// Package cli is the command line: flags, subcommands, exit codes. It decides
// what runs and how its output leaves the program; the work is done by app.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker; "dev" means that nobody did.
var version = "dev"

// Exit codes.
const (
	exitOK        = 0
	exitError     = 1 // The run failed.
	exitUsage     = 2 // The command line was wrong.
	exitInterrupt = 130
	exitUnread    = 141 // Nobody reads the output any more.
)

// env is the world a command runs in.
type env struct {
	in    *os.File
	out   *os.File
	err   *os.File
	flags rootFlags

	ended atomic.Pointer[endedError] // Why the program was asked to end; nil while it was not.
}

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// codeError ends the program with a code; what had to be said has been said.
type codeError int

func (c codeError) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// heapGrowth is the percentage by which the heap may grow between two collections. Go's
// default of 100 spends a quarter of the time of a fast conversation on a small heap.
const heapGrowth = 250

// Main runs the program and returns its exit code.
func Main(args []string, in, out, errOut *os.File) (code int) {
	defer func() {
		if v := recover(); v != nil {
			// A bug of ours: one line for the user, the rest for the report.
			fmt.Fprintf(errOut, "aura: internal error: %v (please report it with the output of AURA_TRACEBACK=1)\n", v)
			if os.Getenv("AURA_TRACEBACK") != "" {
				_, _ = errOut.Write(debug.Stack())
			}
			code = exitError
		}
	}()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	e := &env{in: in, out: out, err: errOut}
	root := newRoot(e)
	root.Use = programName(args)
	root.AddCommand(newChat(e, root.Use == "aura"))
	root.SetArgs(args[1:])
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	return e.exitCode(root.ExecuteContext(context.Background()))
}

// warn tells the user something that does not stop the program.
func (e *env) warn(text string) { fmt.Fprintf(e.err, "! %s\n", text) }

// exitCode reports err to the user and chooses the exit code.
func (e *env) exitCode(err error) int {
	var code codeError
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, syscall.EPIPE) && unread(e.out):
		return exitUnread // Who closed the pipe knows.
	case errors.Is(err, context.Canceled):
		why := cmp.Or(e.ended.Load(), errInterrupted)
		if why != errUnread {
			fmt.Fprintf(e.err, "aura: %s\n", why)
		}
		return why.code
	case errors.As(err, &usage):
		fmt.Fprintf(e.err, "aura: %v\nRun \"aura --help\" for usage.\n", err)
		return exitUsage
	}
	fmt.Fprintf(e.err, "aura: %v\n", err)
	return exitError
}

// newRoot builds the command tree.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "aura",
		Short: "A coding agent that you can extend at every stage of its life",
		Long: `aura is a coding agent for the terminal. Without a subcommand it holds a
conversation; "aura run" works through prompts and exits.

Flags may stand before or after the subcommand. Every flag has a twin in the
environment: --max-steps is AURA_MAX_STEPS.`,
		Example: `  aura                              talk to the default agent
  aura run "fix the failing test"   do one thing and exit
  git diff | aura run               take the prompt from standard input
  aura --continue                   go on where the last session ended
  aura demo                         see it work, without any key`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return e.chat(cmd.Context()) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{withFlagHint(cmd, err)}
	})
	e.flags.register(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return e.flags.fromEnvironment(cmd) }
	root.AddCommand(
		newRun(
			e,
		),
		newTools(e),
		newInit(e),
		newModels(e),
		newSessions(e),
		newSkills(e),
		newTasks(e),
		newMCP(e),
		newHooks(e),
		newPlugins(e),
		newExtensions(e),
		newInstall(e),
		newDoctor(e),
		newDemo(e),
		newVersion(e),
	)
	e.completeFlags(root)
	root.Version = version
	root.SetVersionTemplate(versionText())
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	if cmd, _, err := root.Find([]string{"completion"}); err == nil {
		cmd.Args = arguments(noSubcommand)
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

// newHelp is cobra's help command, except that a wrong topic is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return &usageError{err}
			}
			if len(rest) > 0 {
				return noSuchTopic(about, rest[0])
			}
			return about.Help()
		},
	}
}

func noSuchTopic(cmd *cobra.Command, word string) error {
	hint := ""
	if s := cmd.SuggestionsFor(word); len(s) > 0 {
		hint = fmt.Sprintf(" (did you mean %q?)", s[0])
	}
	return &usageError{fmt.Errorf("help: unknown command %q%s", word, hint)}
}

// noSuchCommand rejects words that are no subcommand.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("(to send a prompt: aura run %q)", strings.Join(args, " "))
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		hint = fmt.Sprintf("(did you mean %q?)", s[0])
	}
	return &usageError{fmt.Errorf("unknown command %q %s", args[0], hint)}
}

// arguments makes the argument check of a subcommand a usage error.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{fmt.Errorf("%s: %w", strings.TrimPrefix(cmd.CommandPath(), "aura "), err)}
		}
		return nil
	}
}

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(e.out, versionText())
			return err
		},
	}
}
