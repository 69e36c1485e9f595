package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

func call(args map[string]any) tool.Call { return tool.Call{Args: args, Workdir: "/work"} }

// toolSource is a tool called name that answers with an expression.
func toolSource(name, expr string) string {
	return fmt.Sprintf(`
func Schema() sdk.ToolSchema {
	return sdk.ToolSchema{Name: %q, Description: "d", Usage: "u", Examples: "e", Parameters: sdk.ToolParameters{Type: "object",
		Properties: map[string]sdk.ToolProperty{"a": {Type: "string", Description: "an a", Enum: []any{"x", "y"}}}, Required: []string{"a"}}}
}

func Execute(ctx context.Context, sc sdk.Context, args map[string]any) (string, error) { return %s, nil }
`, name, expr)
}

// TL-01 TL-02 TL-03 TL-19 TL-20 TL-21 TL-36
func TestTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // TL-03: module my-probe, package my_probe.
	write(t, dir, "my-probe", "description: of the plugin", "fmt",
		toolSource("Probe", `fmt.Sprint(sc.Agent, sc.Workdir, args["a"])`))
	tools := load(t, plugin.Options{Dirs: []string{dir}}).Tools()
	if len(tools) != 1 {
		t.Fatalf("%d tools", len(tools))
	}
	x := tools[0]
	if x.Name != "Probe" || x.Description != "d" || x.Usage != "u" || x.Examples != "e" ||
		x.Source != (tool.Source{Kind: "plugin", Name: "my-probe"}) {
		t.Errorf("%+v", x)
	}
	if x.Serial || x.InProcess || x.OptIn || x.Paths != nil { // TL-06 TL-07 TL-08: the defaults.
		t.Errorf("%+v", x)
	}
	want := `{"type":"object","properties":{"a":{"type":"string","description":"an a","enum":["x","y"]}},"required":["a"]}`
	if got := string(x.Schema.Raw()); got != want {
		t.Errorf("schema %s", got)
	}
	if problems := x.Schema.Check(map[string]any{"a": "z"}); len(problems) == 0 { // TL-22
		t.Error("z is not in the enum")
	}
	c := call(map[string]any{"a": "x"})
	c.Context.Agent = "Coder"
	if r, err := x.Execute(t.Context(), c); err != nil || r.Text != "Coder/workx" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// TL-04 TL-05: a tool needs both functions, with the right signatures.
func TestToolNeedsBoth(t *testing.T) {
	t.Parallel()
	schema := "func Schema() sdk.ToolSchema { return sdk.ToolSchema{Name: \"X\"} }\n"
	execute := "func Execute(context.Context, sdk.Context, map[string]any) (string, error) { return \"\", nil }\n"
	for _, c := range []struct{ body, part string }{
		{schema, "without Execute"},
		{execute, "without Schema"},
		{"func Schema() string { return \"\" }\n" + execute, "Schema has the signature func() string, expected " +
			"func() sdk.ToolSchema"},
		{schema + "func Execute() {}\n", "expected func(context.Context, sdk.Context, map[string]interface {}) " +
			"(string, error)"},
		{"func Schema() sdk.ToolSchema { return sdk.ToolSchema{Name: \"not good\"} }\n" + execute, `name "not good"`},
		{"func Schema() sdk.ToolSchema { panic(\"boom\") }\n" + execute, "boom"},
	} {
		dir := t.TempDir()
		write(t, dir, "probe", "", "", c.body)
		refused(t, plugin.Options{Dirs: []string{dir}}, c.part)
	}
}

// TL-09 TL-10 TL-11: Init comes first and once; Available may keep the tool back.
func TestInitAndAvailable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	body := toolSource("Probe", `fmt.Sprint(n, cfg.HomeDir, cfg.ConfigDir)`) + `
var n int
var cfg sdk.ToolConfig

func Init(c sdk.ToolConfig) {
	n++
	cfg = c
}

func Available() bool { return n == 1 && os.Getenv("PROBE") != "" }
`
	write(t, dir, "probe", "env: [PROBE]", "fmt os", body)
	o := plugin.Options{Dirs: []string{dir}, Tool: sdk.ToolConfig{HomeDir: "/home/x", ConfigDir: "/p/.aura"}}
	if s := load(t, o); len(s.Tools()) != 0 || s.Plugins()[0].Tool != "" || s.Plugins()[0].Status != plugin.Enabled {
		t.Error("the tool is there although it is not available")
	}
	o.Environ = func() []string { return []string{"PROBE=1"} }
	s := load(t, o)
	for range 2 {
		if r, err := s.Tools()[0].Execute(t.Context(), call(nil)); err != nil || r.Text != "1/home/x/p/.aura" {
			t.Errorf("%q, %v", r.Text, err)
		}
	}
}

