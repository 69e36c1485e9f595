package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// What plugins leave running must end: also endless loops.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // The interpreter writes there before it panics.
	dir, err := os.MkdirTemp("", "plugins")
	if err != nil {
		panic(err)
	}
	builds = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// builds is where the executables of all tests are kept.
var builds string

// LC-08 LC-10 PT-114 PC-15 TL-35: a panic in any function is an error with a name,
// and the plugin goes on.
func TestPanics(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	for _, row := range lifecycle.Moments() {
		src.WriteString(hook(row.Moment, "\tpanic(\"boom\")"))
	}
	s := one(t, "", "", src.String())
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.Bindings())
	for _, row := range lifecycle.Moments() {
		for range 2 {
			out := p.Dispatch(t.Context(), lifecycle.Event{Moment: row.Moment, Data: data(row.Moment)}, nil)
			want := fmt.Sprintf("plugin hook %q failed: plugin panic: boom", "probe/"+row.Function)
			if len(out.Notices) != 1 || out.Notices[0].Text != want || len(out.Said) != 0 || out.Blocked != nil {
				t.Errorf("%s: %+v", row.Moment, out)
			}
		}
	}
}

// The many ways in which a hook can blow up. PL-62 UN-06
func TestBadHooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ imports, body, want string }{
		{"os", "\tos.Exit(3)", "os.Exit(3)"},
		{"log", "\tlog.Fatal(\"the end\")", "the end"},
		{"log os", "\tlog.New(os.Stderr, \"\", 0).Fatalf(\"the %s\", \"end\")", "the end"},
		{"runtime", "\truntime.Goexit()", "Goexit"},
		{"flag", "\tflag.NewFlagSet(\"x\", flag.ExitOnError).Parse([]string{\"-nope\"})", "nope"},
		{"", "\tvar m map[string]int\n\tm[\"a\"] = 1", "nil map"},
		{"", "\tvar p *sdk.Result\n\tp.Message = \"x\"", "zero Value"},
		{"", "\tlist := []int{1}\n\ti := len(c.Turns) + 5\n\tr.Message = string(rune(list[i]))", "index out of range"},
		{"errors", "\tvar e myError\n\tif errors.As(errors.New(\"x\"), &e) {\n\t\tr.Message = \"as\"\n\t}",
			"target must be"},
		{"", "\tvar x any = 1\n\tr.Message = x.(string)", "string"},
		{"", "\tpanic(nil)", "nil"},
	} {
		body := hook(lifecycle.BeforeChat, c.body)
		if strings.Contains(body, "myError") {
			body += "type myError struct{}\n\nfunc (myError) Error() string { return \"\" }\n"
		}
		got := said(t, one(t, "", c.imports, body))
		if !strings.HasPrefix(got, `notice: plugin hook "probe/BeforeChat" failed: `) ||
			!strings.Contains(got, c.want) {
			t.Errorf("%s: %q lacks %q", c.body, got, c.want)
		}
	}
}

// A hook that never ends is named and switched off, and so is the rest of its
// plugin; the other plugins go on, and a new load starts it again.
func TestEndlessLoop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(
		t,
		dir,
		"a",
		"timeout: 300ms",
		"",
		"var n int\n\n"+hook(lifecycle.BeforeChat, "\tfor {\n\t\tn++\n\t}")+toolSource("Probe", `"x"`),
	)
	write(t, dir, "b", "", "", speak(`"still here"`))
	s := load(t, plugin.Options{Dirs: []string{dir}})
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.Bindings())
	ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	out := p.Dispatch(t.Context(), ev, nil)
	if len(out.Notices) != 1 || !strings.Contains(out.Notices[0].Text, `"a/BeforeChat"`) ||
		!strings.Contains(out.Notices[0].Text, "/reload") ||
		len(out.Said) != 1 {
		t.Fatalf("%+v", out)
	}
	if out = p.Dispatch(t.Context(), ev, nil); len(out.Notices) != 0 || len(out.Said) != 1 {
		t.Errorf("the second time: %+v", out)
	}
	// The tool waits for the loop to be stopped, and is then refused.
	_, err := s.Tools()[0].Execute(t.Context(), call(nil))
	if err == nil || !strings.Contains(err.Error(), `plugin "a" is switched off`) ||
		!strings.Contains(err.Error(), "/reload") {
		t.Errorf("tool: %v", err)
	}
}

