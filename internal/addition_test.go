package internal_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// addition is one row of the table "to add something" of ARCHITECTURE.md: what is added,
// and which files that touches. The test performs every row on a copy of the repository.
type addition struct {
	what  string
	files map[string]string // New files.
	edits []edit
	more  string // What else there is to do, for readers.
}

// edit inserts text after the first line of a file that contains a text.
type edit struct{ file, after, insert string }

// additions is the table.
var additions = []addition{
	{
		what: "a moment",
		edits: []edit{
			{"sdk/context.go", "^end", `
// TideContext is handed to Tide when a message of the user has arrived.
type TideContext struct {
	Context
	Height int ` + "`json:\"height\"`" + `
}
`},
			{"internal/lifecycle/moments.go", "var table = []Row{", `
	row(Row{Moment: "tide", Function: "Tide", Hook: "tide", When: "the tide is high", May: Say | Notify},
		Types[sdk.TideContext, sdk.Result]{Python: event[sdk.TideContext]("tide")}),
`},
			{"internal/agent/loop.go", "text := out.Data.Text", "\tannounce(ctx, a, &sdk.TideContext{Height: 7})\n"},
		},
		more: "`make generate`; the signature in `docs/plugins.md`, the event in `docs/extensions.md`",
	},
	{
		what: "a kind of extension",
		files: map[string]string{"internal/tides/kind.go": `// Package tides is a kind of extension that brings a tool.
package tides

import (
	"context"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/tool"
)

// Kind is tides as a kind of extension.
func Kind() extension.Kind {
	ebb := tool.Tool{
		Name: "Ebb", Description: "Wait for low water.", Schema: tool.MustSchema(` + "`{\"type\":\"object\"}`" + `),
		Source: tool.Source{Kind: "tide", Name: "ebb"},
		Execute: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "low water"}, nil },
	}
	return extension.Kind{
		Name: "tides", Title: "Tides",
		Load: func(context.Context, *extension.Loaded) (extension.Loaded, error) {
			return extension.Loaded{
				Tools: func() []tool.Tool { return []tool.Tool{ebb} },
				List:  func() []extension.Item { return []extension.Item{{Name: "ebb", Status: "active"}} },
			}, nil
		},
	}
}
`},
		edits: []edit{
			{"internal/workspace/kinds.go", "return []extension.Kind{", "\t\ttides.Kind(),\n"},
			{"internal/workspace/kinds.go", "internal/skills\"", "\t\"github.com/idelchi/aura/internal/tides\"\n"},
		},
	},
	{
		what: "a tool",
		files: map[string]string{"internal/tools/shout.go": `package tools

import (
	"context"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

func shoutTool() tool.Tool {
	return tool.Tool{
		Name: "Shout", Description: "Say it loud.",
		Schema: tool.MustSchema(` + "`{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}`" + `),
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			text, _ := call.Args["text"].(string)
			return tool.Result{Text: strings.ToUpper(text)}, nil
		},
	}
}
`},
		edits: []edit{{"internal/tools/tools.go", "mkdirTool()", "\t\tshoutTool(),\n"}},
		more:  "`docs/tools.md`; modes that name their tools",
	},
	{
		what: "a slash command",
		files: map[string]string{"internal/commands/hello.go": `package commands

import "context"

func hello(_ context.Context, s *Session) error {
	s.Print("hello from a command")
	return nil
}
`},
		edits: []edit{{"internal/commands/builtin.go", `Description: "Switch the display of thinking"},`,
			"\t\t{Name: \"hello\", Group: switches, Run: bare(\"hello\", hello), Description: \"Say hello\"},\n"}},
		more: "`docs/commands.md`",
	},
	{
		what: "a guard",
		files: map[string]string{"internal/guard/quiet.go": `package guard

import (
	"context"

	"github.com/idelchi/aura/internal/lifecycle"
)

// checkQuiet refuses to shout.
func (o Options) checkQuiet(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	if ev.BeforeTool().ToolName == "Shout" {
		return refuse("it is night")
	}
	return lifecycle.Reply{}, nil
}
`},
		edits: []edit{{"internal/guard/guard.go", "return []lifecycle.Binding{",
			"\t\tbind(\"quiet\", lifecycle.BeforeToolExecution, o.checkQuiet),\n"}},
	},
	{
		what: "a provider type",
		files: map[string]string{"internal/provider/parrot/parrot.go": `// Package parrot is a model that repeats.
package parrot

import (
	"context"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

// Client is the client.
type Client struct{}

// Chat implements provider.Client.
func (Client) Chat(_ context.Context, r *provider.Request, _ func(provider.Delta)) (*provider.Response, error) {
	m := message.Message{Message: sdk.Message{Role: message.Assistant, Type: sdk.TypeNormal,
		Content: "polly: " + r.Messages[len(r.Messages)-1].Content}}
	return &provider.Response{Message: m, Stop: "stop"}, nil
}

// Models implements provider.Client.
func (Client) Models(context.Context) ([]sdk.ModelInfo, error) { return []sdk.ModelInfo{{Name: "polly"}}, nil }

// Model implements provider.Client.
func (Client) Model(_ context.Context, name string) sdk.ModelInfo { return sdk.ModelInfo{Name: name} }
`},
		edits: []edit{
			{"internal/models/table.go", "return []ProviderType{",
				"\t\t{Name: \"parrot\", KnowsModel: true, New: newParrot},\n"},
			{"internal/models/table.go", "^end", `
func newParrot(config.Provider, provider.Options) (provider.Client, error) { return parrot.Client{}, nil }
`},
			{"internal/models/table.go", "internal/provider/openai\"",
				"\t\"github.com/idelchi/aura/internal/provider/parrot\"\n"},
		},
		more: "`make generate`; `docs/providers.md`",
	},
	{
		what: "a configuration key",
		edits: []edit{
			{"internal/config/features.go", "UserInputMaxPercentage int", "\tShoutWord string `yaml:\"shout_word\"`\n"},
			{"internal/config/features.go", "UserInputMaxPercentage: 80,", "\t\t\tShoutWord: \"hey\",\n"},
		},
		more: "its use, where the composition root hands it on; `docs/configuration.md`",
	},
	{
		what: "a condition",
		edits: []edit{{"internal/condition/terms.go", "var table = [...]term{", `	{Term: Term{Name: "always", Meaning: "it holds"},
		is: func(*sdk.Context) bool { return true }},
`}},
		more: "`docs/conditions.md`",
	},
	{
		what: "a field of the snapshot",
		edits: []edit{
			{"sdk/context.go", "SystemPrompt string `json:\"system_prompt\"`", "\n\tTideHeight int " +
				"`json:\"tide_height\"`\n"},
			{"internal/agent/agent.go", "SystemPrompt: a.prompt(),", "\t\tTideHeight: 3,\n"},
		},
		more: "where it is known: `internal/conversation/conversation.go`, or `internal/agent/agent.go`; " +
			"`sdk/types_test.go`; `make generate`",
	},
	{
		what: "a flag",
		edits: []edit{
			{"internal/cli/flags.go", "	verbose bool", "\tshouting bool\n"},
			{"internal/cli/flags.go", `p.BoolVar(&f.verbose, "verbose"`,
				"\tp.BoolVar(&f.shouting, \"shouting\", false, \"say it loud\")\n"},
		},
	},
	{
		what: "a check of `aura doctor`",
		files: map[string]string{"internal/doctor/weather.go": `package doctor

import "context"

func weather(context.Context, *patient) []Finding { return []Finding{ok("weather", "fine")} }
`},
		edits: []edit{{"internal/doctor/doctor.go", `{"debug log", true, debugLog},`,
			"\t\t{\"weather\", true, weather},\n"}},
		more: "`docs/doctor.md`",
	},
	{
		what: "a command that runs others, for policy",
		edits: []edit{{"internal/sh/wrappers.go", "switch name = path.Base(name); name {",
			"\tcase \"softly\":\n\t\treturn wrapper{}, true\n"}},
		more: "a case in `internal/sh/commands_test.go`",
	},
	{
		what: "a key of the line editor",
		edits: []edit{{"internal/line/keys.go", `{names: []string{"left", "shift+left", "ctrl+b"}`,
			"\t{names: []string{\"f12\"}, edit: func(e *Editor) { e.pos = e.lineStart() }},\n"}},
		more: "a case in `internal/line/line_test.go`",
	},
	{
		what: "a package",
		edits: []edit{
			{"internal/layers_test.go", `{"internal/guard", "internal/hooks",`, "\t\t\"internal/tides\",\n"},
			{"ARCHITECTURE.md", "  skills           ", "  tides            a kind of extension that brings a tool\n"},
		},
		more: "`make generate`",
	},
}

