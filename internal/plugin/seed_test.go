package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// The example plugins of the documentation do what it says. PL-01 VN-02: PATH has
// no Go toolchain.
func TestExamples(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := filepath.Join("testdata", "seed")
	// TL-48: as printed, project-stats uses a variable that it does not declare.
	refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "project-stats": `, "undefined: turnCount")

	s := load(t, plugin.Options{Dirs: []string{dir}, Exclude: []string{"project-stats"}})
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.Bindings())
	ctx := sdk.Context{
		Agent:        "Coder",
		MessageCount: 7,
		Stats:        sdk.Stats{Turns: 3},
		Tokens:       sdk.TokenState{Estimate: 1234567, Percent: 12.4},
		ModelInfo:    sdk.ModelInfo{Name: "tiny"},
	}
	var all []string
	for range 5 {
		out := p.Dispatch(
			t.Context(),
			lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{Context: ctx}},
			nil,
		)
		for _, s := range out.Said {
			all = append(all, string(s.Role)+": "+s.Text)
			if !s.Eject {
				t.Errorf("not ejected: %s", s.Text)
			}
		}
		ctx.Stats.Turns = 4
	}
	want := []string{
		"user: [turn-tracker] === TURN 3 | context: 1234567 tokens (12%) | agent: Coder | model: tiny | " +
			"messages: 7 ===",
		"assistant: [metrics] Turn 5 | tokens: 1,234,567 (12%)",
		"user: [my-plugin] Turn 5 | tokens: 1234567 (12%)",
	}
	if strings.Join(all, "\n") != strings.Join(want, "\n") {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	out := p.Dispatch(
		t.Context(),
		lifecycle.Event{
			Moment: lifecycle.AfterResponse,
			Data:   &sdk.AfterResponseContext{Response: strings.Repeat("x", 5001)},
		},
		nil,
	)
	if len(out.Said) != 1 || !strings.Contains(out.Said[0].Text, "5001 characters") ||
		out.Said[0].Role != sdk.RoleAssistant {
		t.Errorf("long answer: %+v", out.Said)
	}
	for args, want := range map[string]string{"Bob": "Hello, Bob!", "": "Hello, world!"} {
		if r, err := s.Commands()[0].Run(t.Context(), args, ctx); err != nil || r.Output != want {
			t.Errorf("/greet %s: %q, %v", args, r.Output, err)
		}
	}
	notepad(t, s)
}

// notepad tries the example tool.
func notepad(t *testing.T, s *plugin.Set) {
	t.Helper()
	x := s.Tools()[0]
	file := filepath.Join(t.TempDir(), "note")
	args := map[string]any{"action": "write", "path": file, "content": "hello"}
	if paths, err := x.Paths(args); err != nil || paths.Write[0] != file || paths.Guard[0] != file {
		t.Errorf("paths %+v, %v", paths, err)
	}
	if r, err := x.Execute(context.Background(), call(args)); err != nil || r.Text != "wrote 5 bytes to "+file {
		t.Errorf("%q, %v", r.Text, err)
	}
	if r, err := x.Execute(
		context.Background(),
		call(map[string]any{"action": "read", "path": file}),
	); err != nil ||
		r.Text != "hello" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if _, err := x.Execute(
		context.Background(),
		call(map[string]any{"action": "write", "path": file}),
	); err == nil ||
		err.Error() != "content is required for write action" {
		t.Errorf("%v", err)
	}
}

// TL-48 TL-49 TL-50: with its variable declared, project-stats works.
func TestProjectStats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(
		filepath.Join(dir, "project-stats"),
		os.DirFS(filepath.Join("testdata", "seed", "project-stats")),
	); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"project-stats/state.go": "package project_stats\n\nvar turnCount = 4\n"})
	s := load(t, plugin.Options{Dirs: []string{dir}})
	if r, err := s.Tools()[0].Execute(t.Context(), call(map[string]any{})); err != nil || r.Text != "Total turns: 4" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if problems := s.Tools()[0].Schema.Check(map[string]any{}); len(problems) > 0 {
		t.Error(problems)
	}
	out := dispatch(
		t,
		s,
		lifecycle.BeforeChat,
		&sdk.BeforeChatContext{Context: sdk.Context{Agent: "A", Stats: sdk.Stats{Turns: 5}}},
	)
	if len(out.Said) != 1 || out.Said[0].Text != "[project-stats] Turn 5 | tokens: 0 (0%) | agent: A" {
		t.Errorf("said %+v", out.Said)
	}
}

// The snippets of the documentation, completed. PT-29 PT-33 PT-49 PT-58 PT-81 PT-84
// PT-111
func TestSnippets(t *testing.T) {
	t.Parallel()
	s := load(t, plugin.Options{Dirs: []string{filepath.Join("testdata", "snippets")}})
	if out := dispatch(
		t,
		s,
		lifecycle.BeforeChat,
		&sdk.BeforeChatContext{},
	); len(out.System) != 1 ||
		out.System[0] == "" {
		t.Errorf("append-system: %+v", out)
	}
	out := dispatch(
		t,
		s,
		lifecycle.BeforeToolExecution,
		&sdk.BeforeToolContext{ToolName: "Bash", Arguments: map[string]any{"command": "ls"}},
	)
	if got := out.Data.(*sdk.BeforeToolContext).Arguments["command"]; got != "set -e; ls" {
		t.Errorf("bash-set-e: %v", got)
	}
	out = dispatch(
		t,
		s,
		lifecycle.AfterToolExecution,
		&sdk.AfterToolContext{ToolName: "Bash", ToolResult: "in /home/user/x"},
	)
	if got := out.Data.(*sdk.AfterToolContext).ToolResult; got != "in <REDACTED>/x" {
		t.Errorf("redact-output: %q", got)
	}
	out = dispatch(t, s, lifecycle.AfterResponse, &sdk.AfterResponseContext{Response: "the SECRET"})
	if got := out.Data.(*sdk.AfterResponseContext).Response; got != "the <REDACTED>" {
		t.Errorf("redact-response: %q", got)
	}
	if out := dispatch(t, s, lifecycle.OnError, &sdk.OnErrorContext{Retryable: true}); !out.Retry || out.Skip {
		t.Errorf("error-policy, retryable: %+v", out)
	}
	if out := dispatch(
		t,
		s,
		lifecycle.OnError,
		&sdk.OnErrorContext{ErrorType: "auth"},
	); out.Retry || !out.Skip ||
		len(out.Notices) != 1 {
		t.Errorf("error-policy, auth: %+v", out)
	}
	if out := dispatch(t, s, lifecycle.BeforeCompaction, &sdk.BeforeCompactionContext{}); !out.Skip {
		t.Error("compaction-skip")
	}
	long := strings.Repeat("word ", 600)
	out = dispatch(
		t,
		s,
		lifecycle.TransformMessages,
		&sdk.TransformContext{Messages: []sdk.Message{{Role: "system"}, {Role: "tool", Content: long, Tokens: 600}}},
	)
	if got := out.Data.(*sdk.TransformContext).Messages[1].Content; len(got) >= len(long) {
		t.Errorf("summarize-tools: %d bytes", len(got))
	}
}

// The first plugin of the documentation works as it stands there.
func TestDocumentedPlugin(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```")
	code := func(i int) string { // Without the language of the block.
		_, text, _ := strings.Cut(blocks[2*i+1], "\n")
		return text
	}
	dir := t.TempDir()
	writeFiles(
		t,
		dir,
		map[string]string{"careful/main.go": code(0), "careful/go.mod": code(1), "careful/plugin.yaml": code(2)},
	)
	s := load(t, plugin.Options{Dirs: []string{dir}})
	out := dispatch(
		t,
		s,
		lifecycle.BeforeToolExecution,
		&sdk.BeforeToolContext{ToolName: "Bash", Arguments: map[string]any{"command": "rm -rf /"}},
	)
	want := "Execution blocked by plugin: ask the user first"
	if out.Blocked == nil || out.Blocked.Reason != want || !strings.Contains(string(page), want) {
		t.Errorf("%+v", out.Blocked)
	}
}
