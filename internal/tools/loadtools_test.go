package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/tool"
)

func TestLoadTools(t *testing.T) { // HO-39
	tl := LoadTools([]tool.Tool{{Name: "A", Description: "Does a.\nAnd more."}, {Name: "B"}})
	if !strings.HasSuffix(tl.Description, ":\n- A: Does a.\n- B") {
		t.Errorf("description: %s", tl.Description)
	}
	for _, tt := range []struct {
		names     []any
		want, err string
	}{
		{[]any{"A", "B"}, "loaded, and can be called now: A, B", ""},
		{[]any{"Half"}, "loaded, and can be called now: A\nno tool \"B\" can be loaded", ""},
		{[]any{"Nothing"}, "", `no tool "Nothing" can be loaded`},
		{[]any{}, "", "tools"},
		{[]any{7}, "", "tools[0]"},
	} {
		r, err := useWith(t, tl, tool.Call{Args: args{"tools": tt.names}, Host: &host{}})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || r.Text != tt.want {
			t.Errorf("%v: %q %v", tt.names, r.Text, err)
		}
	}
	if _, err := useWith(t, tl, tool.Call{Args: args{"tools": []any{"A"}}}); err == nil {
		t.Error("ran without an agent")
	}
}

// The index stays small however many tools there are.
func TestLoadToolsIsBounded(t *testing.T) {
	var list []tool.Tool
	for i := range 5000 {
		list = append(
			list,
			tool.Tool{Name: fmt.Sprintf("mcp__server__tool_%d", i), Description: strings.Repeat("ü", 500)},
		)
	}
	if n := len(LoadTools(list).Description); n > 13<<10 {
		t.Errorf("%d bytes", n)
	}
}
