//go:build unix

package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/tool"
)

// console is a real terminal with somebody at the keyboard.
type console struct {
	t   *testing.T
	pty *os.File
	tty *os.File

	mu   sync.Mutex
	cond *sync.Cond
	seen strings.Builder
	gone bool
}

func newConsole(t *testing.T) *console {
	t.Helper()
	opened, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	// The library left its end in a mode in which Close waits for Read.
	fd, err := unix.Dup(int(opened.Fd()))
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	opened.Close()
	master := os.NewFile(uintptr(fd), "pty")
	x := &console{t: t, pty: master, tty: tty}
	x.resize(10, 30)
	x.cond = sync.NewCond(&x.mu)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := bufio.NewReader(master)
		for {
			c, err := r.ReadByte()
			x.mu.Lock()
			if x.gone = err != nil; !x.gone {
				x.seen.WriteByte(c)
			}
			x.cond.Broadcast()
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		tty.Close()
		master.Close()
		<-done
	})
	return x
}

// expect waits until the screen has shown text and forgets everything up to it.
func (x *console) expect(text string) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		all := x.seen.String()
		if i := strings.Index(all, text); i >= 0 {
			x.seen.Reset()
			x.seen.WriteString(all[i+len(text):])
			return
		}
		if x.gone {
			x.t.Fatalf("the terminal ended without %q, with %q", text, all)
		}
		x.cond.Wait()
	}
}

func (x *console) resize(rows, columns uint16) {
	x.t.Helper()
	terminal.Control(x.pty, func(fd int) {
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
			x.t.Fatal(err)
		}
	})
}

func (x *console) press(keys string) { io.WriteString(x.pty, keys) }

// mode is how the terminal treats input.
func (x *console) mode() term.State {
	x.t.Helper()
	var state *term.State
	terminal.Control(x.tty, func(fd int) { state, _ = term.GetState(fd) })
	if state == nil {
		x.t.Fatal("no terminal state")
	}
	return *state
}

func (x *console) editor(o EditorOptions) *Editor {
	o.Env = func(string) string { return "" }
	e := NewEditor(x.tty, x.tty, o)
	x.t.Cleanup(e.Close)
	return e
}

type readResult struct {
	text string
	err  error
}

// readLine begins to read a line and waits for the prompt: keys that come earlier
// are treated by the terminal itself.
func (x *console) readLine(ctx context.Context, e *Editor) <-chan readResult {
	c := make(chan readResult, 1)
	go func() {
		text, err := e.ReadLine(ctx, "aura> ")
		c <- readResult{text, err}
	}()
	x.expect("\x1b[?2004h")
	x.expect("aura> ")
	return c
}

func TestTerminalEditing(t *testing.T) {
	x := newConsole(t)
	before := x.mode()
	e := x.editor(EditorOptions{})
	got := x.readLine(t.Context(), e)
	x.press("helo wörld\x1b[1;5D\x1b[D\x1b[Dl\x05 日本\x1b[200~\ntwo\r\x1b[201~.\rnext\r")
	if r := <-got; r.err != nil || r.text != "hello wörld 日本\ntwo\n." {
		t.Errorf("got %q, %v", r.text, r.err)
	}
	x.expect("\x1b[?2004l")
	if x.mode() != before {
		t.Error("the terminal is not restored")
	}
	if r := <-x.readLine(t.Context(), e); r.err != nil || r.text != "next" { // Typed ahead.
		t.Errorf("got %q, %v", r.text, r.err)
	}
	got = x.readLine(t.Context(), e)
	x.press("\x03")
	if r := <-got; !errors.Is(r.err, ErrInterrupt) {
		t.Errorf("Ctrl+C: %q, %v", r.text, r.err)
	}
	got = x.readLine(t.Context(), e)
	x.press("\x04")
	if r := <-got; r.err != io.EOF {
		t.Errorf("Ctrl+D: %q, %v", r.text, r.err)
	}
}

func TestTerminalCancelled(t *testing.T) {
	x := newConsole(t)
	before := x.mode()
	e := x.editor(EditorOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	got := x.readLine(ctx, e)
	cancel()
	if r := <-got; !errors.Is(r.err, context.Canceled) {
		t.Errorf("got %q, %v", r.text, r.err)
	}
	if x.mode() != before {
		t.Error("the terminal is not restored")
	}
	got = x.readLine(t.Context(), e)
	x.press("still here\r")
	if r := <-got; r.text != "still here" {
		t.Errorf("got %q, %v", r.text, r.err)
	}
}

func TestTerminalRestoredAfterPanic(t *testing.T) {
	x := newConsole(t)
	before := x.mode()
	e := x.editor(EditorOptions{Complete: func(string, int) []string { panic("broken completion") }})
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		_, _ = e.ReadLine(t.Context(), "> ") // Panics.
	}()
	x.expect("> ")
	x.press("a\t")
	if v := <-done; v != "broken completion" {
		t.Errorf("recovered %v", v)
	}
	if x.mode() != before {
		t.Error("the terminal is not restored")
	}
	if err := e.acquire(t.Context()); err != nil {
		t.Errorf("the editor is blocked: %v", err)
	}
	e.release()
}