// TL-06 TL-07 TL-08 TL-34 TL-40: the optional functions and opt_in.
func TestOptionalFunctions(t *testing.T) {
	t.Parallel()
	s := one(t, "opt_in: true", "errors", toolSource("Probe", `""`)+`
func Parallel() bool    { return false }
func Sandboxable() bool { return false }
func Paths(args map[string]any) (sdk.ToolPaths, error) {
	p, ok := args["a"].(string)
	if !ok {
		return sdk.ToolPaths{}, errors.New("no a")
	}
	args["a"] = "changed"
	return sdk.ToolPaths{Read: []string{p}, Write: []string{"w"}, Record: []string{"r"}, Guard: []string{"g"}, Clear: []string{"c"}}, nil
}
`)
	x := s.Tools()[0]
	if !x.Serial || !x.InProcess || !x.OptIn {
		t.Errorf("%+v", x)
	}
	args := map[string]any{"a": "file"}
	p, err := x.Paths(args)
	if err != nil || p.Read[0] != "file" || p.Write[0] != "w" || p.Record[0] != "r" || p.Guard[0] != "g" ||
		p.Clear[0] != "c" ||
		args["a"] != "file" {
		t.Errorf("%+v, %v, %v", p, err, args)
	}
	if _, err := x.Paths(nil); err == nil || err.Error() != "no a" {
		t.Errorf("error %v", err)
	}
}

// TL-13 TL-14 TL-15: an optional function of another kind is named and ignored.
func TestWrongSignatures(t *testing.T) {
	t.Parallel()
	for name, got := range map[string]string{
		"Paths": "func() string", "Sandboxable": "func() string", "Parallel": "func() string", "Init": "func() string",
		"Available": "func() string",
	} {
		dir := t.TempDir()
		write(t, dir, "probe", "", "", toolSource("Probe", `"fine"`)+"\nfunc "+name+"() string { return \"\" }\n")
		var warnings []string
		s := load(t, plugin.Options{Dirs: []string{dir}, Warn: func(text string) { warnings = append(warnings, text) }})
		want := "warning: plugin probe exports " + name + " with wrong signature (got " + got + "), ignoring"
		if !slices.Equal(warnings, []string{want}) {
			t.Errorf("warnings %q, want %q", warnings, want)
		}
		x := s.Tools()[0]
		if r, err := x.Execute(
			t.Context(),
			call(nil),
		); err != nil || r.Text != "fine" || x.Serial || x.InProcess ||
			x.Paths != nil {
			t.Errorf("%s: %q, %v, %+v", name, r.Text, err, x)
		}
	}
	// A plugin that is no tool may call its functions as it likes.
	dir := t.TempDir()
	write(
		t,
		dir,
		"probe",
		"",
		"",
		speak(`"x"`)+"\nfunc Init() {}\n\nfunc Execute() {}\n\nfunc Parallel() string { return \"\" }\n",
	)
	load(t, plugin.Options{Dirs: []string{dir}, Warn: func(text string) { t.Error(text) }})
}

// PL-37 TL-37 TL-38 TL-39
func TestMerge(t *testing.T) {
	t.Parallel()
	base := []tool.Tool{
		{Name: "Read", Source: tool.Source{Kind: "builtin"}},
		{Name: "Bash", Source: tool.Source{Kind: "builtin"}},
	}
	dir := t.TempDir()
	write(t, dir, "a", "", "", toolSource("Bash", `"a"`))
	merge := func() ([]tool.Tool, error) {
		o := plugin.Options{Dirs: []string{dir}}
		all, _, err := extension.Merge(base, load(t, o).Tools(), plugin.Kind(o, false).Taken)
		return all, err
	}
	if _, err := merge(); err == nil || !strings.Contains(err.Error(), `plugin "a"`) ||
		!strings.Contains(err.Error(), "override: true") {
		t.Errorf("error %v", err)
	}
	write(t, dir, "a", "override: true", "", toolSource("Bash", `"a"`))
	write(t, dir, "b", "", "", toolSource("New", `"b"`))
	merged, err := merge()
	if err != nil || len(merged) != 3 || merged[1].Source.Name != "a" || merged[2].Name != "New" ||
		base[1].Source.Name != "" {
		t.Errorf("%+v, %v", merged, err)
	}
	write(t, dir, "c", "", "", toolSource("New", `"c"`))
	if _, err := merge(); err == nil || !strings.Contains(err.Error(), `plugin "c"`) ||
		!strings.Contains(err.Error(), "plugin b") {
		t.Errorf("error %v", err)
	}
	var none *plugin.Set
	if list := none.Tools(); list != nil {
		t.Errorf("%+v", list)
	}
}

