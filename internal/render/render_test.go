package render_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/render"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"Bash", map[string]any{"command": "make\ntest", "workdir": "x"}, "Bash make⏎ test"},
		{"Read", map[string]any{"path": "a\x1b[31m.go"}, `Read a\x1b[31m.go`},
		{"Patch", map[string]any{"patch": "*** Update File: a\n*** Add File: b\n"}, "Patch a b"},
		{"X", map[string]any{"b": 1, "a": []any{"x"}}, `X a=["x"] b=1`},
		{"X", nil, "X"},
		{"X", map[string]any{"path": 3}, "X path=3"},
	} {
		if got := render.Describe(c.tool, c.args); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		render.Took(12 * time.Millisecond):         "12ms",
		render.Took(1240 * time.Millisecond):       "1.2s",
		render.Took(65 * time.Second):              "1m5s",
		render.Retry(10*time.Millisecond, "busy"):  "retrying in 1s (busy)",
		render.Retry(1600*time.Millisecond, "429"): "retrying in 2s (429)",
		render.Switched("code", ""):                "agent code",
		render.Switched("code", "cycle"):           "agent code (cycle)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Lines have the kind that they are, whatever they begin with: only a change has added and removed lines.
func TestPreviewKinds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want []render.Line
	}{
		{"Write", map[string]any{"path": "a", "content": "one\n2\n"}, []render.Line{
			{"a", render.Text}, {"@@ -1,2 +1,2 @@", render.Hunk}, {" one", render.Text}, {"-two", render.Removed},
			{"+2", render.Added},
		}},
		{"Write", map[string]any{"path": "a", "content": "one\ntwo\n"}, []render.Line{
			{"a", render.Text}, {"(no change)", render.Remark},
		}},
		{"Write", map[string]any{"path": "b", "content": strings.Repeat("x\n", 7)}, []render.Line{
			{"b", render.Text}, {"+x", render.Added}, {"+x", render.Added}, {"+x", render.Added}, {"+x", render.Added},
			{"+x", render.Added}, {"… 2 more lines", render.Remark},
		}},
		{"Bash", map[string]any{"command": "-x\n+y", "timeout": 3}, []render.Line{
			{"-x", render.Text}, {"+y", render.Text}, {"timeout=3", render.Remark},
		}},
		{"Bash", map[string]any{"command": strings.Repeat("x", 5000)}, []render.Line{
			{"… not all of it is shown: 5000 bytes in 1 lines", render.Warning},
		}},
		{"X", nil, nil},
	} {
		if got := render.Preview(dir, c.tool, c.args, 5); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.tool, got, c.want)
		}
	}
}

func TestScopes(t *testing.T) {
	keys := ""
	for _, s := range render.Scopes(agent.Approval{Tool: "Bash"}) {
		keys += string(s.Key)
	}
	if keys != "spg" {
		t.Errorf("%q", keys)
	}
	if !render.Editable("Bash:make *") || render.Editable("Bash:a\nb") || render.Editable(" x") {
		t.Error("only what is shown as it is can be edited")
	}
}
