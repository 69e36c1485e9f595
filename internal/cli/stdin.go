package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/terminal"
)

// maxInput bounds what is read from standard input: no model takes more.
const maxInput = 16 << 20

// patience is how long nothing may come on standard input before the user is told
// what the run waits for.
const patience = time.Second

// socketWait is how long a socket may take to begin. Shells make pipes; sockets come
// from programs that start others and often never write to them.
const socketWait = 5 * time.Second

// anyTime is the value of --stdin-wait that nobody gave.
const anyTime time.Duration = -1

// turns are what a run works through.
type turns struct {
	prompts []string
	piped   string // What came on standard input beside the prompts.
}

// turn is one prompt with what goes to the model behind it.
type turn struct{ prompt, piped string }

// turns reads what the run is to do; "-" and no prompt at all mean standard input. Where
// nothing means it, what is piped in goes along with a prompt: that of `git diff | aura
// run "review this"`. Built-in commands never take it.
func (e *env) turns(ctx context.Context, args []string, wait time.Duration) (turns, error) {
	if len(args) == 0 {
		if terminal.Is(e.in) {
			return turns{}, &usageError{errors.New(`no prompt: give one as an argument or on standard input`)}
		}
		args = []string{"-"}
	}
	t := turns{prompts: slices.Clone(args)}
	for i, arg := range args {
		if arg == "-" {
			text, err := e.input(ctx, func() {}, 0)
			if err != nil {
				return turns{}, err
			}
			t.prompts[i] = strings.TrimSpace(text)
		}
		if strings.TrimSpace(t.prompts[i]) == "" {
			return turns{}, &usageError{errors.New("the prompt is empty")}
		}
	}
	if wait == 0 || slices.Contains(args, "-") || !slices.ContainsFunc(t.prompts, notBuiltin) {
		return t, nil
	}
	limit, ok := e.piped(wait)
	if !ok {
		return t, nil
	}
	text, err := e.input(ctx, func() {
		e.warn("waiting for standard input (</dev/null or --stdin-wait 0: go on without it)")
	}, limit)
	if strings.TrimSpace(text) != "" {
		t.piped = strings.Trim(text, "\r\n")
	}
	return t, err
}

func notBuiltin(prompt string) bool {
	name, _, command := commands.Parse(prompt)
	if !command {
		return true
	}
	_, err := commands.Find(commands.Builtin(), name)
	return err != nil
}

// assign gives what was piped in to the first prompt that takes it and says so: it may
// be the rest of a list or script that a shell around aura wanted to read.
func (e *env) assign(a *app.App, t turns) []turn {
	list := make([]turn, len(t.prompts))
	for i, p := range t.prompts {
		list[i].prompt = p
	}
	if t.piped == "" {
		return list
	}
	i := slices.IndexFunc(t.prompts, a.Commands().Takes)
	if i < 0 {
		e.warn(fmt.Sprintf("standard input (%d B) is not used: no prompt takes it", len(t.piped)))
		return list
	}
	e.warn(fmt.Sprintf("standard input (%d B) goes with the prompt", len(t.piped)))
	list[i].piped = t.piped
	return list
}

// piped reports whether standard input holds something for a run that did not ask for
// it, and how long that may take to begin, 0 for any time. Terminals and other devices,
// /dev/null among them, hold nothing. A file that is read from its middle belongs to who
// read its beginning: the shell of a `while read` loop or of a script on standard input.
func (e *env) piped(wait time.Duration) (limit time.Duration, ok bool) {
	info, err := e.in.Stat()
	if err != nil {
		return 0, false
	}
	limit = max(wait, 0)
	switch mode := info.Mode(); {
	case mode.IsRegular():
		offset, err := e.in.Seek(0, io.SeekCurrent)
		if err != nil || offset == 0 {
			return limit, true
		}
		if offset < info.Size() {
			e.warn(`standard input is left alone: another program reads it, too (the prompt "-" takes the rest of it)`)
		}
		return 0, false
	case mode&fs.ModeSocket != 0:
		if wait == anyTime {
			limit = socketWait
		}
		return limit, true
	default:
		return limit, mode&fs.ModeNamedPipe != 0
	}
}

// input reads standard input to its end. slow is called if it does not begin soon. If
// limit is not 0 and nothing comes within it, the user is told and there is no input.
func (e *env) input(ctx context.Context, slow func(), limit time.Duration) (string, error) {
	began, done := make(chan struct{}), make(chan error, 1)
	var text strings.Builder
	go func() { // Nothing ends a read of standard input; it is left behind.
		var first [512]byte
		n, err := e.in.Read(first[:])
		text.Write(first[:n])
		close(began)
		if err == nil {
			_, err = io.Copy(&text, io.LimitReader(e.in, maxInput))
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		done <- err
	}()
	if !begins(ctx, began, slow, limit) {
		e.warn(
			fmt.Sprintf(
				"nothing came on standard input for %s: going on without it (</dev/null: there is none; "+
					"--stdin-wait: wait longer)",
				limit,
			),
		)
		return "", nil
	}
	select {
	case err := <-done:
		switch {
		case err != nil:
			return "", fmt.Errorf("standard input: %w", err)
		case text.Len() > maxInput:
			return "", fmt.Errorf("standard input: more than %d MB is too much for a prompt", maxInput>>20)
		}
		return text.String(), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// begins waits for the beginning of input, or the end of ctx. It is false if neither
// came within limit.
func begins(ctx context.Context, began <-chan struct{}, slow func(), limit time.Duration) bool {
	var end <-chan time.Time
	if limit > 0 {
		end = time.After(limit)
	}
	notice := time.After(patience)
	for {
		select {
		case <-began:
			return true
		case <-ctx.Done():
			return true
		case <-notice:
			slow()
		case <-end:
			return false
		}
	}
}
