//go:build unix

package tui_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/term"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/cli"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/tui"
)

var update = flag.Bool("update", false, "write the golden screens")

// childEnv makes the test binary be aura, or a program that crashes.
const childEnv = "AURA_TUI_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "aura":
		os.Exit(cli.Main(append([]string{"aura"}, os.Args[1:]...), os.Stdin, os.Stdout, os.Stderr))
	case "crash":
		os.Exit(crash())
	}
	goleak.VerifyTestMain(m)
}

// explosive is a session that panics when it is told to.
type explosive struct{ *app.App }

func (e explosive) Submit(ctx context.Context, input string) error {
	if input == "explode" {
		panic("a bug in the session")
	}
	return e.App.Submit(ctx, input)
}

// crash runs the interface, which panics when F12 is pressed or the session is told
// to explode, and reports leaked goroutines when it ends.
func crash() (code int) {
	none := ""
	ui := tui.New(tui.Options{Workdir: "."})
	tui.SetHook(ui, func(msg tea.Msg) {
		if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "f12" {
			panic("a bug in the interface")
		}
	})
	a, err := app.Open(
		context.Background(),
		app.Options{Homes: config.HomeOptions{Home: &none, Workdir: "."}},
		app.Face{
			Observe: ui.Observe, Print: ui.Print, Approve: ui.Approve, Ask: ui.Ask, Begin: ui.Begin, Trace: ui.Trace,
		},
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintln(os.Stderr, "panic:", v)
			code = 1
		}
		if e := errors.Join(err, a.Close("exit")); e != nil {
			fmt.Fprintln(os.Stderr, e)
			code = 8
		}
		if e := goleak.Find(goleak.IgnoreAnyFunction("os/signal.loop")); e != nil {
			fmt.Fprintln(os.Stderr, e)
			code = 7
		}
	}()
	err = ui.Run(context.Background(), explosive{a}, "")
	return 0
}

// screen is a terminal in which aura runs, and the user in front of it.
type screen struct {
	t     testing.TB
	dir   string
	cmd   *exec.Cmd
	pty   *os.File
	tty   *os.File
	state *term.State // Of the terminal before aura began.

	mu      sync.Mutex
	cond    *sync.Cond
	emu     *vt.Emulator
	raw     strings.Builder // Everything that was written.
	gone    bool
	done    chan struct{} // Closed when aura has ended, with err.
	err     error
	drained chan struct{}
	waits   sync.WaitGroup
}

// setup is what a test changes about its terminal.
type setup struct {
	cols, rows int
	env        []string
	args       []string
	child      string
	dir        string // Of another screen, to work in again.
}

const (
	scripted = "script: {type: script, script: ../../../turns.yaml}\n"
	provider = ".aura/config/providers/p.yaml"
)

// open starts aura in a terminal, in a project with the given files.
func open(t testing.TB, files map[string]string, o setup) *screen {
	t.Helper()
	if o.cols == 0 {
		o.cols, o.rows = 80, 24
	}
	if o.child == "" {
		o.child = "aura"
	}
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	s := &screen{
		t:       t,
		dir:     o.dir,
		emu:     vt.NewEmulator(o.cols, o.rows),
		done:    make(chan struct{}),
		drained: make(chan struct{}),
	}
	s.cond = sync.NewCond(&s.mu)
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o644),
		); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.pty, s.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	s.size(o.cols, o.rows)
	if s.state, err = term.GetState(int(s.tty.Fd())); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(os.Args[0], o.args...)
	s.cmd.Dir = s.dir
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv(
			"PATH",
		),
		"HOME=" + filepath.Join(s.dir, "home"),
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"TMPDIR=" + s.dir,
		childEnv + "=" + o.child,
	}, o.env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.tty, s.tty, s.tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.waits.Go(func() {
		s.err = s.cmd.Wait()
		close(s.done)
		s.mu.Lock()
		s.gone = true
		s.cond.Broadcast()
		s.mu.Unlock()
	})
	s.waits.Go(s.watch)
	s.waits.Go(func() { _, _ = io.Copy(s.pty, s.emu) }) // What the terminal answers to queries.
	hang := time.AfterFunc(30*time.Second, s.end)       // Only a hanging test gets there.
	t.Cleanup(func() {
		hang.Stop()
		s.end()
		s.waits.Wait()
	})
	return s
}

// end kills aura and closes the terminal.
func (s *screen) end() {
	_ = s.cmd.Process.Kill()
	s.mu.Lock()
	s.gone = true
	s.cond.Broadcast()
	s.mu.Unlock()
	_ = s.tty.Close()
	_ = s.pty.Close()
	if w, ok := s.emu.InputPipe().(io.Closer); ok {
		_ = w.Close()
	}
}

