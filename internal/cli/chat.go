package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/tui"
)

// chat holds a conversation: on the whole screen if there is one, else line by
// line.
func (e *env) chat(ctx context.Context) error {
	if !e.flags.plain && terminal.Is(e.in) && terminal.Is(e.out) && os.Getenv("TERM") != "dumb" {
		return e.screen(ctx)
	}
	return e.lines(ctx)
}

// screen holds a conversation on the whole screen until the user ends it.
func (e *env) screen(ctx context.Context) error {
	workdir, err := filepath.Abs(e.flags.workdir)
	if err != nil {
		return fmt.Errorf("workdir: %w", err)
	}
	var a *app.App
	ui := tui.New(tui.Options{
		In: e.in, Out: e.out, Workdir: workdir, History: e.historyFile(), Version: version, Suggest: guard.Suggest,
	})
	opening, opened := e.interruptible(ctx)
	defer opened()
	if a, err = app.Open(opening, e.flags.options(), app.Face{
		Observe: ui.Observe, Print: ui.Print, Approve: ui.Approve, Ask: ui.Ask, Begin: ui.Begin, Trace: ui.Trace,
	}); err != nil {
		return err
	}
	opened() // From now on the interface sees to signals.
	key, err := e.sessionKey(a)
	if err != nil {
		return errors.Join(err, a.Close("error"))
	}
	err = ui.Run(ctx, a, key)
	reason := "exit"
	if s, ok := errors.AsType[*tui.SignalError](err); ok {
		reason, err = "cancelled", codeError(endedBy(s.Signal).code)
	}
	err = errors.Join(err, a.Close(reason))
	if log := a.Agent().Log(); log != nil && log.Saved() {
		fmt.Fprintf(e.err, "to go on with this session: aura --resume %s\n", log.ID())
	}
	return err
}

// lines holds a conversation line by line until the user ends it.
func (e *env) lines(ctx context.Context) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	printer := plain.NewPrinter(plain.PrinterOptions{Out: e.out, Err: e.err, Verbose: e.flags.verbose})
	var a *app.App
	editor := plain.NewEditor(e.in, e.out, plain.EditorOptions{
		History:  e.historyFile(),
		Complete: func(line string, pos int) []string { return complete(a, line[:pos]) },
	})
	defer editor.Close()
	interrupts := plain.Interrupts(ctx, quit, func() { fmt.Fprintln(e.err, "(press Ctrl+C again to quit)") })
	defer interrupts.Stop()
	defer e.whenUnread(func() {
		e.ended.CompareAndSwap(nil, errUnread)
		quit()
	})()

	face := app.Face{Observe: printer.Observe, Print: printer.Print}
	if editor.Interactive() {
		e.ask(&face, editor, printer, interrupts.Press)
	}
	opening, opened := interrupts.Turn(ctx)
	a, err := app.Open(opening, e.flags.options(), face)
	if err == nil {
		if err = e.begin(opening, a, editor.Interactive()); err != nil {
			err = errors.Join(err, a.Close("error"))
		}
	}
	if err != nil {
		e.ended.CompareAndSwap(nil, endedBy(interrupts.Signal()))
		return err
	}
	opened()
	err = e.converse(ctx, a, editor, printer, interrupts)
	reason := "exit"
	if ctx.Err() != nil {
		reason = "cancelled"
		why := cmp.Or(e.ended.Load(), endedBy(interrupts.Signal()))
		if (why == nil || why == errInterrupted) && editor.Interactive() {
			why, reason = nil, "exit" // For a user Ctrl+C is one way to leave.
		}
		if why != nil {
			err = codeError(why.code)
		}
	}
	_ = printer.Finish(plain.Outcome{}) // A terminal that cannot be written to cannot be told so.
	return errors.Join(err, a.Close(reason))
}

// begin starts or resumes the session and greets the user.
func (e *env) begin(ctx context.Context, a *app.App, greet bool) error {
	key, err := e.sessionKey(a)
	if err != nil {
		return err
	}
	if err := a.Start(ctx, key); err != nil {
		return err
	}
	if greet {
		p := a.Agent().Profile()
		fmt.Fprintf(
			e.err,
			"aura %s · agent %s · %s (%s) · /help for commands, Ctrl+D to leave\n",
			version,
			p.Agent,
			p.Model.Name,
			p.Model.Provider,
		)
	}
	return nil
}

