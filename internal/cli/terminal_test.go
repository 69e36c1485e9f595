//go:build unix

package cli_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// terminalUser is a user at a real terminal in which aura runs.
type terminalUser struct {
	t     *testing.T
	cmd   *exec.Cmd
	pty   *os.File
	tty   *os.File
	state *term.State // Of the terminal before aura began.

	mu   sync.Mutex
	cond *sync.Cond
	all  strings.Builder
	next int // What expect has not looked at yet.
	gone bool
}

// startTerminal starts aura in a terminal, in a project with the given files.
func startTerminal(t *testing.T, files map[string]string, args ...string) *terminalUser {
	t.Helper()
	dir := project(t, files)
	p := &terminalUser{t: t, cmd: exec.Command("aura", args...)}
	var err error
	if p.pty, p.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(p.pty, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	if p.state, err = term.GetState(int(p.tty.Fd())); err != nil {
		t.Fatal(err)
	}
	p.cmd.Dir, p.cmd.Env = dir, environment(dir)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.tty, p.tty, p.tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.cond = sync.NewCond(&p.mu)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	watchdog := time.AfterFunc(time.Minute, func() { // Only for a test that hangs.
		_ = p.cmd.Process.Kill()
		p.mu.Lock()
		p.gone = true
		p.cond.Broadcast()
		p.mu.Unlock()
	})
	t.Cleanup(func() {
		watchdog.Stop()
		_ = p.cmd.Process.Kill()
		p.tty.Close()
		p.pty.Close()
	})
	return p
}

// project makes a directory with files and a home without configuration.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := fillPythonCache(dir, filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (p *terminalUser) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := p.pty.Read(buf)
		p.mu.Lock()
		p.all.Write(buf[:n])
		p.gone = err != nil
		p.cond.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the screen has shown text after what was expected before.
func (p *terminalUser) expect(text string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		seen := p.all.String()
		if i := strings.Index(seen[p.next:], text); i >= 0 {
			p.next += i + len(text)
			return
		}
		if p.gone {
			p.t.Fatalf("%q never came; the screen had %q", text, seen)
		}
		p.cond.Wait()
	}
}

// screen is everything that was shown so far.
func (p *terminalUser) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.String()
}

func (p *terminalUser) send(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.pty, keys); err != nil {
		p.t.Fatal(err)
	}
}

// waitExit waits for the end of aura and checks its exit code, and that the terminal is as
// it was.
func (p *terminalUser) waitExit(code int) {
	p.t.Helper()
	err := p.cmd.Wait()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		p.t.Error(err)
	}
	if got != code {
		p.t.Errorf("ended with %v, want code %d", err, code)
	}
	if state, err := term.GetState(int(p.tty.Fd())); err != nil || !reflect.DeepEqual(state, p.state) {
		p.t.Errorf("the terminal is not as it was: %v", err)
	}
}

const scripted = "script: {type: script, script: ../../../turns.yaml}\n"

// HO-01 HO-53: a conversation with editing, history and several lines.
func TestTerminal(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{".aura/config/providers/p.yaml": scripted, "turns.yaml": `
turns:
  - {when: "one\ntwo", text: Both lines.}
  - {when: howdy, text: Howdy to you.}
  - {when: fail, error: {class: server, status: 500, message: down}}
`}, "--plain")
	p.expect("agent code")
	p.expect("code> ")
	p.send("howzz\x7f\x7fdy\r") // Backspace.
	p.expect("Howdy to you.")
	p.expect("code> ")
	p.send("\x1b[A\r") // Up: the last line again.
	p.expect("Howdy to you.")
	p.expect("code> ")
	p.send("one\\\rtwo\r") // A backslash asks for one more line.
	p.expect("Both lines.")
	p.expect("code> ")
	p.send("fail\r") // An error does not end a conversation.
	p.expect("provider server error (HTTP 500): down")
	p.expect("code> ")
	p.send("/mode pl\t\r") // Tab completes.
	p.expect("code:plan> ")
	p.send("/nonsense\r")
	p.expect("unknown command: /nonsense")
	p.expect("code:plan> ")
	p.send("\x04")
	p.waitExit(0)
	if colour := regexp.MustCompile("\x1b\\[[0-9;]*m").FindString(p.screen()); colour != "" {
		t.Errorf("colours in spite of NO_COLOR: %q", colour)
	}
	history, err := os.ReadFile(filepath.Join(p.cmd.Dir, "home/.aura/history"))
	if err != nil || !strings.Contains(string(history), "howdy") {
		t.Errorf("history %q, %v", history, err)
	}
}