func (s *screen) watch() {
	defer close(s.drained)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		if n > 0 {
			s.raw.Write(buf[:n])
			_, _ = s.emu.Write(buf[:n])
		}
		s.gone = s.gone || err != nil
		s.cond.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// size sets the size of the terminal.
func (s *screen) size(cols, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.emu.Resize(cols, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
}

// text is what the screen shows. The caller holds mu.
func (s *screen) text() string {
	lines := strings.Split(s.emu.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.Join(lines, "\n")
}

// until waits for a condition on the screen.
func (s *screen) until(what string, ok func(text string) bool) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		text := s.text()
		if ok(text) {
			return text
		}
		if s.gone {
			s.t.Fatalf("never came: %s; the screen is\n%s", what, text)
		}
		s.cond.Wait()
	}
}

// shows waits until all texts are on the screen.
func (s *screen) shows(want ...string) string {
	s.t.Helper()
	return s.until(strings.Join(want, " and "), func(text string) bool {
		for _, w := range want {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
}

// lacks waits until a text is gone.
func (s *screen) lacks(text string) {
	s.t.Helper()
	s.until("without "+text, func(now string) bool { return !strings.Contains(now, text) })
}

// idle waits until nothing runs and the text is shown.
func (s *screen) idle(want ...string) string {
	s.t.Helper()
	return s.until("idle with "+strings.Join(want, " and "), func(text string) bool {
		for _, w := range want {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return strings.Contains(text, "sandbox") && !strings.Contains(text, "Esc cancels")
	})
}

func (s *screen) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the end of aura: its exit code, and the terminal as it was.
func (s *screen) leaves(code int) {
	s.t.Helper()
	<-s.done
	err := s.err
	if exit, ok := errors.AsType[*exec.ExitError](
		err,
	); err != nil && !ok || ok && exit.ExitCode() != code ||
		err == nil && code != 0 {
		s.mu.Lock()
		s.t.Errorf("ended with %v, want code %d; the screen is\n%s", err, code, s.text())
		s.mu.Unlock()
	}
	if state, err := term.GetState(int(s.tty.Fd())); err != nil || !reflect.DeepEqual(state, s.state) {
		s.t.Errorf("the terminal is not as it was: %v", err)
	}
	_ = s.tty.Close()
	<-s.drained // Everything that aura wrote has been seen.
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mode := range []string{"1049", "2004", "1002", "1006"} { // Other screen, pastes, mouse.
		on, off := strings.LastIndex(
			s.raw.String(),
			"\x1b[?"+mode+"h",
		), strings.LastIndex(
			s.raw.String(),
			"\x1b[?"+mode+"l",
		)
		if on > off {
			s.t.Errorf("mode %s is still on", mode)
		}
	}
	if strings.LastIndex(s.raw.String(), "\x1b[?25l") > strings.LastIndex(s.raw.String(), "\x1b[?25h") {
		s.t.Error("the cursor is hidden")
	}
}

// What differs between two runs of the same test.
var (
	durations = regexp.MustCompile(`\b\d+(\.\d+)?(ms|µs|s)\b|\b\d+m\d+s\b`)
	spinners  = regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`)
	rules     = regexp.MustCompile(`─{3,}`)
	contexts  = regexp.MustCompile(`ctx ~?\d+% of [\d.]+[kM]?`)
	tokens    = regexp.MustCompile(`↑[\d.]+[kM]? ↓[\d.]+[kM]?`)
	sessions  = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d  [0-9a-z-]{8}`)
)

// normal is what two runs of the same test have in common. The caller holds mu.
func (s *screen) normal() string {
	text := durations.ReplaceAllString(s.text(), "#s")
	text = spinners.ReplaceAllString(text, "*")
	text = rules.ReplaceAllString(text, "───")
	text = contexts.ReplaceAllString(text, "ctx #% of #k")
	text = tokens.ReplaceAllString(text, "↑# ↓#")
	return sessions.ReplaceAllString(text, "(time)  (id)") + "\n"
}

// golden waits until the screen is the one in a file: a frame may come in pieces.
func (s *screen) golden(name string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := errors.Join(
			os.MkdirAll("testdata", 0o755),
			os.WriteFile(file, []byte(s.normal()), 0o644),
		); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	late := false
	timer := time.AfterFunc(5*time.Second, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.cond.Broadcast()
	})
	defer timer.Stop()
	for s.normal() != string(want) {
		if late || s.gone {
			s.t.Errorf("%s: the screen is\n%s\nwant\n%s", name, s.normal(), want)
			return
		}
		s.cond.Wait()
	}
}
