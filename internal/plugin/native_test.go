package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/lifecycle/lifecycletest"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// install copies a plugin of testdata/native into dir, with a plugin.yaml.
func install(t testing.TB, dir, name, as, yaml string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(dir, as), os.DirFS(filepath.Join("testdata", "native", name))); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{as + "/plugin.yaml": yaml})
}

// puppet loads the plugin that does what it is told.
func puppet(t testing.TB, yaml string, o plugin.Options) *plugin.Set {
	t.Helper()
	dir := t.TempDir()
	install(t, dir, "puppet", "puppet", "engine: native\n"+yaml)
	o.Dirs = []string{dir}
	return load(t, o)
}

// do calls the tool of the puppet.
func do(t testing.TB, s *plugin.Set, what string) (string, error) {
	t.Helper()
	r, err := s.Tools()[0].Execute(context.Background(), call(map[string]any{"do": what}))
	return r.Text, err
}

// The table of the pipeline holds for plugins with a process of their own.
func TestNativeLifecycle(t *testing.T) {
	lifecycletest.Run(
		t,
		lifecycletest.Maker{
			Kind: lifecycle.Plugin,
			Make: func(t *testing.T, list []lifecycletest.Behaviour) []lifecycle.Binding {
				dir := t.TempDir()
				for i, b := range list {
					// One source for all: what they do is in their config. It is built once.
					config, err := json.Marshal(map[string]any{
						"hang":      b.Hang,
						"panic":     b.Panic,
						"say":       b.Say,
						"notice":    b.Notice,
						"error":     b.Error,
						"block":     b.Block,
						"arguments": b.Arguments,
						"append":    b.Append,
						"retry":     b.Retry,
						"skip":      b.Skip,
					})
					if err != nil {
						t.Fatal(err)
					}
					yaml := fmt.Sprintf(
						"name: %s\nonce: %v\ntimeout: %s\nengine: native\nconfig: %s\n",
						b.Name,
						b.Once,
						b.Timeout,
						config,
					)
					if b.Condition != "" {
						yaml += "condition: " + b.Condition + "\n"
					}
					if b.OnFailure != "" {
						yaml += "on_failure: " + string(b.OnFailure) + "\n"
					}
					install(t, dir, "puppet", fmt.Sprintf("p%d", i), yaml)
				}
				var all []lifecycle.Binding
				for _, info := range load(t, plugin.Options{Dirs: []string{dir},
					Exclude: []string{"none"}}).Bindings() {
					if slices.ContainsFunc(
						list,
						func(b lifecycletest.Behaviour) bool {
							return b.Name == info.Source.Name &&
								b.Moment == info.Moment
						},
					) {
						all = append(all, info)
					}
				}
				if len(all) != len(list) {
					t.Fatalf("%d bindings for %d behaviours", len(all), len(list))
				}
				return all
			},
		},
	)
}

// The example plugins of the documentation do the same in both engines.
func TestNativeExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, group := range []string{"seed", "snippets"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", group))); err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, dir, map[string]string{"project-stats/state.go": "package project_stats\n\nvar turnCount = 4\n"})
	interpreted := load(t, plugin.Options{Dirs: []string{dir}})
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name(), "plugin.yaml")
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, append(text, "\nengine: native\n"...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	compiled := load(t, plugin.Options{Dirs: []string{dir}})
	for i, info := range compiled.Plugins() {
		other := interpreted.Plugins()[i]
		if info.Engine != "native" || other.Engine != "yaegi" {
			t.Errorf("%s: engines %s and %s", info.Name, info.Engine, other.Engine)
		}
		if info.Engine = other.Engine; fmt.Sprint(info) != fmt.Sprint(other) {
			t.Errorf("%+v\n%+v", info, other)
		}
	}
	for _, m := range exampleMoments() {
		for range 5 {
			a, b := dispatch(t, interpreted, m.Moment, m.Data), dispatch(t, compiled, m.Moment, m.Data)
			if x, y := outcome(t, a), outcome(t, b); x != y {
				t.Errorf("%s:\n%s\n%s", m.Moment, x, y)
			}
		}
	}
	notepad(t, compiled)
	if r, err := compiled.Commands()[0].Run(
		t.Context(),
		"Bob",
		sdk.Context{},
	); err != nil ||
		r.Output != "Hello, Bob!" {
		t.Errorf("%q, %v", r.Output, err)
	}
}