// Two calls of a tool overlap unless it says that it is not parallel. TL-08
func TestParallelExecute(t *testing.T) {
	t.Parallel()
	const body = `
var meeting = newMeeting()

func newMeeting() *sync.WaitGroup {
	w := &sync.WaitGroup{}
	w.Add(2)
	return w
}

func together() string {
	meeting.Done()
	meeting.Wait()
	return "met"
}
`
	s := one(t, "", "sync", toolSource("Probe", "together()")+body)
	var wg sync.WaitGroup
	results := make([]string, 2)
	for i := range results {
		wg.Go(func() {
			r, err := s.Tools()[0].Execute(context.Background(), call(nil))
			results[i] = fmt.Sprint(r.Text, err)
		})
	}
	wg.Wait()
	if !slices.Equal(results, []string{"met<nil>", "met<nil>"}) {
		t.Errorf("parallel: %q", results)
	}

	// Neither a tool that forbids it nor one with a select statement overlaps.
	for _, more := range []string{"func Parallel() bool { return false }\n", "func f() {\n\tselect {}\n}\n"} {
		inside := make(chan struct{})
		s := one(
			t,
			"",
			"",
			toolSource(
				"Probe",
				"wait(ctx, sc.Agent)",
			)+"\nfunc wait(ctx context.Context, who string) string {\n\t<-ctx.Done()\n\treturn who\n}\n"+more,
		)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(inside)
			_, _ = s.Tools()[0].Execute(ctx, call(nil))
		}()
		short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := s.Tools()[0].Execute(short, call(nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", more, err)
		}
		stop()
		cancel()
		<-inside
	}
}

// TL-35 TL-51: errors and panics are answers, and the next call works.
func TestToolFailures(t *testing.T) {
	t.Parallel()
	s := one(
		t,
		"",
		"errors",
		"var _ = errors.New\n\n"+strings.Replace(
			toolSource("Probe", `args["a"].(string)`),
			"return args",
			"if args[\"a\"] == \"fail\" {\n\t\treturn \"\", errors.New(\"did not work\")\n\t}\n\treturn args",
			1,
		),
	)
	x := s.Tools()[0]
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"a": "fail"}, "did not work"},
		{nil, `plugin "probe": plugin panic: `},
		{map[string]any{"a": 5}, "plugin panic"},
	} {
		if _, err := x.Execute(t.Context(), call(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.args, err)
		}
	}
	if r, err := x.Execute(t.Context(), call(map[string]any{"a": "still here"})); err != nil || r.Text != "still here" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// PC-01 PC-02 PC-04 PC-05 PC-06 PC-07 PC-13 PC-14 PC-15 PC-18
func TestCommand(t *testing.T) {
	t.Parallel()
	s := one(t, "config: {k: 1}", "errors fmt", `
func Command() sdk.CommandSchema {
	return sdk.CommandSchema{Name: "probe", Description: "d", Hints: []string{"one", "two"}, Forward: true, Silent: true}
}

func ExecuteCommand(_ context.Context, args string, sc sdk.Context) (sdk.CommandResult, error) {
	switch args {
	case "fail":
		return sdk.CommandResult{Output: "lost"}, errors.New("no good")
	case "panic":
		panic("boom")
	}
	return sdk.CommandResult{Output: fmt.Sprintf("%q %s %v", args, sc.Agent, sc.PluginConfig["k"])}, nil
}
`)
	if len(s.Commands()) != 1 {
		t.Fatalf("%d commands", len(s.Commands()))
	}
	c := s.Commands()[0]
	if c.Name != "probe" || c.Description != "d" || !slices.Equal(c.Hints, []string{"one", "two"}) || !c.Forward ||
		!c.Silent ||
		c.Source.Name != "probe" {
		t.Errorf("%+v", c)
	}
	snapshot := sdk.Context{Agent: "Coder"}
	for args, want := range map[string]string{"": `"" Coder 1`, `"a  b"  c`: `"\"a  b\"  c" Coder 1`} {
		if r, err := c.Run(t.Context(), args, snapshot); err != nil || r.Output != want {
			t.Errorf("%q: %q, %v", args, r.Output, err)
		}
	}
	for args, want := range map[string]string{"fail": "no good", "panic": `plugin "probe": plugin panic: boom`} {
		if r, err := c.Run(t.Context(), args, snapshot); err == nil || err.Error() != want || r.Output != "" {
			t.Errorf("%s: %q, %v", args, r.Output, err)
		}
	}
}

