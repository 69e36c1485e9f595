package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/terminal"
)

// lineChat is a conversation line by line.
type lineChat struct {
	env        *env
	app        *app.App // nil while the session opens.
	editor     *plain.Editor
	printer    *plain.Printer
	interrupts *plain.Interrupter
}

// chatInLines holds a conversation line by line until the user ends it.
func chatInLines(ctx context.Context, e *env) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	c := &lineChat{
		env:     e,
		printer: plain.NewPrinter(plain.PrinterOptions{Out: e.out, Err: e.err, Verbose: e.flags.verbose}),
	}
	c.editor = plain.NewEditor(e.in, e.out, plain.EditorOptions{
		History:  historyFile(&e.flags),
		Complete: func(line string, pos int) []string { return complete(c.app, line[:pos]) },
	})
	defer c.editor.Close()
	c.interrupts = plain.Interrupts(ctx, quit, func() { fmt.Fprintln(e.err, "(press Ctrl+C again to quit)") })
	defer c.interrupts.Stop()
	defer e.onBrokenPipe(func() {
		e.ended.CompareAndSwap(nil, errBrokenPipe)
		quit()
	})()
	if err := c.open(ctx); err != nil {
		e.ended.CompareAndSwap(nil, endedBy(c.interrupts.Signal()))
		return err
	}
	err := c.loop(ctx)
	reason := "exit"
	if ctx.Err() != nil {
		reason = "cancelled"
		why := cmp.Or(e.ended.Load(), endedBy(c.interrupts.Signal()))
		if (why == nil || why == errInterrupted) && c.editor.Interactive() {
			why, reason = nil, "exit" // For a user Ctrl+C is one way to leave.
		}
		if why != nil {
			err = codeError(why.code)
		}
	}
	_ = c.printer.Finish(plain.Outcome{}) // A terminal that cannot be written to cannot be told so.
	return errors.Join(err, c.app.Close(reason))
}

// open opens and starts the session. If it fails, nothing is left open.
func (c *lineChat) open(ctx context.Context) error {
	face := app.Face{Observe: c.printer.Observe, Print: c.printer.Print}
	if c.editor.Interactive() {
		askAtTerminal(&face, c.env, c.editor, c.printer, c.interrupts.Press)
	}
	ctx, opened := c.interrupts.Turn(ctx)
	a, err := app.Open(ctx, c.env.flags.options(), face)
	if err != nil {
		return err
	}
	c.app = a
	if err := c.start(ctx); err != nil {
		return errors.Join(err, a.Close("error"))
	}
	opened()
	return nil
}

// start starts or resumes the session and greets the user.
func (c *lineChat) start(ctx context.Context) error {
	key, err := c.env.flags.sessionKey(c.app)
	if err != nil {
		return err
	}
	if err := c.app.Start(ctx, key); err != nil {
		return err
	}
	if !c.editor.Interactive() {
		return nil
	}
	p := c.app.Agent().Profile()
	fmt.Fprintf(
		c.env.err,
		"aura %s · agent %s · %s (%s) · /help for commands, Ctrl+D to leave\n",
		version,
		p.Agent,
		p.Model.Name,
		p.Model.Provider,
	)
	return nil
}

// loop reads and submits lines until the end. Errors of a turn are shown and the
// conversation goes on; without a terminal they make the exit code 1.
func (c *lineChat) loop(ctx context.Context) error {
	failed := false
	for {
		line, err := c.editor.ReadLine(ctx, c.prompt())
		switch {
		case errors.Is(err, plain.ErrInterrupt):
			c.interrupts.Press()
			continue
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			if failed && !c.editor.Interactive() {
				return codeError(exitError)
			}
			return nil
		case err != nil:
			return err
		}
		c.interrupts.Typed()
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		turn, end := c.interrupts.Turn(ctx)
		c.printer.SetVerbose(c.app.Agent().Switches().Verbose())
		err = c.app.Submit(turn, line)
		canceled := plain.Interrupted(turn)
		end()
		switch {
		case errors.Is(err, commands.ErrExit):
			return nil
		case ctx.Err() != nil: // Whoever asked for the end knows.
		case canceled:
			c.printer.Observe(agent.Event{Kind: agent.Noticed, Text: "interrupted"})
		case err != nil:
			failed = true
			c.printer.Observe(agent.Event{Kind: agent.Noticed, Text: "error: " + err.Error()})
		}
	}
}

// prompt shows which agent and mode the line goes to.
func (c *lineChat) prompt() string {
	p := c.app.Agent().Profile()
	text := p.Agent
	if p.Mode != "" {
		text += ":" + p.Mode
	}
	return text + "> "
}

// askAtTerminal puts the questions of a session to the user through an editor. interrupt
// is called for Ctrl+C at a question.
func askAtTerminal(face *app.Face, e *env, editor *plain.Editor, printer *plain.Printer, interrupt func()) {
	o := plain.AskerOptions{
		Editor: editor, Out: e.err, Workdir: e.flags.workdir,
		Color: terminal.Color(e.err, os.Getenv), Interrupt: interrupt,
	}
	if printer != nil {
		o.Pause = printer.Pause
	}
	asker := plain.NewAsker(o)
	face.Approve, face.Ask = asker.Approve, asker.Ask
}
