package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/terminal"
)

// runFlags are the flags of `aura run`.
type runFlags struct {
	output    string
	timeout   time.Duration
	stdinWait time.Duration
}

func newRun(e *env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT...]",
		Short: "Work through prompts and exit",
		Long: `Each argument is one turn of the conversation; slash commands are allowed. Without
arguments, or for the argument "-", the prompt is read from standard input.

What is piped or redirected into a run with prompts goes to the model with the first
of them; built-in slash commands never take it. A pipe is read to its end, however
long that takes. In a loop or script that reads standard input itself, keep it away
from aura with </dev/null or --stdin-wait 0.

The answer goes to standard output, everything else to standard error. The exit
code is 0 if every turn went well, 1 if not, 2 for a wrong command line.`,
		Example: `  aura run "what does this repository do?"
  aura run "/auto on" "write the tests" "make them pass"
  git diff | aura run "review this"
  while read f; do aura run "check $f" </dev/null; done < list
  aura run < prompt.md
  aura run --output json "list the open TODOs"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("stdin-wait") {
				f.stdinWait = defaultWait
			} else if f.stdinWait < 0 {
				return &usageError{fmt.Errorf("--stdin-wait: %s is negative", f.stdinWait)}
			}
			return runPrompts(cmd.Context(), e, f, args)
		},
	}
	cmd.Flags().StringVar(&f.output, "output", "text", "text, json or stream-json")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this time, for example 10m")
	cmd.Flags().DurationVar(&f.stdinWait, "stdin-wait", 0,
		"with a prompt: go on without piped input that does not begin within this time; "+
			"0 does not look for it (default: wait for a pipe, 5s for a socket)")
	_ = cmd.RegisterFlagCompletionFunc(
		"output",
		cobra.FixedCompletions(plain.Formats(), cobra.ShellCompDirectiveNoFileComp),
	)
	return cmd
}

func runPrompts(ctx context.Context, e *env, f runFlags, args []string) error {
	out, err := plain.NewOutput(f.output, plain.PrinterOptions{Out: e.out, Err: e.err, Verbose: e.flags.verbose})
	if err != nil {
		return &usageError{fmt.Errorf("--%w", err)}
	}
	if f.timeout < 0 {
		return &usageError{fmt.Errorf("--timeout: %s is negative", f.timeout)}
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("timed out after %s (--timeout)", f.timeout))
		defer cancel()
	}
	work, err := readTurns(ctx, stdin{file: e.in, warn: e.warn}, args, f.stdinWait)
	if err != nil {
		return notStarted(out, err)
	}
	face := app.Face{Observe: out.Observe, Print: commandPrinter(out, e.err)}
	if terminal.Is(e.in) && terminal.Is(e.err) {
		// The run can put questions to the user. Ctrl+C at a question ends it.
		printer, _ := out.(*plain.Printer)
		editor := plain.NewEditor(e.in, e.err, plain.EditorOptions{})
		defer editor.Close()
		askAtTerminal(&face, e, editor, printer, func() { interrupt(errInterrupted) })
	}
	a, err := app.Open(ctx, e.flags.options(), face)
	if err != nil {
		return notStarted(out, causeOf(ctx, err))
	}
	if e.flags.dry == "render" {
		defer a.Close("exit")
		a.Ready(ctx)
		a.Review()
		return renderTurns(ctx, e, a, work)
	}
	err = causeOf(ctx, playTurns(ctx, e, a, work, func() { followVerbose(out, a) }))
	return finishRun(a, out, err)
}

// commandPrinter prints the output of commands where the answer goes, or to errOut if
// the answer is for programs.
func commandPrinter(out plain.Output, errOut io.Writer) func(text string) {
	if p, ok := out.(*plain.Printer); ok {
		return p.Print
	}
	return func(text string) { fmt.Fprintln(errOut, text) }
}

// causeOf is err, or why ctx ended if it is because of that.
func causeOf(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// finishRun ends a run whose turns came to err.
func finishRun(a *app.App, out plain.Output, err error) error {
	reason := "exit"
	switch {
	case errors.Is(err, context.Canceled):
		reason = "cancelled"
	case err != nil:
		reason = "error"
	}
	o := plain.Outcome{Agent: a.Agent().Profile().Agent, Model: a.Agent().Profile().Model.Name, Err: err}
	if errors.Is(err, errBrokenPipe) {
		o.Err = nil // Whoever closed the pipe knows.
	}
	if log := a.Agent().Log(); log != nil && log.Saved() {
		o.SessionID = log.ID()
	}
	if err := errors.Join(a.Close(reason), out.Finish(o)); err != nil {
		return err
	}
	if err == nil {
		return nil
	}
	return reportedError(err)
}

// notStarted reports an error from before the session in the format of the output.
func notStarted(out plain.Output, err error) error {
	_, text := out.(*plain.Printer)
	if _, usage := errors.AsType[*usageError](err); text || usage {
		return err
	}
	if err := out.Finish(plain.Outcome{Err: err}); err != nil {
		return err
	}
	return reportedError(err)
}

// playTurns runs the turns one after another. A command that fails is reported and the
// rest goes on; when the model fails, nothing more can be done. before is called before
// each turn.
func playTurns(ctx context.Context, e *env, a *app.App, t turns, before func()) error {
	key, err := e.flags.sessionKey(a)
	if err != nil {
		return err
	}
	if err := a.Start(ctx, key); err != nil {
		return err
	}
	var failed []error
	for _, p := range t.list(a, e.warn) {
		before()
		err := a.Commands().Process(ctx, p.prompt, p.piped)
		if errors.Is(err, commands.ErrExit) {
			break
		}
		if err == nil {
			continue
		}
		failed = append(failed, err)
		if _, _, command := commands.Parse(p.prompt); !command || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// followVerbose makes the output show thinking if the session says so.
func followVerbose(out plain.Output, a *app.App) {
	if p, ok := out.(*plain.Printer); ok {
		p.SetVerbose(a.Agent().Switches().Verbose())
	}
}

// renderTurns prints what a model would get, without calling one.
func renderTurns(ctx context.Context, e *env, a *app.App, t turns) error {
	system, err := a.Agent().SystemPrompt(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%s\n", system)
	for _, p := range t.list(a, e.warn) {
		text, err := a.Commands().Rendered(ctx, p.prompt, p.piped)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.out, "\n[user] %s\n", text)
	}
	return nil
}