// exampleMoments are events that the examples care about.
func exampleMoments() []lifecycle.Event {
	c := sdk.Context{
		Agent:        "Coder",
		MessageCount: 7,
		Stats:        sdk.Stats{Turns: 3, StartTime: time.Unix(1, 2).UTC(), Duration: time.Second},
		Tokens: sdk.TokenState{
			Estimate: 1234567,
			Percent:  12.4,
		},
		ModelInfo: sdk.ModelInfo{Name: "tiny", Capabilities: []string{"tools"}},
	}
	long := strings.Repeat("word ", 600)
	return []lifecycle.Event{
		{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{Context: c}},
		{
			Moment: lifecycle.BeforeToolExecution,
			Data: &sdk.BeforeToolContext{
				Context:   c,
				ToolName:  "Bash",
				Arguments: map[string]any{"command": "ls", "n": 1.5, "x": nil, "l": []any{true, "a"}},
			},
		},
		{
			Moment: lifecycle.AfterToolExecution,
			Data:   &sdk.AfterToolContext{Context: c, ToolName: "Bash", ToolResult: "in /home/user/x"},
		},
		{
			Moment: lifecycle.AfterResponse,
			Data:   &sdk.AfterResponseContext{Context: c, Response: "the SECRET" + strings.Repeat("x", 5001)},
		},
		{Moment: lifecycle.OnError, Data: &sdk.OnErrorContext{Context: c, Retryable: true}},
		{Moment: lifecycle.OnError, Data: &sdk.OnErrorContext{Context: c, ErrorType: "auth"}},
		{Moment: lifecycle.BeforeCompaction, Data: &sdk.BeforeCompactionContext{Context: c}},
		{
			Moment: lifecycle.TransformMessages,
			Data: &sdk.TransformContext{
				Context: c,
				Messages: []sdk.Message{
					{Role: "system"},
					{Role: "tool", Content: long, Tokens: 600, CreatedAt: time.Unix(5, 0).UTC()},
				},
			},
		},
	}
}

// outcome is what came of a dispatch, as text.
func outcome(t *testing.T, out lifecycle.Outcome) string {
	t.Helper()
	text, err := json.Marshal(
		[]any{out.Said, out.Notices, out.System, out.Skip, out.Retry, out.Data, fmt.Sprint(out.Blocked)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the interpreter cannot do works natively, and by itself with "auto".
func TestModernGo(t *testing.T) {
	t.Parallel()
	const want = `6 0.75|1 4|[0 2 4 6]|true 7|{"role":"user","content":"","name":"n"}|[a b] 0|three|embedded words`
	for _, engine := range []string{"native", "auto"} {
		dir := t.TempDir()
		install(t, dir, "modern", "modern", "engine: "+engine)
		s := load(t, plugin.Options{Dirs: []string{dir}})
		if got := said(t, s); got != want || s.Plugins()[0].Engine != "native" {
			t.Errorf("%s: %s\n%s", engine, s.Plugins()[0].Engine, got)
		}
	}
	dir := t.TempDir()
	install(t, dir, "modern", "modern", "")
	refused(
		t,
		plugin.Options{Dirs: []string{dir}},
		`plugin "modern": `,
		"not available to interpreted plugins",
		`"engine: native"`,
	)

	// Both engines refuse what is no Go at all; the compiler's words are those shown.
	dir = t.TempDir()
	write(t, dir, "probe", "engine: auto", "", speak(`undefinedName`))
	refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "probe": `, "main.go:10:29: undefined: undefinedName")
}

// Restricted mode refuses what it refuses the interpreter.
func TestNativeRestricted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ imports, body, want string }{
		{"os/exec", "var _ = exec.Command", `import "os/exec" needs unsafe mode`},
		{"syscall", "var _ = syscall.Getpid", `import "syscall" needs unsafe mode`},
		{"unsafe", "var _ unsafe.Pointer", `import "unsafe" needs unsafe mode`},
		{"os", "var _ = os.StartProcess", `os.StartProcess needs unsafe mode`},
	} {
		dir := t.TempDir()
		write(t, dir, "probe", "engine: native", c.imports, c.body+"\n\n"+speak(`"x"`))
		refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "probe": main.go:`, c.want, "--unsafe-plugins")
		write(t, dir, "probe", "engine: auto", c.imports, c.body+"\n\n"+speak(`"x"`))
		if c.imports != "unsafe" {
			refused(t, plugin.Options{Dirs: []string{dir}}, c.want)
		}
	}
	dir := t.TempDir()
	write(
		t,
		dir,
		"probe",
		"engine: native",
		"os/exec strings unsafe",
		speak(`strings.TrimSpace(output()) + string(rune('0'+unsafe.Sizeof(byte(0))))`)+
			"\nfunc output() string {\n\tout, err := exec.Command(\"/bin/echo\", \"hi\").Output()\n"+
			"\tif err != nil {\n\t\treturn err.Error()\n\t}\n\treturn string(out)\n}\n",
	)
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}, Unsafe: true})); got != "hi1" {
		t.Errorf("said %q", got)
	}
}

