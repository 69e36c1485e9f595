package plain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/idelchi/aura/internal/line"
	"github.com/idelchi/aura/internal/line/history"
	"github.com/idelchi/aura/internal/terminal"
)

// ErrInterrupt is returned when the user presses Ctrl+C on an empty line.
var ErrInterrupt = errors.New("interrupted")

// maxLine bounds a line that is not typed.
const maxLine = 64 << 20

// EditorOptions configures an Editor. The zero value has no completion and
// forgets its history.
type EditorOptions struct {
	// Complete returns candidates for the word left of the cursor; see line.Options.
	Complete func(text string, pos int) []string
	History  string              // File; empty = none.
	Env      func(string) string // nil = os.Getenv.
	Logger   *slog.Logger        // nil = none.
}

// Editor reads lines from a user. On a terminal it edits them; from anything
// else every line is one input and no prompt is printed.
type Editor struct {
	in      io.Reader
	out     io.Writer
	opts    EditorOptions
	history *history.List
	line    *line.Editor // Of ReadLine; it keeps what was killed.
	source  *source

	busy    chan struct{} // Held while a line is read.
	raw     bool          // Both ends are a terminal that knows escape sequences.
	prompts bool          // The input is a terminal at least.

	decoder decoder
	queue   []line.Key // Decoded and not used yet.
	ahead   int        // So many of the next bytes were typed while no key was read.
	plain   []byte     // Read and not used yet, without a terminal.
	failed  error      // Of the input; every later read returns it.
}

// NewEditor makes an editor. The terminal is touched only while ReadLine runs.
func NewEditor(in io.Reader, out io.Writer, o EditorOptions) *Editor {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Editor{in: in, out: out, opts: o, source: newSource(in), busy: make(chan struct{}, 1)}
	e.history = history.Open(o.History, o.Logger)
	e.line = line.New(line.Options{History: e.history.Entries, Complete: o.Complete})
	e.prompts = terminal.Is(in)
	e.raw = e.prompts && terminal.Is(out) && o.Env("TERM") != "dumb"
	return e
}

// Interactive reports whether a user sits at a terminal that can edit lines.
func (e *Editor) Interactive() bool { return e.raw }

// Close ends reading. Call it once, when no ReadLine runs.
func (e *Editor) Close() { e.source.close() }

// ReadLine reads one input. It returns io.EOF at the end of the input or when
// Ctrl+D is pressed on an empty line, ErrInterrupt for Ctrl+C on an empty line, and
// ctx.Err() at once when ctx ends. The terminal is as before when it returns.
// Calls wait for one another.
func (e *Editor) ReadLine(ctx context.Context, prompt string) (string, error) {
	return e.read(ctx, prompt, "", true)
}

// read reads one input that begins with initial. With recall it knows the history
// and becomes part of it.
func (e *Editor) read(ctx context.Context, prompt, initial string, recall bool) (text string, err error) {
	if err := e.acquire(ctx); err != nil {
		return "", err
	}
	defer e.release()
	defer func() {
		if err == nil && recall {
			e.history.Add(text)
		}
	}()
	if !e.raw {
		if e.prompts {
			io.WriteString(e.out, prompt)
		}
		return e.plainLine(ctx)
	}
	err = e.inRaw(func() error {
		text, err = e.edit(ctx, prompt, initial, recall)
		return err
	})
	return text, err
}