// converse is the loop of the line mode. Errors of a turn are shown and the
// conversation goes on; without a terminal they make the exit code 1.
func (e *env) converse(
	ctx context.Context,
	a *app.App,
	editor *plain.Editor,
	printer *plain.Printer,
	interrupts *plain.Interrupter,
) error {
	failed := false
	for {
		line, err := editor.ReadLine(ctx, prompt(a))
		switch {
		case errors.Is(err, plain.ErrInterrupt):
			interrupts.Press()
			continue
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			if failed && !editor.Interactive() {
				return codeError(exitError)
			}
			return nil
		case err != nil:
			return err
		}
		interrupts.Typed()
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		turn, end := interrupts.Turn(ctx)
		printer.SetVerbose(a.Agent().Switches().Verbose())
		err = a.Submit(turn, line)
		cancelled := plain.Interrupted(turn)
		end()
		switch {
		case errors.Is(err, commands.ErrExit):
			return nil
		case ctx.Err() != nil: // Whoever asked for the end knows.
		case cancelled:
			printer.Observe(agent.Event{Kind: agent.Noticed, Text: "interrupted"})
		case err != nil:
			failed = true
			printer.Observe(agent.Event{Kind: agent.Noticed, Text: "error: " + err.Error()})
		}
	}
}

// prompt shows who is listening.
func prompt(a *app.App) string {
	p := a.Agent().Profile()
	text := p.Agent
	if p.Mode != "" {
		text += ":" + p.Mode
	}
	return text + "> "
}

// attend lets a run put questions to a user at the terminal, until the returned
// function is called. Ctrl+C at a question ends the run.
func (e *env) attend(face *app.Face, out plain.Output, interrupt func()) (leave func()) {
	printer, _ := out.(*plain.Printer)
	editor := plain.NewEditor(e.in, e.err, plain.EditorOptions{})
	e.ask(face, editor, printer, interrupt)
	return editor.Close
}

// ask connects the questions of a session to an editor.
func (e *env) ask(face *app.Face, editor *plain.Editor, printer *plain.Printer, interrupt func()) {
	o := plain.AskerOptions{
		Editor: editor, Out: e.err, Workdir: e.flags.workdir, Suggest: guard.Suggest,
		Color: terminal.Color(e.err, os.Getenv), Interrupt: interrupt,
	}
	if printer != nil {
		o.Pause = printer.Pause
	}
	asker := plain.NewAsker(o)
	face.Approve, face.Ask = asker.Approve, asker.Ask
}

// historyFile is where typed lines are remembered; empty for nowhere.
func (e *env) historyFile() string {
	homes, err := config.FindHomes(e.flags.options().Homes)
	if err != nil || homes.Global == "" || os.MkdirAll(homes.Global, 0o700) != nil {
		return ""
	}
	return filepath.Join(homes.Global, "history")
}

// complete proposes slash commands and their names, and files for everything else.
func complete(a *app.App, before string) []string {
	if a == nil {
		return nil
	}
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	if strings.HasPrefix(before, "/") && word == before {
		var out []string
		for _, c := range a.Commands().Commands() {
			if strings.HasPrefix("/"+c.Name, word) {
				out = append(out, "/"+c.Name)
			}
		}
		return out
	}
	name, _, _ := commands.Parse(before)
	var choices []commands.Choice
	switch name {
	case "agent":
		choices = a.Commands().Agents()
	case "mode":
		choices = a.Commands().Modes()
	default:
		return files(a.Agent().Snapshot().Workdir, word)
	}
	var out []string
	for _, c := range choices {
		if strings.HasPrefix(strings.ToLower(c.Name), strings.ToLower(word)) {
			out = append(out, c.Name)
		}
	}
	return out
}

// files lists the paths below dir that begin with word.
func files(dir, word string) []string {
	matches, err := filepath.Glob(
		filepath.Join(dir, strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(word)) + "*",
	)
	if err != nil || word == "" {
		return nil
	}
	var out []string
	for _, m := range matches {
		rel, err := filepath.Rel(dir, m)
		if err != nil {
			continue
		}
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			rel += "/"
		}
		out = append(out, rel)
	}
	return out
}