// HO-64: Ctrl+C cancels the turn and the prompt returns; twice in a row it quits.
func TestTerminalInterrupt(t *testing.T) {
	t.Parallel()
	requests := t.TempDir()
	m, err := startMock("openai", "- {text: Half of an answer, fault: stall}\n- text: Whole.\n", requests)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	files := map[string]string{".aura/config/providers/p.yaml": m.provider(nil)}
	p := startTerminal(t, files, "-m", "mock-8b", "--plain")
	p.expect("code> ")
	p.send("first\r")
	p.expect("Half of an")
	p.send("\x03")
	p.expect("interrupted")
	p.expect("code> ")
	p.send("second\r")
	p.expect("Whole.")
	p.expect("code> ")
	p.send("draft\x03") // Clears the line only.
	p.send("\x03")
	p.expect("again to quit")
	p.send("\x03")
	p.waitExit(0)
	body, err := os.ReadFile(filepath.Join(requests, "2.json"))
	if err != nil {
		t.Fatal(err)
	}
	if problems := checkRequest("openai", body); len(problems) > 0 || strings.Contains(string(body), "Half of") {
		t.Errorf("the request after the interrupt: %q\n%s", problems, body)
	}
}

// HO-35: calls that need consent are put to the user, and so are questions of the model.
func TestTerminalQuestions(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{
		".aura/config/providers/p.yaml": scripted,
		".aura/config/features/f.yaml":  "tools: {policy: {confirm: [Bash]}}\n",
		"turns.yaml": `
turns:
  - calls: [{name: Bash, arguments: {command: echo yes > allowed}}]
  - calls: [{name: Bash, arguments: {command: echo no > denied}}]
  - expect: {last: ["denied by the user: too risky"]}
    calls: [{name: Ask, arguments: {question: "Which colour?", options: [red, green]}}]
  - expect: {last: [green]}
    text: All asked.
`,
	}, "--plain")
	p.expect("code> ")
	p.send("go\r")
	p.expect("echo yes > allowed")
	p.expect("[y] once")
	p.send("y")
	p.expect("echo no > denied")
	p.expect("[y] once")
	p.send("n")
	p.expect("Enter for none")
	p.send("too risky\r")
	p.expect("Which colour?")
	p.send("2\r")
	p.expect("All asked.")
	p.expect("code> ")
	p.send("\x04")
	p.waitExit(0)
	if _, err := os.Stat(filepath.Join(p.cmd.Dir, "allowed")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.cmd.Dir, "denied")); err == nil {
		t.Error("the denied command ran")
	}
}

// HO-35 HO-64: aura run asks at a terminal too, and Ctrl+C there ends the run.
func TestTerminalRun(t *testing.T) {
	t.Parallel()
	p := startTerminal(t, map[string]string{
		".aura/config/providers/p.yaml": scripted,
		".aura/config/features/f.yaml":  "tools: {policy: {confirm: [Bash]}}\n",
		"turns.yaml": `
turns:
  - calls: [{name: Bash, arguments: {command: echo yes > allowed}}]
  - calls: [{name: Bash, arguments: {command: echo no > denied}}]
`,
	}, "run", "go")
	p.expect("[y] once")
	p.send("y")
	p.expect("echo no > denied")
	p.expect("[y] once")
	p.send("\x03")
	p.waitExit(130)
}

// HO-58 HO-64: signals end a run at once, each with its code; the report is still written.
func TestSignals(t *testing.T) {
	t.Parallel()
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			requests := t.TempDir()
			m, err := startMock("anthropic", "- {text: Half of an answer, fault: stall}\n", requests)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Close)
			dir := project(t, map[string]string{".aura/config/providers/p.yaml": m.provider(nil)})
			cmd := exec.Command("aura", "-m", "mock-8b", "run", "--output", "stream-json", "hi")
			cmd.Dir, cmd.Env = dir, environment(dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			watchdog := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer watchdog.Stop()
			text, sent := "", false
			buf := make([]byte, 4096)
			for {
				n, err := out.Read(buf)
				if text += string(buf[:n]); !sent && strings.Contains(text, `"Half `) {
					sent = true
					if err := cmd.Process.Signal(sig); err != nil {
						t.Fatal(err)
					}
				}
				if err != nil {
					break
				}
			}
			exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
			if !ok || exit.ExitCode() != code {
				t.Errorf("ended with %v", exit)
			}
			if !strings.Contains(text, "\n"+`{"type":"result","answer":"",`) {
				t.Errorf("no result: %s", text)
			}
		})
	}
}