func TestTypedAheadIsInput(t *testing.T) {
	x := newConsole(t)
	e := x.editor(EditorOptions{})
	x.press("first\rsec")
	x.expect("sec") // Echoed by the terminal itself: it is there.
	if r := <-x.readLine(t.Context(), e); r.text != "first" {
		t.Errorf("got %q, %v", r.text, r.err)
	}
	got := x.readLine(t.Context(), e)
	x.press("ond\r")
	if r := <-got; r.text != "second" {
		t.Errorf("got %q, %v", r.text, r.err)
	}
}

func TestTerminalResized(t *testing.T) {
	x := newConsole(t)
	e := x.editor(EditorOptions{})
	got := x.readLine(t.Context(), e)
	x.press("0123456789")
	x.expect("9")
	x.resize(10, 12)
	x.press("z")
	x.expect("aura> 012345\r\n6789z") // Broken for the new width.
	x.press("\r")
	if r := <-got; r.text != "0123456789z" {
		t.Errorf("got %q, %v", r.text, r.err)
	}
}

func TestTerminalCompletionList(t *testing.T) {
	x := newConsole(t)
	e := x.editor(EditorOptions{Complete: func(string, int) []string { return []string{"/agent", "/agents"} }})
	got := x.readLine(t.Context(), e)
	x.press("/agent\t\t")
	x.expect("/agent   /agents")
	x.press("s\r")
	if r := <-got; r.text != "/agents" {
		t.Errorf("got %q, %v", r.text, r.err)
	}
}

func TestDumbTerminal(t *testing.T) {
	x := newConsole(t)
	e := NewEditor(x.tty, x.tty, EditorOptions{Env: func(string) string { return "dumb" }})
	defer e.Close()
	x.press("hi\r")
	if text, err := e.ReadLine(t.Context(), "aura> "); text != "hi" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	x.expect("aura> ")
}

