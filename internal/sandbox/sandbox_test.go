package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/sandbox"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/sdk"
)

// TestMain makes the test binary the confined child when it is asked to be.
func TestMain(m *testing.M) {
	if rules, ok := sandbox.Requested(); ok {
		byName := map[string]tool.Tool{
			"Panic": {Name: "Panic", Execute: func(context.Context, tool.Call) (tool.Result, error) { panic("boom") }},
			"Die": {
				Name: "Die",
				Execute: func(context.Context, tool.Call) (tool.Result, error) {
					os.Exit(3)
					return tool.Result{}, nil
				},
			},
			"Who": {Name: "Who", Execute: func(_ context.Context, c tool.Call) (tool.Result, error) {
				return tool.Result{Text: c.Context.Agent}, nil
			}},
		}
		for _, t := range tools.New(tools.Options{}) {
			byName[t.Name] = t
		}
		err := sandbox.Serve(
			context.Background(),
			os.Stdin,
			os.Stdout,
			rules,
			func(name string) (tool.Tool, bool) { t, ok := byName[name]; return t, ok },
		)
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// worker starts a confined child that may write to dir only.
func worker(t *testing.T, dir string) *sandbox.Worker {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := sandbox.NewWorker(sandbox.WorkerOptions{
		Command: []string{exe}, Env: os.Environ(), Dir: dir,
		Rules: sandbox.Rules{RO: []string{"/usr", "/bin", "/lib", "/lib64", "/etc"}, RW: []string{dir}}.Resolve(dir),
	})
	t.Cleanup(w.Close)
	return w
}

// confinable reports whether the kernel can confine; where it cannot, that is what
// the sandbox must say.
func confinable(t *testing.T, w *sandbox.Worker, dir string) bool {
	t.Helper()
	if sandbox.Supported() == nil {
		return true
	}
	_, err := w.Run(t.Context(), "Read", tool.Call{Args: map[string]any{"path": "x"}, Workdir: dir})
	if setup := (*sandbox.SetupError)(nil); !errors.As(err, &setup) {
		t.Errorf("without kernel support: %v", err)
	}
	return false
}

// HO-33: the kernel refuses what the rules do not allow, also to what Bash starts.
func TestConfinedTools(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := worker(t, dir)
	if !confinable(t, w, dir) {
		return
	}
	run := func(name string, args map[string]any) (string, error) {
		r, err := w.Run(t.Context(), name, tool.Call{Args: args, Workdir: dir})
		return r.Text, err
	}
	if _, err := run("Write", map[string]any{"path": "in.txt", "content": "hello"}); err != nil {
		t.Errorf("write inside: %v", err)
	}
	if text, err := run("Read", map[string]any{"path": "in.txt"}); err != nil || !strings.Contains(text, "hello") {
		t.Errorf("read inside: %q, %v", text, err)
	}
	if _, err := run("Write", map[string]any{"path": filepath.Join(outside, "out.txt"), "content": "x"}); err == nil {
		t.Error("write outside was allowed")
	}
	if text, err := run(
		"Bash",
		map[string]any{"command": "cat " + filepath.Join(outside, "secret")},
	); err == nil ||
		strings.Contains(text, "s3cret") {
		t.Errorf("read outside by a program: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "out.txt")); err == nil {
		t.Error("the file outside exists")
	}
}

// HO-33: what runs in the sandbox can send signals to what it started, and to nobody
// outside, where the kernel can tell.
func TestConfinedSignals(t *testing.T) {
	dir := t.TempDir()
	w := worker(t, dir)
	if !confinable(t, w, dir) {
		return
	}
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- victim.Wait() }()
	t.Cleanup(func() { _ = victim.Process.Kill() })
	run := func(format string, values ...any) error {
		_, err := w.Run(
			t.Context(),
			"Bash",
			tool.Call{Args: map[string]any{"command": fmt.Sprintf(format, values...)}, Workdir: dir},
		)
		return err
	}
	if sandbox.SignalsSupported() != nil {
		if err := run("env kill -9 %d", victim.Process.Pid); err != nil {
			t.Errorf("without kernel support: %v", err)
		}
		return
	}
	for _, pid := range []int{victim.Process.Pid, os.Getpid()} {
		for _, command := range []string{"env kill -%s %d", "sh -c 'kill -%s %d'", "kill -%s %d"} {
			for _, signal := range []string{"0", "CONT"} {
				if err := run(command, signal, pid); err == nil {
					t.Errorf("%s reached process %d", fmt.Sprintf(command, signal, pid), pid)
				}
			}
		}
	}
	if err := run("sh -c 'kill -9 %d'", victim.Process.Pid); err == nil {
		t.Error("a process outside was killed")
	}
	select {
	case err := <-ended:
		t.Errorf("the process outside is gone: %v", err)
	default:
	}
	// Its own it can end, whichever thread started them.
	for range 4 {
		if err := run("sleep 1000 & kill $!; wait $!; sh -c 'sleep 1000 & kill $!'"); err != nil {
			t.Errorf("its own process: %v", err)
		}
	}
	for range 4 {
		_, err := w.Run(
			t.Context(),
			"Bash",
			tool.Call{Args: map[string]any{"command": "sleep 1000", "timeout_ms": 1.0}, Workdir: dir},
		)
		if err == nil || !strings.Contains(err.Error(), "stopped after") {
			t.Errorf("a call that takes too long: %v", err)
		}
	}
}

// Output arrives while a tool runs, the snapshot reaches it, a panic is an error,
// and a child that died is replaced.
func TestWorker(t *testing.T) {
	dir := t.TempDir()
	w := worker(t, dir)
	if !confinable(t, w, dir) {
		return
	}
	var live strings.Builder
	r, err := w.Run(
		t.Context(),
		"Bash",
		tool.Call{
			Args:    map[string]any{"command": "echo one; echo two"},
			Workdir: dir,
			Output:  func(s string) { live.WriteString(s) },
		},
	)
	if err != nil || !strings.Contains(live.String(), "one\n") || !strings.Contains(r.Text, "two") {
		t.Errorf("result %q, live %q, %v", r.Text, live.String(), err)
	}
	if r, err := w.Run(
		t.Context(),
		"Who",
		tool.Call{Context: sdk.Context{Agent: "scout"}},
	); err != nil ||
		r.Text != "scout" {
		t.Errorf("context: %q, %v", r.Text, err)
	}
	if _, err := w.Run(t.Context(), "Panic", tool.Call{}); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("panic: %v", err)
	}
	if _, err := w.Run(t.Context(), "Die", tool.Call{}); err == nil {
		t.Error("a dead child answered")
	}
	if r, err := w.Run(
		t.Context(),
		"Who",
		tool.Call{Context: sdk.Context{Agent: "again"}},
	); err != nil ||
		r.Text != "again" {
		t.Errorf("after the child died: %q, %v", r.Text, err)
	}
}

// Cancelling a call stops what it runs, and the worker goes on.
func TestCancelledCall(t *testing.T) {
	dir := t.TempDir()
	w := worker(t, dir)
	if !confinable(t, w, dir) {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.Run(ctx, "Bash", tool.Call{
		Args: map[string]any{
			"command":    "echo started; sleep 1000",
			"timeout_ms": 600000.0,
		},
		Workdir: dir,
		Output:  func(string) { cancel() },
	})
	if err == nil {
		t.Error("a cancelled call succeeded")
	}
	if r, err := w.Run(
		t.Context(),
		"Who",
		tool.Call{Context: sdk.Context{Agent: "alive"}},
	); err != nil ||
		r.Text != "alive" {
		t.Errorf("after a cancelled call: %q, %v", r.Text, err)
	}
}

// TL-23 TL-24: declared paths are judged without the kernel, links resolved.
func TestCheck(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	rules := sandbox.Rules{RO: []string{other}, RW: []string{dir}}.Resolve(dir)
	for _, c := range []struct {
		paths sdk.ToolPaths
		ok    bool
	}{
		{sdk.ToolPaths{Write: []string{"new/file"}}, true},
		{sdk.ToolPaths{Read: []string{"new/file"}}, true},
		{sdk.ToolPaths{Read: []string{filepath.Join(other, "x")}}, true},
		{sdk.ToolPaths{Write: []string{filepath.Join(other, "x")}}, false},
		{sdk.ToolPaths{Write: []string{"link/x"}}, false},
		{sdk.ToolPaths{Write: []string{"../up"}}, false},
		{sdk.ToolPaths{Read: []string{"/etc/passwd"}}, false},
		{sdk.ToolPaths{Read: []string{dir + "x"}}, false},
	} {
		if err := rules.Check(c.paths, dir); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.paths, err)
		}
	}
}

