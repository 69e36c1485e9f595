package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

const claudeSettings = `{
  "permissions": {"allow": ["Bash"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "cat >in; test -d \"$CLAUDE_PROJECT_DIR\" && echo no >&2; exit 2", "timeout": 5},
        {"type": "prompt", "prompt": "is it safe?"}
      ]},
      {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "cat >in; echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"allow\", \"updatedInput\": {\"file_path\": \"/safe\"}}}'"}]},
      {"matcher": "(", "hooks": [{"type": "command", "command": "true"}]}
    ],
    "PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "echo log line", "async": true}, {"type": "command", "command": "if"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "echo '{\"decision\": \"block\", \"reason\": \"run the tests\"}'"}]}],
    "PreCompact": [{"matcher": "manual", "hooks": [{"type": "command", "command": "exit 2"}]}],
    "Notification": [{"hooks": [{"type": "command", "command": "true"}]}],
    "SessionStart": "soon"
  }
}`

// Hooks written for Claude Code run, and what does not is reported.
func TestClaude(t *testing.T) {
	hks, report, err := parseClaude([]byte(claudeSettings), "settings.json", "project")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report, "\n")
	for _, want := range []string{
		`PreToolUse hook 2: type "prompt" has no equivalent`, "PreToolUse hook 4: matcher \"(\"",
		"PostToolUse hook 1: async has no equivalent",
		`PostToolUse hook 2: command "if" cannot be run`, "event Notification has no equivalent",
		"event SessionStart cannot be read",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the report lacks %q:\n%s", want, all)
		}
	}
	if h := hks["claude:project:PreToolUse:01"]; len(hks) != 5 || h.Timeout != 5*time.Second || h.Event != "pre" {
		t.Errorf("%d hooks, %+v", len(hks), h)
	}
	b := newBed(t, hks, Options{})
	if out := b.pre("Bash", map[string]any{"command": "ls"}); out.Blocked == nil || out.Blocked.Reason != "no" {
		t.Errorf("%+v", out)
	}
	var in map[string]any
	if err := json.Unmarshal(
		[]byte(b.read("in")),
		&in,
	); err != nil || in["tool_name"] != "Bash" || in["hook_event_name"] != "PreToolUse" ||
		in["tool_input"].(map[string]any)["command"] != "ls" {
		t.Errorf("%v, %v", in, err)
	}
	out := b.pre("Write", map[string]any{"path": "a.txt", "content": ""})
	if got := out.Data.(*sdk.BeforeToolContext).Arguments; got["path"] != "/safe" || got["file_path"] != nil {
		t.Errorf("arguments %v", got)
	}
	if text := b.read("in"); !strings.Contains(text, `"file_path":"`+filepath.Join(b.dir, "a.txt")) {
		t.Error(text)
	}
	b.pre("Patch", map[string]any{"patch": ""})
	if b.read("in") == "" {
		t.Error("whoever watches Edit is not told of Patch")
	}
	if b.pre("BashX", nil).Blocked != nil {
		t.Error("a matcher names whole tools")
	}
	if out := b.post("Read", nil, "text"); len(out.Feedback) != 0 {
		t.Errorf("plain output reaches the model: %v", out.Feedback)
	}
	if out := b.at(
		lifecycle.AfterResponse,
		&sdk.AfterResponseContext{Calls: []sdk.ToolCall{{Name: "Read"}}},
	); len(
		out.Said,
	) != 0 {
		t.Errorf("stopped in the middle: %v", out.Said)
	}
	if out := b.at(
		lifecycle.AfterResponse,
		&sdk.AfterResponseContext{},
	); len(out.Said) != 1 ||
		!strings.HasSuffix(out.Said[0].Text, "run the tests") {
		t.Errorf("%v", out.Said)
	}
	if b.at(lifecycle.BeforeCompaction, &sdk.BeforeCompactionContext{}).Skip ||
		!b.at(lifecycle.BeforeCompaction, &sdk.BeforeCompactionContext{Forced: true}).Skip {
		t.Error("PreCompact")
	}
}

func TestImportClaude(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if hks, report, err := ImportClaude(file, "user"); len(hks) != 0 || len(report) != 0 || err != nil {
		t.Error(hks, report, err)
	}
	if err := os.WriteFile(file, []byte(`{"disableAllHooks": true, "hooks": {"Stop": []}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if hks, report, err := ImportClaude(file, "user"); len(hks) != 0 || len(report) != 1 || err != nil {
		t.Error(hks, report, err)
	}
	if err := os.WriteFile(file, []byte(`{"hooks": [`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ImportClaude(file, "user"); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}

func FuzzClaude(f *testing.F) {
	f.Add(claudeSettings)
	f.Add(
		`{"hooks": {"PreToolUse": [{"matcher": null, "hooks": [null, {"type": "command", "command": "x", "timeout": -1}]}]}}`,
	)
	f.Fuzz(func(t *testing.T, src string) {
		hks, _, err := parseClaude([]byte(src), "s", "user")
		if err != nil {
			return
		}
		if _, err := NewSet(Options{Hooks: hks}); err != nil {
			t.Fatal(err)
		}
	})
}

// Both dialects, side by side.
func TestDialects(t *testing.T) {
	for _, tt := range []struct{ stdout, want string }{
		{`{"deny": true, "reason": "r"}`, "deny r"},
		{`{"decision": "block", "reason": "r"}`, "deny r"},
		{`{"decision": "approve"}`, ""},
		{`{"decision": "approve", "hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}`, "deny r"},
		{`{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "r"}}`, "ask r"},
		{
			`{"hookSpecificOutput": {"permissionDecision": "allow", "additionalContext": "c"}, "message": "m"}`,
			"message m\nc",
		},
		{`{"continue": false, "stopReason": "s"}`, "stop s"},
		{`{"continue": true, "suppressOutput": true, "systemMessage": "n"}`, "notice n"},
		{`{"deny": null, "ask": null, "decision": null, "continue": null, "hookSpecificOutput": null, "updated_input": null}`, ""},
		{`{"deny": "true", "message": 5, "reason": ["x"]}`, "deny denied by hook"},
		{`{"response": "text", "error": "text", "request": 1}`, ""},
		{`{"updated_input": []}`, "error"}, {`{"deny": 1}`, "error"}, {`{"ask": "maybe"}`, "error"}, {`{"continue": "so"}`, "error"}, {`{"updated_output": {}}`, "error"},
	} {
		a, err := parse([]byte(tt.stdout))
		got := ""
		switch {
		case err != nil:
			got = "error"
		case a.deny:
			got = "deny " + a.why()
		case a.stop:
			got = "stop " + a.why()
		case a.ask:
			got = "ask " + a.why()
		case a.Message != "":
			got = "message " + a.Message
		case a.Notice != "":
			got = "notice " + a.Notice
		case a.Response != nil || a.Error != nil || a.Request != nil:
			got = "steers"
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.stdout, got, tt.want)
		}
	}
}