func (e *Editor) acquire(ctx context.Context) error {
	select {
	case e.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Editor) release() { <-e.busy }

// inRaw runs f with the terminal in raw mode and restores it whatever happens.
func (e *Editor) inRaw(f func() error) (err error) {
	var state *term.State
	if c, ok := e.source.found(); ok {
		e.ahead = len(c.data)
		e.feed(c)
	}
	if !terminal.Control(e.in, func(fd int) {
		e.ahead = pendingInput(fd)
		state, err = term.MakeRaw(fd)
	}) {
		err = os.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("terminal: cannot read keys: %w", err)
	}
	undo := enableEscapes(e.out)
	io.WriteString(e.out, "\x1b[?2004h")
	defer func() {
		io.WriteString(e.out, "\x1b[?2004l")
		undo()
		terminal.Control(e.in, func(fd int) {
			if e := term.Restore(fd, state); e != nil && err == nil {
				err = fmt.Errorf("terminal: cannot be restored: %w", e)
			}
		})
	}()
	return f()
}

// keys returns the next keys; none if it was woken.
func (e *Editor) keys(ctx context.Context, wake <-chan os.Signal) ([]line.Key, error) {
	if len(e.queue) > 0 {
		keys := e.queue
		e.queue = nil
		return keys, nil
	}
	if e.failed != nil {
		return nil, e.failed
	}
	data, err := e.source.read(ctx, wake)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	e.feed(chunk{data, err})
	keys := e.queue
	if e.queue = nil; len(keys) == 0 {
		return nil, e.failed
	}
	return keys, nil
}

// feed decodes what was read. While no key is read the terminal itself makes
// Enter a newline: in what was typed ahead a newline is Enter.
func (e *Editor) feed(c chunk) {
	n := min(e.ahead, len(c.data))
	e.ahead -= n
	for i, b := range c.data[:n] {
		if b == '\n' {
			c.data[i] = '\r'
		}
	}
	e.queue = append(e.queue, e.decoder.feed(c.data)...)
	if c.err != nil {
		e.failed = inputError(c.err)
	}
}

// inputError makes the many ways in which a terminal goes away io.EOF.
func inputError(err error) error {
	if errors.Is(err, io.EOF) || isGone(err) {
		return io.EOF
	}
	return fmt.Errorf("input: %w", err)
}

// edit runs the line editor until a line is finished.
func (e *Editor) edit(ctx context.Context, prompt, initial string, recall bool) (string, error) {
	l, v := line.New(line.Options{}), &view{}
	if recall {
		l = e.line
	}
	l.Set(initial)
	if i := strings.LastIndexByte(prompt, '\n'); i >= 0 {
		io.WriteString(e.out, strings.ReplaceAll(prompt[:i+1], "\n", "\r\n"))
		prompt = prompt[i+1:]
	}
	resized, stop := watchResize()
	defer stop()
	e.redraw(v, prompt, l)
	for {
		keys, err := e.keys(ctx, resized)
		if err != nil {
			e.leave(v, prompt, l)
			return "", err
		}
		for i, k := range keys {
			out := l.Apply(k)
			switch out {
			case line.Submitted, line.Ended, line.Interrupted:
				e.queue = slices.Clone(keys[i+1:])
				e.redraw(v, prompt, l)
				e.leave(v, prompt, l)
				return l.Value(), [...]error{line.Ended: io.EOF, line.Interrupted: ErrInterrupt}[out]
			case line.Cleared:
				*v = view{}
				io.WriteString(e.out, "\x1b[H\x1b[2J")
			case line.Listed:
				e.leave(v, prompt, l)
				width, _ := e.size()
				io.WriteString(e.out, columns(l.Candidates(), width))
			}
		}
		if !e.decoder.paste { // A long paste is drawn once.
			e.redraw(v, prompt, l)
		}
	}
}

func (e *Editor) redraw(v *view, prompt string, l *line.Editor) {
	width, height := e.size()
	io.WriteString(e.out, v.draw(searchPrompt(prompt, l), l, width, height))
}

func (e *Editor) leave(v *view, prompt string, l *line.Editor) {
	width, _ := e.size()
	io.WriteString(e.out, v.leave(searchPrompt(prompt, l), l, width))
}

// searchPrompt is the prompt, or what shows a search.
func searchPrompt(prompt string, l *line.Editor) string {
	query, miss, ok := l.Search()
	switch {
	case !ok:
		return prompt
	case miss:
		return fmt.Sprintf("(no match for '%s'): ", query)
	default:
		return fmt.Sprintf("(search '%s'): ", query)
	}
}

// size is the size of the terminal; 80 by 24 where it is not known.
func (e *Editor) size() (width, height int) {
	for _, end := range []any{e.out, e.in} {
		terminal.Control(end, func(fd int) {
			if w, h, err := term.GetSize(fd); err == nil {
				width, height = w, h
			}
		})
		if width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}

// plainLine reads one line without a terminal.
func (e *Editor) plainLine(ctx context.Context) (string, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(e.plain[seen:], '\n'); i >= 0 {
			text := e.plain[:seen+i]
			e.plain = e.plain[seen+i+1:]
			return plainText(text), nil
		}
		if seen = len(e.plain); seen > maxLine {
			e.plain, e.failed = nil, fmt.Errorf("input: a line is longer than %d bytes", maxLine)
		}
		if e.failed != nil {
			text := e.plain
			if e.plain = nil; len(text) > 0 && errors.Is(e.failed, io.EOF) {
				return plainText(text), nil
			}
			return "", e.failed
		}
		data, err := e.source.read(ctx, nil)
		if err != nil && ctx.Err() != nil && len(data) == 0 {
			return "", ctx.Err()
		}
		e.plain = append(e.plain, data...)
		if err != nil {
			e.failed = inputError(err)
		}
	}
}

func plainText(b []byte) string {
	return strings.ToValidUTF8(string(bytes.TrimSuffix(b, []byte("\r"))), "\ufffd")
}

// choose waits for one of the given keys. Ctrl+C, Ctrl+D and Ctrl+G return
// ErrInterrupt. Without a terminal it takes the first letter of a line.
func (e *Editor) choose(ctx context.Context, prompt, keys string) (r rune, err error) {
	if err := e.acquire(ctx); err != nil {
		return 0, err
	}
	defer e.release()
	if !e.raw {
		return e.choosePlain(ctx, prompt, keys)
	}
	// What was typed before the question was seen is no answer to it.
	e.queue, e.decoder = nil, decoder{}
	e.source.found()
	terminal.Control(e.in, flushInput)
	err = e.inRaw(func() error {
		io.WriteString(e.out, prompt)
		for {
			pressed, err := e.keys(ctx, nil)
			if err != nil {
				io.WriteString(e.out, "\r\n")
				return err
			}
			for _, k := range pressed {
				switch {
				case k.Name == "ctrl+c" || k.Name == "ctrl+d" || k.Name == "ctrl+g":
					io.WriteString(e.out, "^C\r\n")
					return ErrInterrupt
				case !k.Pasted && k.Text != "" && strings.Contains(keys, k.Text):
					r, _ = utf8.DecodeRuneInString(k.Text)
					io.WriteString(e.out, k.Text+"\r\n")
					return nil
				}
			}
		}
	})
	return r, err
}

func (e *Editor) choosePlain(ctx context.Context, prompt, keys string) (rune, error) {
	for {
		io.WriteString(e.out, prompt)
		text, err := e.plainLine(ctx)
		if err != nil {
			return 0, err
		}
		for _, r := range strings.ToLower(strings.TrimSpace(text)) {
			if strings.ContainsRune(keys, r) {
				return r, nil
			}
			break
		}
	}
}
