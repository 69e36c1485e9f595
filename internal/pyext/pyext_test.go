package pyext

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pyext-test")
	if err != nil {
		panic(err)
	}
	testCache = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// testCache is shared by the tests: the package is unpacked and the interpreter
// asked once.
var testCache string

// interpreter is the python3 of the machine.
func interpreter(t testing.TB) Interpreter {
	t.Helper()
	in, err := FindInterpreter(t.TempDir(), "", func(name string) string {
		if name == "AURA_PYTHON" || name == "VIRTUAL_ENV" {
			return ""
		}
		return os.Getenv(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// world is a host with extensions and what came out of it.
type world struct {
	*Host
	pipeline *lifecycle.Pipeline
	log      *syncBuffer

	mu      sync.Mutex
	notices []string
	history []message.Message
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// files are extensions by name; a name with a slash is a file of a package.
type files map[string]string

// start writes extensions, loads them and binds them.
func start(t testing.TB, f files, change ...func(*Options)) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "extensions")
	for name, text := range f {
		if filepath.Ext(name) == "" {
			name += ".py"
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return load(t, Discover(Dirs{Project: []string{dir}}, nil), change...)
}

// load loads extensions that were found.
func load(t testing.TB, found []Extension, change ...func(*Options)) *world {
	t.Helper()
	w := &world{pipeline: lifecycle.New(lifecycle.Options{}), log: &syncBuffer{}}
	o := Options{
		Interpreter: interpreter(
			t,
		),
		Cache:    testCache,
		Workdir:  t.TempDir(),
		Timeout:  20 * time.Second,
		loading:  20 * time.Second,
		patience: 20 * time.Second,
		Logger:   slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Notice: func(extension, text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notices = append(w.notices, extension+": "+text)
		},
		Messages: func() []message.Message { return w.history },
	}
	for _, f := range change {
		f(&o)
	}
	w.Host = New(o, found)
	w.Start()
	t.Cleanup(w.Close)
	if err := w.Wait(t.Context()); err != nil {
		t.Logf("wait: %v", err)
	}
	w.pipeline.Bind(lifecycle.Extension, w.Bindings())
	return w
}

func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notices, "\n")
}

// moment dispatches data at the moment it belongs to.
func (w *world) moment(t testing.TB, data any) lifecycle.Outcome {
	t.Helper()
	moments := map[string]lifecycle.Moment{}
	for _, e := range []struct {
		data   any
		moment lifecycle.Moment
	}{
		{&sdk.SessionStartContext{}, lifecycle.SessionStart}, {&sdk.SessionEndContext{}, lifecycle.SessionEnd},
		{&sdk.UserMessageContext{}, lifecycle.UserMessage}, {&sdk.BeforeChatContext{}, lifecycle.BeforeChat},
		{&sdk.TransformContext{}, lifecycle.TransformMessages}, {&sdk.StreamChunkContext{}, lifecycle.StreamChunk},
		{&sdk.AfterResponseContext{}, lifecycle.AfterResponse}, {&sdk.BeforeToolContext{}, lifecycle.BeforeToolExecution},
		{&sdk.AfterToolContext{}, lifecycle.AfterToolExecution}, {&sdk.OnErrorContext{}, lifecycle.OnError},
		{&sdk.BeforeCompactionContext{}, lifecycle.BeforeCompaction}, {&sdk.AfterCompactionContext{}, lifecycle.AfterCompaction},
		{&sdk.OnAgentSwitchContext{}, lifecycle.OnAgentSwitch},
	} {
		moments[fmt.Sprintf("%T", e.data)] = e.moment
	}
	return w.pipeline.Dispatch(t.Context(), lifecycle.Event{Moment: moments[fmt.Sprintf("%T", data)], Data: data}, nil)
}

func bash(command string) *sdk.BeforeToolContext {
	return &sdk.BeforeToolContext{ToolName: "Bash", ToolCallID: "c1", Arguments: map[string]any{"command": command}}
}

func (w *world) tool(t testing.TB, name string) tool.Tool {
	t.Helper()
	for _, x := range w.Tools() {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no tool %q", name)
	return tool.Tool{}
}

func (w *world) run(t testing.TB, name string, args map[string]any) (string, error) {
	t.Helper()
	r, err := w.tool(t, name).Execute(t.Context(), tool.Call{ID: "c", Args: args})
	return r.Text, err
}

func (w *world) command(ctx context.Context, t testing.TB, name, args string, snapshot sdk.Context) (string, error) {
	t.Helper()
	list := w.Commands()
	i := slices.IndexFunc(list, func(c tool.Command) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no command %q in %v", name, list)
	}
	r, err := list[i].Run(ctx, args, snapshot)
	return r.Output, err
}

func (w *world) wants(t testing.TB, text string) {
	t.Helper()
	if !strings.Contains(w.said(), text) {
		t.Errorf("notices:\n%s\nwant %q", w.said(), text)
	}
}

func seed(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "seed", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The guide's own files run as they are printed.
// AX-01 AX-02 AX-03 AX-05 AX-08 AX-10 AX-12 AX-17 AX-18 AX-47 AX-52 AX-55 AX-56 AX-62 AX-63 AX-64
func TestSeed(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"hello": seed(
			t,
			"hello.py",
		),
		"anatomy":         seed(t, "anatomy.py"),
		"protected_paths": seed(t, "protected_paths.py"),
		"word_count": seed(
			t,
			"word_count.py",
		),
		"stats_mood": seed(t, "stats_mood.py"),
		"companion":  seed(t, "companion.py"),
	})
	w.moment(t, &sdk.SessionStartContext{})
	w.wants(t, "hello: Hello from my first extension!")
	if out := w.moment(
		t,
		bash("rm -rf /"),
	); out.Blocked == nil ||
		out.Blocked.Reason != "Blocked by extension: Dangerous command blocked" {
		t.Errorf("rm -rf: %+v", out.Blocked)
	}
	out := w.moment(t, &sdk.BeforeToolContext{ToolName: "Write", Arguments: map[string]any{"path": "a/.env"}})
	if out.Blocked == nil ||
		out.Blocked.Reason != "Blocked by extension: Write to a/.env blocked by protected-paths extension" {
		t.Errorf(".env: %+v", out.Blocked)
	}
	if out := w.moment(t, bash("ls")); out.Blocked != nil || len(out.Notices) > 0 {
		t.Errorf("ls: %+v", out)
	}
	if got, err := w.run(t, "greet", map[string]any{"name": "Bob"}); got != "Hello, Bob!" || err != nil {
		t.Errorf("greet: %q, %v", got, err)
	}
	if got, err := w.run(t, "word_count", map[string]any{"text": "a b  c"}); got != "3 words" || err != nil {
		t.Errorf("word_count: %q, %v", got, err)
	}
	if d := w.tool(t, "greet").Description; d != "Greet someone" {
		t.Errorf("description %q", d)
	}
	if got := w.Prompts(); len(got) != 1 || got[0] != "You have access to a greeting tool." {
		t.Errorf("prompts %q", got)
	}
	w.history = []message.Message{
		{Message: sdk.Message{Role: "user", Content: "hi", Type: "normal"}},
		{Message: sdk.Message{Role: "assistant", Content: "hello", Type: "normal"}},
	}
	for _, c := range []struct{ name, args, want string }{
		{"ping", "", "anatomy: Pong!"}, {"stats", "", "stats_mood: Steps: 1 | Messages: 2"},
		{"mood", "happy", "stats_mood: Mood set to: happy"}, {"mood", "", "stats_mood: Mood set to: neutral"},
	} {
		if got, err := w.command(
			t.Context(),
			t,
			c.name,
			c.args,
			sdk.Context{Stats: sdk.Stats{Iterations: 1}},
		); got != "" ||
			err != nil {
			t.Errorf("/%s: %q, %v", c.name, got, err)
		}
		w.wants(t, c.want)
	}
}
