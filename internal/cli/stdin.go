package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/terminal"
)

const (
	// maxInput bounds what is read from standard input: no model takes more.
	maxInput = 16 << 20

	// noticeAfter is how long nothing may come on standard input before the user is told
	// what the run waits for.
	noticeAfter = time.Second

	// socketWait is how long a socket may take to begin. Shells make pipes; sockets come
	// from programs that start others and often never write to them.
	socketWait = 5 * time.Second

	// defaultWait stands for --stdin-wait if the flag was not given.
	defaultWait time.Duration = -1
)

// stdin reads the standard input of a run.
type stdin struct {
	file *os.File
	warn func(string)
}

func (s stdin) isTerminal() bool { return terminal.Is(s.file) }

// hasInput reports whether standard input holds something for a run that did not ask for
// it, and how long that may take to begin, 0 for any time. Terminals and other devices,
// /dev/null among them, hold nothing. A file that is read from its middle belongs to the
// program that read its beginning: the shell of a `while read` loop or of a script on
// standard input.
func (s stdin) hasInput(wait time.Duration) (limit time.Duration, ok bool) {
	info, err := s.file.Stat()
	if err != nil {
		return 0, false
	}
	limit = max(wait, 0)
	switch mode := info.Mode(); {
	case mode.IsRegular():
		offset, err := s.file.Seek(0, io.SeekCurrent)
		if err != nil || offset == 0 {
			return limit, true
		}
		if offset < info.Size() {
			s.warn(`standard input is left alone: another program reads it, too (the prompt "-" takes the rest of it)`)
		}
		return 0, false
	case mode&fs.ModeSocket != 0:
		if wait == defaultWait {
			limit = socketWait
		}
		return limit, true
	default:
		return limit, mode&fs.ModeNamedPipe != 0
	}
}

// read reads standard input to its end. slow is called if it does not begin soon. If
// limit is not 0 and nothing comes within it, the user is told and there is no input.
func (s stdin) read(ctx context.Context, slow func(), limit time.Duration) (string, error) {
	began, done := make(chan struct{}), make(chan error, 1)
	var text strings.Builder
	go func() { // A read of standard input cannot be canceled: it is abandoned.
		var first [512]byte
		n, err := s.file.Read(first[:])
		text.Write(first[:n])
		close(began)
		if err == nil {
			_, err = io.Copy(&text, io.LimitReader(s.file, maxInput))
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		done <- err
	}()
	if !begins(ctx, began, slow, limit) {
		s.warn(fmt.Sprintf("nothing came on standard input for %s: going on without it (</dev/null: there is none; "+
			"--stdin-wait: wait longer)", limit))
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
	notice := time.After(noticeAfter)
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
