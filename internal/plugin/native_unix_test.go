//go:build unix

package plugin_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// A call that runs too long is really ended.
func TestNativeKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "probe", "engine: native\ntimeout: 300ms", "fmt os", `
func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: "x"} }

func ExecuteCommand(ctx context.Context, args string, _ sdk.Context) (sdk.CommandResult, error) {
	switch args {
	case "pid":
		return sdk.CommandResult{Output: fmt.Sprint(os.Getpid())}, nil
	case "polite":
		<-ctx.Done()
		return sdk.CommandResult{}, ctx.Err()
	}
	for {
	}
}
`)
	s := load(t, plugin.Options{Dirs: []string{dir}})
	c := s.Commands()[0]
	r, err := c.Run(t.Context(), "pid", sdk.Context{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(
		t.Context(),
		"polite",
		sdk.Context{},
	); err == nil || strings.Contains(err.Error(), "switched off") ||
		!strings.Contains(err.Error(), "timed out after 300ms") {
		t.Errorf("polite: %v", err)
	}
	if _, err := c.Run(
		t.Context(),
		"",
		sdk.Context{},
	); err == nil ||
		!strings.Contains(
			err.Error(),
			`timed out after 300ms and does not stop: plugin "probe" is switched off until /reload`,
		) {
		t.Errorf("endless: %v", err)
	}
	gone(t, r.Output)
	if _, err := c.Run(
		t.Context(),
		"pid",
		sdk.Context{},
	); err == nil ||
		!strings.Contains(err.Error(), "switched off") {
		t.Errorf("afterwards: %v", err)
	}
	// A user who cancels gets control back, and the plugin hears of it.
	s = puppet(t, "", plugin.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Tools()[0].Execute(ctx, call(map[string]any{"do": "polite"})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if text, err := do(t, s, "count"); err != nil || text != "1" {
		t.Errorf("after it: %q, %v", text, err)
	}
}

// gone checks that a process has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if err := syscall.Kill(n, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("process %d still runs", n)
}

// What a plugin has started goes with it, and cannot hold it back.
func TestNativeGrandchild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "probe", "engine: native", "fmt os os/exec syscall", toolSource("Probe", "run(args)")+`
func run(args map[string]any) string {
	cmd := exec.Command("/bin/sleep", "600")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if args["a"] == "y" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	if args["a"] == "y" {
		fmt.Println("child", cmd.Process.Pid)
		os.Exit(0)
	}
	return fmt.Sprint(cmd.Process.Pid)
}
`)
	o := plugin.Options{Dirs: []string{dir}, Unsafe: true}
	s := load(t, o)
	r, err := s.Tools()[0].Execute(t.Context(), call(map[string]any{"a": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	gone(t, r.Text)

	var buf lockedBuffer
	o.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s = load(t, o)
	if _, err := s.Tools()[0].Execute(
		t.Context(),
		call(map[string]any{"a": "y"}),
	); err == nil ||
		!strings.Contains(err.Error(), "its process ended;") {
		t.Errorf("%v", err)
	}
	_, rest, ok := strings.Cut(buf.String(), "child ")
	pid, err := strconv.Atoi(strings.TrimRight(strings.Fields(rest + " ")[0], `"`))
	if !ok || err != nil {
		t.Fatalf("%q", buf.String())
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // It left its group: nobody else can end it.
}

// A process that confines itself after loading gets plugins that are confined, too:
// the tool runs in another process than the one that was asked while loading.
func TestNativeConfining(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "probe", "engine: native", "fmt os", toolSource("Probe", `fmt.Sprint(pid, os.Getpid(), home)`)+`
var home string
var pid = os.Getpid()

func Init(c sdk.ToolConfig) { home = c.HomeDir }

func Paths(map[string]any) (sdk.ToolPaths, error) {
	return sdk.ToolPaths{Read: []string{fmt.Sprint(os.Getpid())}}, nil
}
`)
	s := load(
		t,
		plugin.Options{
			Dirs:   []string{dir},
			Native: plugin.Native{Confining: true},
			Tool:   sdk.ToolConfig{HomeDir: "/h"},
		},
	)
	paths, err := s.Tools()[0].Paths(nil)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for range 2 {
		r, err := s.Tools()[0].Execute(t.Context(), call(nil))
		if err != nil || !strings.HasSuffix(r.Text, "/h") {
			t.Fatalf("%q, %v", r.Text, err)
		}
		seen = append(seen, strings.Fields(r.Text)[0])
	}
	if seen[0] == paths.Read[0] || seen[0] != seen[1] {
		t.Errorf("processes %v after %v", seen, paths.Read)
	}
	gone(t, paths.Read[0])
}