// PC-03
func TestCommandNeedsBoth(t *testing.T) {
	t.Parallel()
	schema := "func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: \"x\"} }\n"
	run := "func ExecuteCommand(context.Context, string, sdk.Context) (sdk.CommandResult, error) { return " +
		"sdk.CommandResult{}, nil }\n"
	for _, c := range []struct{ body, part string }{
		{schema, "without ExecuteCommand"},
		{run, "without Command"},
		{schema + "func ExecuteCommand() {}\n", "expected func(context.Context, string, sdk.Context) " +
			"(sdk.CommandResult, error)"},
		{"func Command() {}\n" + run, "expected func() sdk.CommandSchema"},
		{"func Command() sdk.CommandSchema { return sdk.CommandSchema{} }\n" + run, "one word"},
	} {
		dir := t.TempDir()
		write(t, dir, "probe", "", "", c.body)
		refused(t, plugin.Options{Dirs: []string{dir}}, c.part)
	}
}

// EV-01 EV-02 EV-03 EV-04 EV-05 EV-06 EV-14 PL-41
func TestEnvironment(t *testing.T) {
	t.Parallel()
	environ := func() []string { return []string{"A=1", "B=2", "C=3"} }
	body := speak(
		`fmt.Sprint(os.Getenv("A"), os.Getenv("C"), look("C"), len(os.Environ()), os.ExpandEnv("<$A$C>"))`,
	) + `
func look(name string) bool {
	_, ok := os.LookupEnv(name)
	return ok
}
`
	for _, unsafe := range []bool{false, true} {
		for yaml, want := range map[string]string{
			"": " false 0 <>", "env: [A, B, MISSING]": "1 false 2 <1>", `env: ["*"]`: "13 true 3 <13>",
		} {
			dir := t.TempDir()
			write(t, dir, "probe", yaml, "fmt os", body)
			s := load(t, plugin.Options{Dirs: []string{dir}, Environ: environ, Unsafe: unsafe})
			if got := strings.ReplaceAll(said(t, s), " ", ""); got != strings.ReplaceAll(want, " ", "") {
				t.Errorf("%q, unsafe %v: %q, want %q", yaml, unsafe, got, want)
			}
		}
	}
}

// What a plugin does to its environment stays with it.
func TestSetenvIsPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		write(
			t,
			dir,
			name,
			`env: ["*"]`,
			"os",
			speak(
				`swap()`,
			)+"\nfunc swap() string {\n\told := os.Getenv(\"AURA_PROBE\")\n"+
				"\tos.Setenv(\"AURA_PROBE\", old+\"x\")\n\treturn old\n}\n",
		)
	}
	s := load(t, plugin.Options{Dirs: []string{dir}, Environ: func() []string { return []string{"AURA_PROBE=" + "0"} }})
	if got := said(t, s) + " " + said(t, s); got != "0|0 0x|0x" {
		t.Errorf("said %q", got)
	}
	if v, ok := os.LookupEnv("AURA_PROBE"); ok {
		t.Errorf("the program sees %q", v)
	}
}

// EV-08 EV-09 EV-10 EV-11 EV-12 PC-17
func TestTaskEnvironment(t *testing.T) {
	t.Parallel()
	body := `
func show() string { return os.Getenv("A") + "," + os.Getenv("B") + "," + os.Getenv("T") }

func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: "show"} }

func ExecuteCommand(_ context.Context, _ string, _ sdk.Context) (sdk.CommandResult, error) { return sdk.CommandResult{Output: show()}, nil }
` + toolSource("Show", "show()") + speak("show()")
	for yaml, want := range map[string]string{"env: [A, T]": "task,,T", `env: ["*"]`: "task,2,T", "": ",,"} {
		dir := t.TempDir()
		write(t, dir, "probe", yaml, "os", body)
		var task map[string]string
		s := load(t, plugin.Options{
			Dirs: []string{
				dir,
			},
			Environ: func() []string { return []string{"A=1", "B=2"} },
			TaskEnv: func() map[string]string { return task },
		})
		before := said(t, s)
		task = map[string]string{"A": "task", "T": "T"}
		r, err1 := s.Tools()[0].Execute(t.Context(), call(nil))
		c, err2 := s.Commands()[0].Run(t.Context(), "", sdk.Context{})
		if got := said(t, s); got != want || r.Text != want || c.Output != want || errors.Join(err1, err2) != nil {
			t.Errorf("%q: hook %q, tool %q, command %q, want %q", yaml, got, r.Text, c.Output, want)
		}
		task = nil
		if got := said(t, s); got != before {
			t.Errorf("%q: after the task %q, before %q", yaml, got, before)
		}
	}
}

// UN-03 UN-05 PL-54
func TestUnsafeMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.ToSlash(os.Args[0])
	write(t, dir, "probe", "", "fmt os os/exec syscall log", `var _ = log.Fatal
var _ syscall.Errno

func text() string {
	out, err := exec.Command("`+program+`", "-test.list", "TestUnsafeMode").Output()
	if err != nil {
		return err.Error()
	}
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(len(out) > 0, p.Pid == os.Getpid())
}
`+speak("text()"))
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}, Unsafe: true})); got != "true true" {
		t.Errorf("said %q", got)
	}
}