// additionsTable is the table for readers.
func additionsTable() string {
	var b strings.Builder
	b.WriteString("| to add | touch |\n|---|---|\n")
	for _, a := range additions {
		var parts []string
		for file := range a.files {
			parts = append(parts, "a file like `"+file+"`")
		}
		seen := map[string]bool{}
		for _, e := range a.edits {
			if !seen[e.file] {
				parts = append(parts, "`"+e.file+"`")
			}
			seen[e.file] = true
		}
		if a.more != "" {
			parts = append(parts, a.more)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", a.what, strings.Join(parts, ", "))
	}
	return b.String()
}

// The table "to add something" is what the test below performs.
func TestAdditionsTable(t *testing.T) {
	t.Parallel()
	generated(t, filepath.Join("..", "ARCHITECTURE.md"), "additions", additionsTable())
}

// workshop is a copy of the repository.
type workshop struct {
	t   *testing.T
	dir string
	env []string
}

// copyRepository makes a copy that can be changed.
func copyRepository(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{t: t, dir: t.TempDir(), env: append(os.Environ(), "GOFLAGS=-trimpath")}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", path)
		switch {
		case d.IsDir() && (rel == ".git" || rel == "dist" || rel == "bin" || d.Name() == "__pycache__"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(w.dir, rel), 0o755)
		case !d.Type().IsRegular() || rel == "aura":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(w.dir, rel), text, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workshop) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// perform makes the changes of a row.
func (w *workshop) perform(a *addition) {
	w.t.Helper()
	for name, text := range a.files {
		w.write(name, text)
	}
	for _, e := range a.edits {
		path := filepath.Join(w.dir, filepath.FromSlash(e.file))
		text, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatalf("%s: %v", a.what, err)
		}
		at := len(text)
		if e.after != "^end" {
			i := bytes.Index(text, []byte(e.after))
			if i < 0 {
				w.t.Fatalf("%s: %s has no %q", a.what, e.file, e.after)
			}
			at = i + bytes.IndexByte(text[i:], '\n') + 1
		}
		changed := string(text[:at]) + e.insert + string(text[at:])
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// run runs a program in a directory of the copy and returns what it printed.
func (w *workshop) run(dir, name string, args ...string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, dir), w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Every row of the table "to add something" is all there is to do: performed on a copy of
// the repository, the program builds and has what was added. A moment is seen by hooks,
// by plugins of both engines and by Python extensions.
func TestAdditions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the program anew")
	}
	w := copyRepository(t)
	for i := range additions {
		w.perform(&additions[i])
	}
	w.run("", "gofmt", "-w", "sdk/context.go", "internal/config/features.go")
	w.run("sdk", "go", "generate", "./...")
	const written = "TestHookEvents|TestPythonEvents|TestProviderEnum|TestLayers"
	w.run("", "go", "test", "./internal", "-run", written, "-update")
	w.run("", "go", "build", "-o", "aura-added", ".")
	if t.Failed() {
		return
	}
	aura := filepath.Join(w.dir, "aura-added")
	w.tide(aura)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tools", "Shout", "text=loud"}, "LOUD"},
		{[]string{"run", "/hello"}, "hello from a command"},
		{[]string{"list", "tides"}, "ebb"},
		{[]string{"list", "guards"}, "quiet"},
		{[]string{"tools", "Ebb", "{}"}, "low water"},
		{[]string{"--provider", "pet", "run", "pretty boy"}, "polly: pretty boy"},
		{[]string{"--override", "tools.shout_word=ho", "run", "/hello"}, "hello from a command"},
		{[]string{"run", `/assert always "/hello"`}, "hello from a command"},
		{[]string{"--shouting", "run", "/hello"}, "hello from a command"},
		{[]string{"doctor"}, "weather: fine"},
	} {
		if out := w.run("project", aura, c.args...); !strings.Contains(out, c.want) {
			t.Errorf("aura %s: no %q in\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
}

// tide makes a project in which everything that can hears of the added moment, and looks
// who did.
func (w *workshop) tide(aura string) {
	w.t.Helper()
	home := filepath.Join(w.dir, "nobody")
	w.env = append(w.env, "HOME="+home, "GOCACHE="+goCache(w.t), "GOFLAGS=-mod=mod", "GOPROXY=off")
	w.write("project/.aura/config/providers/p.yaml",
		"p: {type: script, script: ../../../turns.yaml}\npet: {type: parrot}\n")
	w.write("project/turns.yaml", "turns: [{text: ok}, {text: ok}]\nloop: true\n")
	w.write("project/.aura/config/features/f.yaml", "{}\n")
	w.write("project/.aura/config/hooks/tide.yaml", "tide: {event: tide, command: 'grep -o \"height.:7\" "+
		">>seen.hook'}\n")
	for _, engine := range []string{"yaegi", "native"} {
		dir := "project/.aura/plugins/" + engine + "tide/"
		w.write(dir+"go.mod", "module "+engine+"tide\n\ngo 1.25\n\nrequire github.com/idelchi/aura/sdk v0.1.0\n")
		w.write(dir+"plugin.yaml", "engine: "+engine+"\n")
		w.write(dir+"main.go", `package `+engine+`tide

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/sdk"
)

func Tide(_ context.Context, c sdk.TideContext) (sdk.Result, error) {
	return sdk.Result{Notice: fmt.Sprintf("`+engine+` saw %d at %d", c.Height, c.TideHeight)}, nil
}
`)
	}
	w.write("project/.agent/extensions/tide.py", `
from agent.extensions.api import Result

def register(api):
    @api.on("tide")
    def seen(event, ctx):
        return Result(notice=f"python saw {event.height}")
`)
	out := w.run("project", aura, "--provider", "p", "run", "hello")
	for _, want := range []string{"yaegi saw 7 at 3", "native saw 7 at 3", "python saw 7"} {
		if !strings.Contains(out, want) {
			w.t.Errorf("no %q in\n%s", want, out)
		}
	}
	if seen, err := os.ReadFile(filepath.Join(w.dir, "project", "seen.hook")); err != nil || len(seen) == 0 {
		w.t.Errorf("the hook saw %q (%v)\n%s", seen, err, out)
	}
}

// goCache is where compiled packages are kept.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
