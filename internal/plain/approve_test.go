package plain

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
)

func TestApprovalPreview(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("line\n", 100)
	tests := []struct {
		name string
		tool string
		args map[string]any
		want []string
		not  string
	}{
		{
			"command in full, and where",
			"Bash",
			map[string]any{"command": "make\n  test", "workdir": "sub"},
			[]string{"    make\n", "      test\n", "workdir=sub"},
			"",
		},
		{
			"huge command says so",
			"Bash",
			map[string]any{"command": long + long + long},
			[]string{"not all of it is shown: 1500 bytes in 301 lines"},
			"",
		},
		{
			"change of a file",
			"Write",
			map[string]any{"path": "a.txt", "content": "one\n2\nthree\n"},
			[]string{"    a.txt\n", "-two\n", "+2\n"},
			"+one",
		},
		{
			"no change",
			"Write",
			map[string]any{"path": "a.txt", "content": "one\ntwo\nthree\n"},
			[]string{"(no change)"},
			"",
		},
		{
			"new file",
			"Write",
			map[string]any{"path": "new.txt", "content": long},
			[]string{"    new.txt\n", "+line\n", "… 80 more lines"},
			"-",
		},
		{
			"edit",
			"Edit",
			map[string]any{"file_path": "a.txt", "old_string": "two", "new_string": "2\x1b[8m"},
			[]string{"    a.txt\n", "-two", `+2\x1b[8m`},
			"\x1b",
		},
		{
			"patch",
			"Patch",
			map[string]any{"patch": "*** Begin Patch\n*** Delete File: a.txt"},
			[]string{"*** Delete File: a.txt"},
			"",
		},
		{"anything else", "mcp__x__y", map[string]any{"b": 1, "a": "x\ny"}, []string{"a=x⏎ y b=1"}, ""},
		{"wrong types", "Write", map[string]any{"path": 3, "content": nil}, []string{"path=3"}, ""},
		{"nothing", "T", nil, []string{"? T\n"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := NewAsker(
				AskerOptions{Editor: NewEditor(strings.NewReader(""), io.Discard, EditorOptions{}), Workdir: dir},
			)
			got := a.question(agent.Approval{Tool: tt.tool, Args: tt.args})
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in:\n%s", want, got)
				}
			}
			if tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("%q in:\n%s", tt.not, got)
			}
		})
	}
}

func TestApproveWithoutTerminal(t *testing.T) {
	for in, want := range map[string]agent.Decision{
		"y\n":          {Allow: true},
		"what\nYES\n":  {Allow: true},
		"s\n":          {Allow: true, Remember: "session", Pattern: "Bash"},
		"p\ng\n":       {Allow: true, Remember: "global", Pattern: "Bash"},
		"n\nnot now\n": {Reason: "not now"},
		"":             {Reason: "nobody answered"},
	} {
		e := NewEditor(strings.NewReader(in), io.Discard, EditorOptions{})
		if got := NewAsker(AskerOptions{Editor: e}).Approve(t.Context(), agent.Approval{Tool: "Bash"}); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
		e.Close()
	}
}
