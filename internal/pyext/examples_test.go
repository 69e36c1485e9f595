package pyext

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/sdk"
)

const examplesDir = "../../examples/extensions"

// example loads one of the examples.
func example(t *testing.T, name string, change ...func(*Options)) *world {
	t.Helper()
	for _, e := range Discover(Dirs{Project: []string{examplesDir}}, nil) {
		if e.Name == name {
			w := load(t, []Extension{e}, change...)
			if got := w.said(); got != "" {
				t.Fatalf("%s: %s", name, got)
			}
			return w
		}
	}
	t.Fatalf("no example %q", name)
	return nil
}

// Every example is described and loads.
func TestExamplesComplete(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(examplesDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := Discover(Dirs{Project: []string{examplesDir}}, nil)
	if len(found) < 6 {
		t.Errorf("%d examples", len(found))
	}
	w := load(t, found)
	for _, l := range w.Extensions() {
		if l.Error != "" || !strings.Contains(string(readme), "`"+l.Name+".py`") {
			t.Errorf("%s: %q, or not in README.md", l.Name, l.Error)
		}
	}
}

func TestExampleProtectedPaths(t *testing.T) {
	t.Parallel()
	w := example(t, "protected_paths")
	for _, c := range []struct {
		args    map[string]any
		blocked string
	}{
		{map[string]any{"path": "deploy/.env"}, "deploy/.env is protected"},
		{map[string]any{"paths": []any{"a.txt", "keys/server.pem"}}, "keys/server.pem is protected"},
		{map[string]any{"command": "cat '.env.local' | grep X"}, "'.env.local' is protected"},
		{map[string]any{"path": "environment.go"}, ""}, {map[string]any{}, ""}, {map[string]any{"path": nil, "command": nil}, ""},
	} {
		out := w.moment(t, &sdk.BeforeToolContext{ToolName: "X", Arguments: c.args})
		if got := out.Blocked; (got == nil) != (c.blocked == "") ||
			got != nil && got.Reason != "Blocked by extension: "+c.blocked {
			t.Errorf("%v: %+v %v", c.args, got, out.Notices)
		}
	}
}

func TestExampleSecretRedaction(t *testing.T) {
	t.Parallel()
	w := example(t, "secret_redaction")
	text := "API_KEY=abcdef123456 ok\nsk-abcdefghijklmnopqrst\nplain"
	out := w.moment(t, &sdk.AfterToolContext{ToolName: "Bash", ToolResult: text})
	if got := out.Data.(*sdk.AfterToolContext).ToolResult; got != "API_KEY=[redacted] ok\n[redacted]\nplain" {
		t.Errorf("result %q", got)
	}
	w.wants(t, "2 secrets redacted in the result of Bash")
	if out := w.moment(
		t,
		&sdk.UserMessageContext{Text: "my password: hunter22"},
	); out.Data.(*sdk.UserMessageContext).Text != "my password: [redacted]" {
		t.Errorf("message %+v", out.Data)
	}
}

func TestExampleCostMeter(t *testing.T) {
	t.Parallel()
	w := example(t, "cost_meter")
	snap := sdk.Context{
		ModelInfo: sdk.ModelInfo{Name: "claude-sonnet-4"},
		Stats:     sdk.Stats{TokensIn: 100_000, TokensOut: 10_000, Iterations: 3},
		Vars:      map[string]string{"COST_LIMIT": "0.40"},
	}
	if got, err := w.command(
		t.Context(),
		t,
		"cost",
		"",
		snap,
	); got != "100000 tokens in, 10000 out, 3 requests: $0.4500" ||
		err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for range 2 {
		w.moment(t, &sdk.AfterResponseContext{Context: snap})
	}
	if got := w.said(); got != "cost_meter: warning: this session has cost more than $0.40" {
		t.Errorf("said %q", got)
	}
}

func TestExampleGitCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}, {"config", "user.name", "a"}, {"config", "user.email", "a@b"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	w := example(t, "git_checkpoint")
	snap := sdk.Context{Workdir: dir}
	write("two") // Uncommitted work of the user.
	w.moment(t, &sdk.BeforeToolContext{Context: snap, ToolName: "Read"})
	w.moment(t, &sdk.BeforeToolContext{Context: snap, ToolName: "Write"})
	write("three") // What the agent does.
	w.moment(t, &sdk.BeforeToolContext{Context: snap, ToolName: "Write"})
	if got, err := w.command(
		t.Context(),
		t,
		"checkpoints",
		"",
		snap,
	); err != nil || strings.Count(got, "\n") != 0 ||
		!strings.Contains(got, "before Write, step 0") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := w.command(t.Context(), t, "restore", "1", snap); err != nil || !strings.HasPrefix(got, "restored ") {
		t.Errorf("%q, %v", got, err)
	}
	if data, _ := os.ReadFile(file); string(data) != "two" {
		t.Errorf("restored %q", data)
	}
}

func TestExampleWordCount(t *testing.T) {
	t.Parallel()
	w := example(t, "word_count")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a b\nc\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := w.run(
		t,
		"word_count",
		map[string]any{"text": "one two"},
	); got != "2 words, 1 lines, 7 characters" ||
		err != nil {
		t.Errorf("%q, %v", got, err)
	}
	w.moment(t, &sdk.BeforeToolContext{Context: sdk.Context{Workdir: dir}})
	if e := w.tool(t, "word_count").SideEffects; len(e) != 1 || e[0] != "read" {
		t.Errorf("side effects %v", e)
	}
}

func TestExampleCompanion(t *testing.T) {
	t.Parallel()
	w := example(t, "companion")
	w.moment(t, &sdk.SessionStartContext{})
	for range 5 {
		w.moment(t, bash("ls"))
	}
	w.wants(t, "Level up! Now level 2")
	w.moment(t, &sdk.AfterToolContext{ToolError: "x"})
	if got, err := w.command(
		t.Context(),
		t,
		"companion",
		"",
		sdk.Context{},
	); got != "(>_<)  level 2  [..........]  5 steps" ||
		err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestExampleBudgetPrompt(t *testing.T) {
	t.Parallel()
	w := example(t, "budget_prompt")
	full := sdk.Context{ModelInfo: sdk.ModelInfo{ContextLength: 1000}, Tokens: sdk.TokenState{Estimate: 800}}
	if out := w.moment(t, &sdk.BeforeChatContext{}); len(out.System) != 0 {
		t.Errorf("empty window: %v", out.System)
	}
	if out := w.moment(
		t,
		&sdk.BeforeChatContext{Context: full},
	); len(out.System) != 1 ||
		!strings.Contains(out.System[0], "80% full") {
		t.Errorf("full window: %v %v", out.System, out.Notices)
	}
	msgs := []sdk.Message{{ID: "m0001", Role: "tool", Content: strings.Repeat("x", 1000)}}
	for range 6 {
		msgs = append(msgs, sdk.Message{Role: "user", Content: "u"})
	}
	out := w.moment(t, &sdk.TransformContext{Context: full, Messages: msgs})
	if got := out.Data.(*sdk.TransformContext).Messages; len(got) != 7 || !strings.HasSuffix(got[0].Content, "rest]") ||
		len(got[0].Content) > 500 {
		t.Errorf("%+v %v", got[0], out.Notices)
	}
	if got := w.Prompts(); len(got) != 1 {
		t.Errorf("prompts %v", got)
	}
}
