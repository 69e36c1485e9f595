// Package examples runs every hook of this directory. It contains nothing but
// tests.
package examples

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// example is one situation that a hook meets.
type example struct {
	file  string
	tool  string // Empty: another moment.
	args  map[string]any
	after bool // The tool has run.
	data  any  // Of another moment.

	blocked string // Words of the reason; empty: not blocked.
	asks    bool
	said    string // Words the model reads; empty: none.
	wrote   string // "file: words" in what the hook left behind.
}

func bash(command string) map[string]any { return map[string]any{"command": command} }

func file(path, content string) map[string]any {
	return map[string]any{"path": path, "content": content}
}

var examples = []example{
	{file: "format.yaml", tool: "Write", args: file("a b.txt", ""), after: true},
	{file: "format.yaml", tool: "Write", args: file("a.go", ""), after: true, wrote: "gofmt.log: -w"},

	{file: "dangerous.yaml", tool: "Bash", args: bash("ls -la && rm build.log")},
	{file: "dangerous.yaml", tool: "Bash", args: bash("rm -rf /"), blocked: "recursive rm"},
	{file: "dangerous.yaml", tool: "Bash", args: bash("cd x; rm -f -r ~/work"), blocked: "recursive rm"},
	{file: "dangerous.yaml", tool: "Bash", args: bash("git push origin main --force"), blocked: "forced push"},
	{file: "dangerous.yaml", tool: "Bash", args: bash("git push --force-with-lease")},
	{file: "dangerous.yaml", tool: "Bash", args: bash("dd if=a of=/dev/sda"), blocked: "device"},

	{file: "protect.yaml", tool: "Write", args: file("src/main.go", "")},
	{file: "protect.yaml", tool: "Write", args: file("my keys/.env", ""), blocked: "my keys/.env is protected"},
	{
		file:    "protect.yaml",
		tool:    "Patch",
		args:    map[string]any{"patch": "*** Update File: ok.go\n*** Delete File: .git/config\n"},
		blocked: ".git/config is protected",
	},

	{
		file:  "tests.yaml",
		tool:  "Edit",
		args:  map[string]any{"file_path": "good/a.go"},
		after: true,
		wrote: "good/go.log: test .",
	},
	{
		file:  "tests.yaml",
		tool:  "Edit",
		args:  map[string]any{"file_path": "bad/a.go"},
		after: true,
		said:  "--- FAIL: TestIt",
	},

	{file: "secrets.yaml", tool: "Write", args: file("a.txt", "token = os.Getenv(\"TOKEN\")")},
	{file: "secrets.yaml", tool: "Write", args: file("a.txt", "AKIA"+"ABCDEFGHIJKLMNOP"), blocked: "key or token"},
	{
		file:    "secrets.yaml",
		tool:    "Bash",
		args:    bash("echo '-----BEGIN RSA PRIVATE " + "KEY-----' >k"),
		blocked: "key or token",
	},

	{file: "commit.yaml", tool: "Bash", args: bash("git status")},
	{file: "commit.yaml", tool: "Bash", args: bash(`git commit -m "fix: greet by name"`)},
	{file: "commit.yaml", tool: "Bash", args: bash(`git add . && git commit -am 'feat(cli): hooks'`)},
	{file: "commit.yaml", tool: "Bash", args: bash(`git commit -m "stuff"`), blocked: `"stuff": begin with a type`},
	{
		file:    "commit.yaml",
		tool:    "Bash",
		args:    bash(`git commit -m "fix: ` + strings.Repeat("x", 80) + `"`),
		blocked: "at most 72",
	},

	{file: "ask.yaml", tool: "Bash", args: bash("git pull")},
	{file: "ask.yaml", tool: "Bash", args: bash("git push origin main"), asks: true},

	{file: "notify.yaml", data: &sdk.AfterResponseContext{Context: sdk.Context{HasToolCalls: true}}},
	{file: "notify.yaml", data: &sdk.AfterResponseContext{Response: "done"}, wrote: "notify.log: aura"},

	{
		file:  "log.yaml",
		tool:  "Read",
		args:  map[string]any{"path": "x"},
		after: true,
		wrote: ".aura/log/tools.jsonl: \"name\":\"Read\"",
	},

	{file: "context.yaml", data: &sdk.SessionStartContext{}, said: "Git branch: trunk\nUncommitted changes:\n M a.go"},
}