// A command that never ends is given up and names its plugin.
func TestEndlessCommand(t *testing.T) {
	t.Parallel()
	s := one(t, "timeout: 300ms", "", `
func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: "x"} }

func ExecuteCommand(ctx context.Context, args string, _ sdk.Context) (sdk.CommandResult, error) {
	if args == "polite" {
		<-ctx.Done()
		return sdk.CommandResult{}, ctx.Err()
	}
	for {
	}
}
`)
	c := s.Commands()[0]
	if _, err := c.Run(
		t.Context(),
		"polite",
		sdk.Context{},
	); err == nil ||
		strings.Contains(err.Error(), "switched off") {
		t.Errorf("polite: %v", err)
	}
	if _, err := c.Run(
		t.Context(),
		"",
		sdk.Context{},
	); err == nil ||
		!strings.Contains(err.Error(), `plugin "probe" is switched off until /reload`) {
		t.Errorf("endless: %v", err)
	}
	if _, err := c.Run(
		t.Context(),
		"polite",
		sdk.Context{},
	); err == nil ||
		!strings.Contains(err.Error(), "switched off") {
		t.Errorf("afterwards: %v", err)
	}
}

// A user who cancels gets control back at once. LC-15
func TestCancel(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s := one(
		t,
		"",
		"time",
		toolSource(
			"Probe",
			"wait(ctx)",
		)+"\nfunc wait(ctx context.Context) string {\n\t<-ctx.Done()\n\treturn \"late\"\n}\n",
	)
	go func() {
		<-started
		cancel()
	}()
	close(started)
	if _, err := s.Tools()[0].Execute(ctx, call(nil)); err == nil {
		t.Error("no error")
	}
}

// An init function that never ends does not hold up the program for ever.
func TestEndlessInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "probe", "", "", speak(`"x"`)+"func init() {\n\tfor {\n\t}\n}\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := plugin.Load(
		ctx,
		plugin.Options{Dirs: []string{dir}},
	); err == nil ||
		!strings.Contains(err.Error(), "loading takes too long") {
		t.Errorf("error %v", err)
	}
}

// Package variables under parallel calls: the plugin's results may be wrong, the
// program's must not.
func TestRacyTool(t *testing.T) {
	t.Parallel()
	s := one(
		t,
		"",
		"fmt sync",
		"var mu sync.Mutex\nvar m = map[string]int{}\n\nfunc add() int {\n\tmu.Lock()\n\tdefer mu.Unlock()\n"+
			"\tm[\"n\"]++\n\treturn m[\"n\"]\n}\n"+toolSource(
			"Probe",
			"fmt.Sprint(add())",
		),
	)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := s.Tools()[0].Execute(context.Background(), call(nil)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if r, err := s.Tools()[0].Execute(t.Context(), call(nil)); err != nil || r.Text != "161" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// A result of many megabytes passes.
func TestHugeResult(t *testing.T) {
	t.Parallel()
	s := one(t, "", "strings", toolSource("Probe", `strings.Repeat("x", 64<<20)`))
	if r, err := s.Tools()[0].Execute(t.Context(), call(nil)); err != nil || len(r.Text) != 64<<20 {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
}

// LC-09 LC-12 LC-17: what a plugin prints, and what the interpreter says about its
// panics, goes to the debug log and nowhere else.
func TestOutput(t *testing.T) {
	var buf lockedBuffer
	dir := t.TempDir()
	write(t, dir, "probe", "", "bufio fmt log log/slog os", hook(lifecycle.BeforeChat, `
	fmt.Println("by fmt")
	fmt.Print("by print\n")
	log.Println("by log")
	log.Default().Print("by default")
	slog.Info("by slog")
	slog.Default().Warn("by default slog")
	println("by builtin")
	fmt.Fprintln(os.Stdout, "by stdout")
	fmt.Fprintln(os.Stderr, "by stderr")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		fmt.Println("stdin ends")
	}
	panic("by panic")`))
	s := load(
		t,
		plugin.Options{
			Dirs:   []string{dir},
			Logger: slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
	)
	stdout, stderr := capture(t, func() { said(t, s) })
	if stdout != "" || stderr != "" {
		t.Errorf("on the terminal: %q %q", stdout, stderr)
	}
	buf.wait(t, "by stderr")
	for _, part := range []string{"by fmt", "by print", "by log", "by default", "by slog", "by default slog",
		"by builtin", "by stdout", "stdin ends", "panic: probe.BeforeChat", "plugin=probe"} {
		if !strings.Contains(buf.String(), part) {
			t.Errorf("the log lacks %q:\n%s", part, buf.String())
		}
	}
}

// capture returns what f writes to the real standard streams.
func capture(t *testing.T, f func()) (string, string) {
	t.Helper()
	read := func(target **os.File) func() string {
		file, err := os.CreateTemp(t.TempDir(), "stream")
		if err != nil {
			t.Fatal(err)
		}
		old := *target
		*target = file
		return func() string {
			*target = old
			text, err := os.ReadFile(file.Name())
			if err != nil {
				t.Fatal(err)
			}
			_ = file.Close()
			return string(text)
		}
	}
	stdout, stderr := read(&os.Stdout), read(&os.Stderr)
	f()
	return stdout(), stderr()
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// wait waits until another goroutine has written a text.
func (b *lockedBuffer) wait(t *testing.T, text string) {
	t.Helper()
	for range 5000 {
		if strings.Contains(b.String(), text) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("never written: %q", text)
}
