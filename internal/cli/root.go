package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
		SilenceUsage:      true,
		SilenceErrors:     true,
		Version:           version,
		Args:              noSuchCommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return e.flags.fromEnvironment(cmd) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return chat(cmd.Context(), e) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{withFlagHint(cmd, err)}
	})
	e.flags.register(root)
	for _, newCommand := range []func(*env) *cobra.Command{
		newRun,
		newTools,
		newInit,
		newModels,
		newSessions,
		newList,
		newSkills,
		newTasks,
		newMCP,
		newHooks,
		newPlugins,
		newExtensions,
		newInstall,
		newDoctor,
		newDemo,
		newVersion,
	} {
		root.AddCommand(newCommand(e))
	}
	e.flags.completeValues(root)
	root.SetVersionTemplate(versionText())
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	if cmd, _, err := root.Find([]string{"completion"}); err == nil {
		cmd.Args = arguments(noSubcommand)
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	root.AddCommand(newChat(e))
	root.Use = e.program
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

// noSubcommand rejects words after a command that only has subcommands.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("no subcommand %q: there are %s", args[0], strings.Join(names, ", "))
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