// A plugin that does not fit is told so in the same words as by the interpreter.
func TestNativeSignatures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"func BeforeChat() {}", "BeforeChat has the signature func(), expected func(context.Context, " +
			"sdk.BeforeChatContext) (sdk.Result, error)"},
		{"func Schema() string { return \"\" }\n\nfunc Execute() {}", "Schema has the signature func() string, " +
			"expected func() sdk.ToolSchema"},
		{"func Command() int { return 1 }\n\nfunc ExecuteCommand() {}", "Command has the signature func() int, " +
			"expected func() sdk.CommandSchema"},
		{"func Other() {}", "exports no hook, tool or command"},
		{speak(`"x"`) + "\nfunc init() { panic(\"in init\") }", "panic while loading: in init"},
	} {
		for _, engine := range []string{"yaegi", "native"} {
			dir := t.TempDir()
			write(t, dir, "probe", "engine: "+engine, "", c.body)
			refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "probe": `, c.want)
		}
	}
	var warnings []string
	dir := t.TempDir()
	write(t, dir, "probe", "engine: native", "", toolSource("Probe", `"x"`)+"\nfunc Parallel() int { return 1 }\n")
	load(t, plugin.Options{Dirs: []string{dir}, Warn: func(text string) { warnings = append(warnings, text) }})
	want := []string{
		"building plugin probe, which is needed once after a change",
		"warning: plugin probe exports Parallel with wrong signature (got func() int), ignoring",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	dir = t.TempDir()
	write(
		t,
		dir,
		"probe",
		"engine: native\nenv: [HANG]",
		"os",
		speak(`"x"`)+"func init() {\n\tfor os.Getenv(\"HANG\") != \"\" {\n\t}\n}\n",
	)
	load(t, plugin.Options{Dirs: []string{dir}}) // Builds it.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	o := plugin.Options{
		Dirs:    []string{dir},
		Native:  plugin.Native{Cache: builds},
		Environ: func() []string { return []string{"HANG=yes"} },
	}
	if _, err := plugin.Load(ctx, o); err == nil || !strings.Contains(err.Error(), "loading takes too long") {
		t.Errorf("error %v", err)
	}
}

// EV-01 EV-02 EV-03 EV-04: the environment of the process is what the plugin may see,
// and nothing else. Its directory is that of the session.
func TestNativeWorld(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := plugin.Options{
		Native:  plugin.Native{Workdir: dir},
		Environ: func() []string { return []string{"A=1", "B=2", "HOME=/h"} },
	}
	for yaml, want := range map[string]string{"": "[]", "env: [A]": "[A=1]", "env: ['*']": "[A=1 B=2 HOME=/h]"} {
		got, err := do(t, puppet(t, yaml, o), "world")
		if want := dir + " " + want + " [puppet] <nil>"; err != nil || got != want {
			t.Errorf("%q: %q, %v", yaml, got, err)
		}
	}
	// EV-08 EV-09 EV-11 EV-12: values of a task come and go.
	task := map[string]string{}
	o.TaskEnv = func() map[string]string { return task }
	s := puppet(t, "env: [A, T]", o)
	for _, c := range []struct {
		task map[string]string
		want string
	}{{nil, "[A=1]"}, {map[string]string{"A": "task", "T": "t", "B": "no"}, "[A=task T=t]"},
		{map[string]string{"T": "u"}, "[A=1 T=u]"}, {nil, "[A=1]"}} {
		task = c.task
		if got, err := do(t, s, "world"); err != nil || !strings.Contains(got, " "+c.want+" ") {
			t.Errorf("%v: %q, %v", c.task, got, err)
		}
	}
	if got, err := do(t, s, "stdin"); err != nil || got != "0 EOF" {
		t.Errorf("stdin: %q, %v", got, err)
	}
}

// Values arrive as what they were.
func TestNativeValues(t *testing.T) {
	t.Parallel()
	s := puppet(t, "config: {n: 3, f: 1.5, l: [1, x, null], m: {a: {b: true}}, none: null}", plugin.Options{})
	for _, v := range []any{
		nil, true, false, 1, -5, int64(7), uint8(3), 1.0, 2.5, "text", "", []any{}, []any(nil),
		[]any{nil, 1, "x", []any{2.0}},
		map[string]any{}, map[string]any(nil), map[string]any{"a": nil}, []string{"a"}, map[string]string{"k": "v"},
		time.Second,
	} {
		r, err := s.Tools()[0].Execute(t.Context(), call(map[string]any{"do": "show", "value": v}))
		if want := fmt.Sprintf("%#v", tool.CloneArgs(map[string]any{"v": v})["v"]); err != nil || r.Text != want {
			t.Errorf("%#v: %s, %v", v, r.Text, err)
		}
	}
	got, err := do(t, s, "context")
	if err != nil ||
		!strings.Contains(got, "PluginConfig:map[f:1.5 l:[1 x <nil>] m:map[a:map[b:true]] n:3 none:<nil>]") {
		t.Errorf("%s, %v", got, err)
	}
	type own struct{ A int }
	if _, err := s.Tools()[0].Execute(
		t.Context(),
		call(map[string]any{"value": own{1}}),
	); err == nil ||
		!strings.Contains(err.Error(), "plugin_test.own cannot be handed over") {
		t.Errorf("%v", err)
	}
	cycle := map[string]any{}
	cycle["again"] = cycle
	r := dispatchArguments(t, cycle)
	if r == nil || !strings.Contains(r.Error(), "nested") {
		t.Errorf("cycle: %v", r)
	}
}

// dispatchArguments hands arguments to a native hook without the pipeline, which
// would copy them.
func dispatchArguments(t *testing.T, args map[string]any) error {
	s := puppet(t, "", plugin.Options{})
	for _, b := range s.Bindings() {
		if b.Moment == lifecycle.BeforeToolExecution {
			_, err := b.Handler.Handle(t.Context(), &lifecycle.Event{Data: &sdk.BeforeToolContext{Arguments: args}})
			return err
		}
	}
	return errors.New("no such hook")
}

// Whatever a plugin does to itself, the session goes on and knows who it was.
func TestNativeHostile(t *testing.T) {
	t.Parallel()
	s := puppet(t, "", plugin.Options{})
	for _, what := range []string{"panic", "goexit"} {
		want := `plugin "puppet": plugin panic: boom`
		if what == "goexit" {
			want = `plugin "puppet": plugin panic: runtime.Goexit`
		}
		if _, err := do(t, s, what); err == nil || err.Error() != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := do(t, s, "huge"); err == nil || !strings.Contains(err.Error(), "1024 MB are too much") {
		t.Errorf("huge: %v", err)
	}
	if text, err := do(t, s, "large"); err != nil || len(text) != 64<<20 {
		t.Errorf("large: %d, %v", len(text), err)
	}
	if text, err := do(t, s, "flood"); err != nil || text != "said it all" {
		t.Errorf("flood: %q, %v", text, err)
	}
	if text, err := do(t, s, "count"); err != nil || text != "1" {
		t.Errorf("still there: %q, %v", text, err)
	}
	for what, want := range map[string]string{
		"exit": "exit status 3", "goroutine": "panic: in a goroutine", "recursion": "fatal error: stack overflow",
	} {
		s := puppet(t, "", plugin.Options{})
		_, err := do(t, s, what)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), `plugin "puppet" is switched off until /reload`) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := do(
			t,
			s,
			"count",
		); err == nil || !strings.Contains(err.Error(), "switched off") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("after %s: %v", what, err)
		}
		for _, b := range s.Bindings() {
			if !b.Off() {
				t.Errorf("after %s, %s is not off", what, b.Label())
			}
		}
	}
}

// A process that ends while nobody calls it is noticed, too.
func TestNativeDiesLater(t *testing.T) {
	t.Parallel()
	warned := make(chan string, 1)
	s := puppet(t, "", plugin.Options{Warn: func(text string) { warned <- text }})
	if text, err := do(t, s, "later"); err != nil || text != "soon" {
		t.Fatalf("%q, %v", text, err)
	}
	if got := <-warned; !strings.Contains(got, "plugin puppet: its process ended (exit status 2): panic: afterwards") ||
		!strings.Contains(got, "/reload") {
		t.Errorf("warning %q", got)
	}
}

// What a plugin prints goes to the debug log.
func TestNativeOutput(t *testing.T) {
	t.Parallel()
	var buf lockedBuffer
	s := puppet(
		t,
		"",
		plugin.Options{Logger: slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))},
	)
	if text, err := do(t, s, "print"); err != nil || text != "printed" {
		t.Fatalf("%q, %v", text, err)
	}
	for _, part := range []string{"by fmt", "by stderr", "by builtin"} {
		buf.wait(t, part)
	}
	if !strings.Contains(buf.String(), "plugin=puppet") {
		t.Error(buf.String())
	}
	_, _ = do(t, s, "flood")
	buf.wait(t, "from here on is dropped")
	if n := len(buf.String()); n > 20<<20 {
		t.Errorf("%d bytes in the log", n)
	}
}

// Calls are serialised unless they are of a tool that may run in parallel.
func TestNativeParallel(t *testing.T) {
	t.Parallel()
	s := one(t, "engine: native", "sync", toolSource("Probe", "together()")+`
var meeting = func() *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Add(3)
	return &wg
}()

func together() string {
	meeting.Done()
	meeting.Wait() // Nobody gets past here alone.
	return "met"
}
`)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if r, err := s.Tools()[0].Execute(context.Background(), call(nil)); err != nil || r.Text != "met" {
				t.Errorf("%q, %v", r.Text, err)
			}
		})
	}
	wg.Wait()
}