func TestColourOnATerminal(t *testing.T) {
	x := newConsole(t)
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, true}, {map[string]string{"NO_COLOR": "1"}, false}, {map[string]string{"TERM": "dumb"}, false},
		{map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}, true},
	} {
		if got := terminal.Color(x.tty, func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}

func asker(x *console, o AskerOptions) *Asker {
	o.Editor = x.editor(EditorOptions{})
	return NewAsker(o)
}

func approve(ctx context.Context, a *Asker, q agent.Approval) <-chan agent.Decision {
	c := make(chan agent.Decision, 1)
	go func() { c <- a.Approve(ctx, q) }()
	return c
}

// HO-35: only choices that can be kept are offered.
func TestApproveScopes(t *testing.T) {
	x := newConsole(t)
	a := asker(x, AskerOptions{})
	got := approve(
		t.Context(),
		a,
		agent.Approval{Tool: "Bash", Keep: []agent.Remember{agent.ForSession, agent.ForAlways}},
	)
	x.expect("[n] no (reason) ")
	x.press("p")
	x.expect("allow always: ")
	x.press("\r")
	x.expect("[s] in this session  [g] everywhere  [b] back ")
	x.press("pg") // The first is no choice.
	if g := <-got; g != (agent.Decision{Allow: true, Remember: agent.ForAlways, Pattern: "Bash"}) {
		t.Errorf("got %+v", g)
	}
}

func TestApprove(t *testing.T) {
	question := agent.Approval{
		Pattern: "Bash:go test*",
		Tool:    "Bash",
		Args:    map[string]any{"command": "go test ./...\x1b[2K\u202e"},
		Agent:   "coder",
		Effects: []string{"network"},
		Asks: []lifecycle.Refusal{
			{Source: lifecycle.Source{Kind: "guard", Name: "policy"}, Reason: "confirm rule Bash"},
		},
	}
	const choices, scope = "[n] no (reason) ", "[b] back "
	tests := []struct {
		name  string
		steps []string // Alternating: wait for, press.
		want  agent.Decision
	}{
		{"once", []string{choices, "xy"}, agent.Decision{Allow: true}},
		{"session", []string{choices, "s"}, agent.Decision{Allow: true, Remember: "session", Pattern: "Bash:go test*"}},
		{
			"pattern",
			[]string{choices, "p", "allow always: ", "\x7f ./...\r", scope, "p"},
			agent.Decision{Allow: true, Remember: "project", Pattern: "Bash:go test ./..."},
		},
		{
			"pattern everywhere",
			[]string{choices, "p", "allow always: ", "\r", scope, "g"},
			agent.Decision{Allow: true, Remember: "global", Pattern: "Bash:go test*"},
		},
		{
			"pattern and back",
			[]string{choices, "p", "allow always: ", "\r", scope, "b", choices, "y"},
			agent.Decision{Allow: true},
		},
		{"no", []string{choices, "n", "none): ", "use make\r"}, agent.Decision{Reason: "use make"}},
		{"Ctrl+C", []string{choices, "\x03"}, agent.Decision{Reason: "cancelled"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newConsole(t)
			pressed, paused := false, 0
			a := asker(x, AskerOptions{
				Interrupt: func() { pressed = true },
				Pause:     func() func() { paused++; return func() { paused-- } },
			})
			got := approve(t.Context(), a, question)
			x.expect("? Bash (agent coder)")
			x.expect(`    go test ./...\x1b[2K\u202e`)
			x.expect("effects: network")
			x.expect(`guard "policy": confirm rule Bash`)
			for i := 0; i < len(tt.steps); i += 2 {
				x.expect(tt.steps[i])
				x.press(tt.steps[i+1])
			}
			if g := <-got; g != tt.want {
				t.Errorf("got %+v, want %+v", g, tt.want)
			}
			if pressed != (tt.name == "Ctrl+C") || paused != 0 {
				t.Errorf("interrupt %v, paused %d", pressed, paused)
			}
		})
	}
}

// HO-35: a pattern of several lines is not edited in one: it is kept as it is.
func TestApproveLines(t *testing.T) {
	const pattern = "Bash:=rm -rf tmp\nls\t/"
	for _, keys := range [][]string{{"p", "s"}, {"p", "b", "p", "s"}} {
		x := newConsole(t)
		a := asker(x, AskerOptions{})
		got := approve(
			t.Context(),
			a,
			agent.Approval{Tool: "Bash", Args: map[string]any{"command": "rm -rf tmp\nls\t/"}, Pattern: pattern},
		)
		for i, key := range keys {
			if i%2 == 0 {
				x.expect("[n] no (reason) ")
			} else {
				x.expect("allow always: Bash:=rm -rf tmp⏎ ls /")
				x.expect("[b] back ")
			}
			x.press(key)
		}
		if g := <-got; g != (agent.Decision{Allow: true, Remember: agent.ForSession, Pattern: pattern}) {
			t.Errorf("%q: %+v", keys, g)
		}
	}
}

func TestApproveCancelled(t *testing.T) {
	x := newConsole(t)
	a := asker(x, AskerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	got := approve(ctx, a, agent.Approval{Tool: "Bash"})
	x.expect("[n] no")
	waiting := approve(ctx, a, agent.Approval{Tool: "Write"}) // Behind the first one.
	cancel()
	for _, c := range []<-chan agent.Decision{got, waiting} {
		if g := <-c; g.Allow || g.Reason != "cancelled" {
			t.Errorf("got %+v", g)
		}
	}
}

func TestTypedAheadIsNoApproval(t *testing.T) {
	x := newConsole(t)
	e := x.editor(EditorOptions{})
	got := x.readLine(t.Context(), e)
	x.press("go\ryyyy") // Read together with the line.
	if r := <-got; r.text != "go" {
		t.Fatalf("got %q", r.text)
	}
	a := NewAsker(AskerOptions{Editor: e})
	answer := approve(t.Context(), a, agent.Approval{Tool: "Bash"})
	x.expect("[n] no (reason) ")
	x.press("n")
	x.expect("none): ")
	x.press("\r")
	if g := <-answer; g.Allow {
		t.Error("keys of before the question approved the call")
	}
}

func TestAsk(t *testing.T) {
	x := newConsole(t)
	interrupts := 0
	a := asker(x, AskerOptions{Interrupt: func() { interrupts++ }})
	colours := []string{"red", "green", "blue"}
	tests := []struct {
		q    tool.Question
		keys string
		want string
		err  error
	}{
		{tool.Question{Text: "Which?", Options: colours}, "2\r", "green", nil},
		{tool.Question{Text: "Which?", Options: colours}, "4\r0\r1,2\r\r3\r", "blue", nil},
		{tool.Question{Text: "Which?", Options: colours, Multi: true}, "1, 3\r", "red+blue", nil},
		{tool.Question{Text: "Which?", Options: colours}, "red\r", "red", nil},
		{tool.Question{Text: "Why?"}, "because of it\r", "because of it", nil},
		{tool.Question{Text: "Why?"}, "\x03", "", ErrInterrupt},
	}
	for _, tt := range tests {
		done := make(chan struct{})
		var got []string
		var err error
		go func() {
			defer close(done)
			got, err = a.Ask(t.Context(), tt.q)
		}()
		x.expect("? " + tt.q.Text)
		x.expect("\x1b[?2004h")
		x.press(tt.keys)
		<-done
		if strings.Join(got, "+") != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q: %q, %v", tt.keys, got, err)
		}
	}
	if interrupts != 1 {
		t.Errorf("%d interrupts", interrupts)
	}
}

func TestTerminalThatGoesAway(t *testing.T) {
	x := newConsole(t)
	e := x.editor(EditorOptions{})
	got := x.readLine(t.Context(), e)
	x.pty.Close()
	if r := <-got; r.err != io.EOF {
		t.Errorf("got %q, %v", r.text, r.err)
	}
}