// stubs are the programs that the hooks start.
var stubs = map[string]string{
	"gofmt":       "echo \"$@\" >>gofmt.log",
	"notify-send": "echo \"$@\" >>notify.log",
	"go":          "echo \"$@\" >go.log; case $PWD in */bad) echo '--- FAIL: TestIt'; exit 1;; esac",
	"git":         "case $1 in branch) echo trunk;; status) echo ' M a.go';; esac",
}

// Every file is loaded, and each of its hooks does what it says.
func TestExamples(t *testing.T) {
	all, err := filepath.Glob("*.yaml")
	if err != nil || len(all) < 8 {
		t.Fatal(all, err)
	}
	bin := t.TempDir()
	for name, script := range stubs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, name := range all {
		if !slices.ContainsFunc(examples, func(e example) bool { return e.file == name }) {
			t.Errorf("%s is not tried out", name)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if !strings.Contains(string(readme), "]("+name+")") {
			t.Errorf("README.md does not list %s", name)
		}
	}
	for _, e := range examples {
		t.Run(e.file, func(t *testing.T) { e.run(t) })
	}
}

func (e example) run(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	text, err := os.ReadFile(e.file)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		filepath.Join(home, "config", "hooks", e.file): string(text), filepath.Join(dir, "good", "a.go"): "",
		filepath.Join(dir, "bad", "a.go"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Homes{Projects: []string{home}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := hooks.NewSet(hooks.Options{Hooks: cfg.Hooks, Workdir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Hook, set.Bindings())
	e.check(t, dir, p.Dispatch(t.Context(), e.event(), nil), p.Records())
}

func (e example) event() lifecycle.Event {
	switch {
	case e.tool != "" && e.after:
		return lifecycle.Event{
			Moment: lifecycle.AfterToolExecution,
			Data:   &sdk.AfterToolContext{ToolName: e.tool, Arguments: e.args, ToolResult: "ok"},
		}
	case e.tool != "":
		return lifecycle.Event{
			Moment: lifecycle.BeforeToolExecution,
			Data:   &sdk.BeforeToolContext{ToolName: e.tool, Arguments: e.args},
		}
	}
	if _, ok := e.data.(*sdk.SessionStartContext); ok {
		return lifecycle.Event{Moment: lifecycle.SessionStart, Data: e.data}
	}
	return lifecycle.Event{Moment: lifecycle.AfterResponse, Data: e.data}
}

func (e example) check(t *testing.T, dir string, out lifecycle.Outcome, records []lifecycle.Record) {
	for _, r := range records {
		if r.Verdict == lifecycle.Failed || r.Verdict == lifecycle.Panicked || r.Verdict == lifecycle.TimedOut {
			t.Errorf("%v: %s: %s", e.args, r.Verdict, r.Detail)
		}
	}
	reason := ""
	if out.Blocked != nil {
		reason = out.Blocked.Reason
	}
	if (e.blocked == "") != (out.Blocked == nil) || !strings.Contains(reason, e.blocked) {
		t.Errorf("%v: blocked %q, want %q", e.args, reason, e.blocked)
	}
	if e.asks != (len(out.Asks) > 0) {
		t.Errorf("%v: asks %v", e.args, out.Asks)
	}
	said := strings.Join(out.Feedback, "\n")
	for _, s := range out.Said {
		said += s.Text
	}
	if (e.said == "") != (said == "") || !strings.Contains(said, e.said) {
		t.Errorf("%v: said %q, want %q", e.args, said, e.said)
	}
	if name, want, ok := strings.Cut(e.wrote, ": "); ok {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v: %s is %q, %v; want %q", e.args, name, text, err, want)
		}
	}
}

// The page about hooks begins with one of three lines that works.
func TestFirstHook(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	if n := strings.Count(text, "\n"); n != 3 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	home := t.TempDir()
	file := filepath.Join(home, "config", "hooks", "first.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Homes{Projects: []string{home}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := hooks.New(cfg.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	for command, blocked := range map[string]bool{"git push --force": true, "git push": false} {
		if got := r.RunPre(t.Context(), "Bash", bash(command), home); got.Blocked != blocked {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

// The page explains every key and every event.
func TestKeysAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for f := range reflect.TypeFor[config.Hook]().Fields() {
		if key := f.Tag.Get("yaml"); key != "-" {
			words = append(words, key)
		}
		if f.Name == "Event" {
			words = append(words, strings.Fields(f.Tag.Get("enum"))[2:]...)
		}
	}
	for _, w := range words {
		if !strings.Contains(string(page), "\n| `"+w+"` |") {
			t.Errorf("docs/hooks.md does not explain %s", w)
		}
	}
}
