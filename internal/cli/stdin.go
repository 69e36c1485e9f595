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

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/plain"
)

// maxInput bounds what is read from standard input: no model takes more.
const maxInput = 16 << 20

// prompts are the turns of a run; "-" and no prompt at all mean standard input. Where
// nothing means it, what is piped in belongs to the first turn that is no slash
// command: that of `git diff | aura run "review this"`.
func (e *env) prompts(ctx context.Context, args []string, wait time.Duration) ([]string, error) {
	if len(args) == 0 {
		if plain.IsTerminal(e.in) {
			return nil, &usageError{errors.New(`no prompt: give one as an argument or on standard input`)}
		}
		args = []string{"-"}
	}
	out := make([]string, len(args))
	asked := false
	for i, arg := range args {
		out[i] = arg
		if arg == "-" {
			text, err := e.input(ctx, 0)
			if err != nil {
				return nil, err
			}
			out[i], asked = strings.TrimSpace(text), true
		}
		if strings.TrimSpace(out[i]) == "" {
			return nil, &usageError{errors.New("the prompt is empty")}
		}
	}
	if asked || wait <= 0 || !e.piped() {
		return out, nil
	}
	text, err := e.input(ctx, wait)
	if err != nil || strings.TrimSpace(text) == "" {
		return out, err
	}
	first := slices.IndexFunc(out, func(p string) bool {
		_, _, command := commands.Parse(p)
		return !command
	})
	out[max(first, 0)] += "\n\n" + strings.Trim(text, "\r\n")
	return out, nil
}

// piped reports whether standard input is a file or a pipe. Terminals and other
// devices, /dev/null among them, hold nothing for a run.
func (e *env) piped() bool {
	info, err := e.in.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0)
}

// input reads standard input to its end. If wait is not 0 and nothing comes within
// it, the person is told and there is no input: programs that start others leave
// pipes open that nobody ever writes to.
func (e *env) input(ctx context.Context, wait time.Duration) (string, error) {
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
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-began:
		case <-ctx.Done():
		case <-timer.C:
			e.warn(fmt.Sprintf("nothing came on standard input for %s: going on without it (</dev/null: there is none; --stdin-wait: wait longer)", wait))
			return "", nil
		}
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