// What is to be written and does not exist is named.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	rules := sandbox.Rules{RO: []string{"none", "/"}, RW: []string{"build", dir}}
	got := rules.Resolve(dir)
	if want := []string{
		filepath.Join(dir, "build"),
	}; !slices.Equal(got.Missing, want) ||
		!strings.Contains(got.String(), "(missing: "+want[0]+")") {
		t.Errorf("missing %v: %s", got.Missing, got)
	}
	if err := os.Mkdir(filepath.Join(dir, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := rules.Resolve(dir); len(got.Missing) > 0 || strings.Contains(got.String(), "missing") {
		t.Errorf("missing %v: %s", got.Missing, got)
	}
	if got := sandbox.Default(dir).Resolve(dir); len(got.Missing) > 0 {
		t.Errorf("of the built-in rules: %v", got.Missing)
	}
}

// The gate refuses before the tool runs, and lets everything through while off.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	rules := sandbox.Rules{RW: []string{dir}}.Resolve(dir)
	on := true
	write := tool.Tool{Name: "W", Paths: func(args map[string]any) (sdk.ToolPaths, error) {
		return sdk.ToolPaths{Write: []string{args["path"].(string)}}, nil
	}}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Guard, []lifecycle.Binding{sandbox.Guard(
		func(string) (tool.Tool, bool) { return write, true },
		func(string, string) (*sandbox.Rules, error) {
			if on {
				return &rules, nil
			}
			return nil, nil
		})})
	blocked := func() bool {
		return p.Dispatch(
			t.Context(),
			lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{
				Context: sdk.Context{Workdir: dir}, ToolName: "W", Arguments: map[string]any{"path": "/outside"},
			}},
			nil,
		).Blocked != nil
	}
	if !blocked() {
		t.Error("a path outside was let through")
	}
	if on = false; blocked() {
		t.Error("the sandbox is off and refuses")
	}
}

// BenchmarkRead is the cost of a sandboxed Read in a worker that runs.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("hello\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	exe, _ := os.Executable()
	w := sandbox.NewWorker(
		sandbox.WorkerOptions{
			Command: []string{exe},
			Env:     os.Environ(),
			Dir:     dir,
			Rules:   sandbox.Default(dir).Resolve(dir),
		},
	)
	defer w.Close()
	start := time.Now()
	for i := 0; b.Loop(); i++ {
		if _, err := w.Run(
			b.Context(),
			"Read",
			tool.Call{Args: map[string]any{"path": "a"}, Workdir: dir},
		); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			b.ReportMetric(float64(time.Since(start).Microseconds()), "first-µs")
		}
	}
}
