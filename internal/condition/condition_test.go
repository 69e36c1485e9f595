package condition

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/sdk"
)

func eval(t *testing.T, text string, c sdk.Context) bool {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e.Eval(t.Context(), &c, nil)
}

// CN-03 CN-04 CN-05 CN-06 CN-29
func TestBoolean(t *testing.T) {
	todos := func(pending, progress, total int) sdk.Context {
		return sdk.Context{TodoPending: pending, TodoInProgress: progress, TodoTotal: total}
	}
	tests := []struct {
		text string
		c    sdk.Context
		want bool
	}{
		{"todo_empty", todos(0, 0, 0), true},
		{"todo_empty", todos(0, 0, 1), false},
		{"todo_done", todos(0, 0, 0), false},
		{"todo_done", todos(0, 0, 2), true},
		{"todo_done", todos(1, 0, 2), false},
		{"todo_done", todos(0, 1, 2), false},
		{"todo_pending", todos(0, 0, 2), false},
		{"todo_pending", todos(1, 0, 2), true},
		{"todo_pending", todos(0, 1, 2), true},
		{"auto", sdk.Context{Auto: true}, true},
		{"auto", sdk.Context{}, false},
		{"not auto", sdk.Context{}, true},
		{"not auto", sdk.Context{Auto: true}, false},
		{"not todo_done", todos(1, 0, 1), true},
		{"not not auto", sdk.Context{Auto: true}, true},
	}
	for _, tt := range tests {
		if got := eval(t, tt.text, tt.c); got != tt.want {
			t.Errorf(
				"%s with %d/%d/%d auto=%t = %t",
				tt.text,
				tt.c.TodoPending,
				tt.c.TodoInProgress,
				tt.c.TodoTotal,
				tt.c.Auto,
				got,
			)
		}
	}
}

// CN-07 CN-08 CN-09 CN-10 CN-11 CN-12 CN-13 CN-14 CN-15 CN-23: each pair
// compares its own number, strictly.
func TestComparisons(t *testing.T) {
	tests := []struct {
		above, below string
		set          func(c *sdk.Context, n int)
	}{
		{"context_above", "context_below", func(c *sdk.Context, n int) { c.Tokens.Percent = float64(n) }},
		{"history_gt", "history_lt", func(c *sdk.Context, n int) { c.MessageCount = n }},
		{"tool_errors_gt", "tool_errors_lt", func(c *sdk.Context, n int) { c.Stats.ToolErrors = n }},
		{"tool_calls_gt", "tool_calls_lt", func(c *sdk.Context, n int) { c.Stats.ToolCalls = n }},
		{"turns_gt", "turns_lt", func(c *sdk.Context, n int) { c.Stats.Turns = n }},
		{"compactions_gt", "compactions_lt", func(c *sdk.Context, n int) { c.Stats.Compactions = n }},
		{"iteration_gt", "iteration_lt", func(c *sdk.Context, n int) { c.Iteration = n }},
		{
			"tokens_total_gt",
			"tokens_total_lt",
			func(c *sdk.Context, n int) { c.Stats.TokensIn, c.Stats.TokensOut = n-20, 20 },
		},
		{"model_context_gt", "model_context_lt", func(c *sdk.Context, n int) { c.ModelInfo.ContextLength = n }},
		{
			"model_params_gt",
			"model_params_lt",
			func(c *sdk.Context, n int) { c.ModelInfo.ParameterCount = int64(n) * 1e9 },
		},
	}
	for _, tt := range tests {
		for n := 49; n <= 51; n++ {
			var c sdk.Context
			tt.set(&c, n)
			if got := eval(t, tt.above+":50", c); got != (n > 50) {
				t.Errorf("%s:50 at %d = %t", tt.above, n, got)
			}
			if got := eval(t, tt.below+":50", c); got != (n < 50) {
				t.Errorf("%s:50 at %d = %t", tt.below, n, got)
			}
		}
	}
}

// CN-16 to CN-26
func TestModel(t *testing.T) {
	known := sdk.Context{ModelInfo: sdk.ModelInfo{Name: "llama3:8b", ParameterCount: 8e9, ContextLength: 8192}}
	small := sdk.Context{ModelInfo: sdk.ModelInfo{ParameterCount: 494e6}}
	tests := []struct {
		text string
		c    sdk.Context
		want bool
	}{
		{"model_params_gt:0.5", known, true},
		{"model_params_lt:10", known, true},
		{"model_params_gt:10", known, false},
		{"model_params_lt:0.5", small, true},
		{"model_params_gt:.4", small, true},
		{"model_params_lt:10", sdk.Context{}, false},
		{"model_params_gt:0", sdk.Context{}, false},
		{"model_context_lt:999999", sdk.Context{}, false},
		{"model_context_gt:0", sdk.Context{}, false},
		{"not model_params_lt:10", sdk.Context{}, true},
		{"not model_context_lt:10", sdk.Context{}, true},
		{"context_below:10", sdk.Context{}, true},
		{"model_is:LLAMA3:8B", known, true},
		{"model_is:llama3", known, false},
		{"model_is:llama3:8b", sdk.Context{}, false},
	}
	for _, tt := range tests {
		if got := eval(t, tt.text, tt.c); got != tt.want {
			t.Errorf("%s = %t", tt.text, got)
		}
	}
	capabilities := []string{
		"vision",
		"tools",
		"thinking",
		"thinking_levels",
		"embedding",
		"reranking",
		"context_override",
	}
	for _, has := range capabilities {
		c := sdk.Context{ModelInfo: sdk.ModelInfo{Capabilities: []string{has}}}
		for _, asked := range capabilities {
			if got := eval(t, "model_has:"+asked, c); got != (asked == has) {
				t.Errorf("model_has:%s with %s = %t", asked, has, got)
			}
		}
	}
}

// CN-27
func TestExists(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a:b"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"exists:a:b": true, "exists:sub dir": true, "exists: sub dir ": true, "exists:none": false,
		"exists:./a:b":                        true,
		"exists:" + filepath.Join(dir, "a:b"): true, "exists:" + filepath.Join(dir, "none"): false,
	} {
		if got := eval(t, text, sdk.Context{Workdir: dir}); got != want {
			t.Errorf("%s = %t", text, got)
		}
	}
}

// CN-28 CN-34
func TestShell(t *testing.T) {
	var ran []string
	var deadline time.Time
	shell := func(ctx context.Context, command string) bool {
		ran = append(ran, command)
		deadline, _ = ctx.Deadline()
		return command != "false"
	}
	tests := []struct {
		text string
		want bool
		ran  string
	}{
		{"bash:true", true, "true"},
		{"bash:false", false, "false"},
		{"not bash:false", true, "false"},
		{"bash: echo a:b && test -d . ", true, "echo a:b && test -d ."},
		{"auto and bash:true", false, ""},
		{"not auto and bash:true and bash:false and bash:late", false, "true false"},
	}
	for _, tt := range tests {
		ran = nil
		e, err := Parse(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		if got := e.Eval(t.Context(), &sdk.Context{}, shell); got != tt.want || strings.Join(ran, " ") != tt.ran {
			t.Errorf("%s = %t, ran %q", tt.text, got, ran)
		}
		if len(ran) > 0 && (deadline.Before(before.Add(ShellTimeout)) || deadline.After(time.Now().Add(ShellTimeout))) {
			t.Errorf("%s: deadline in %v", tt.text, time.Until(deadline))
		}
	}
	if ShellTimeout != 120*time.Second {
		t.Errorf("ShellTimeout = %v", ShellTimeout)
	}
	e, _ := Parse("bash:true")
	if e.Eval(t.Context(), nil, nil) {
		t.Error("true without a shell")
	}
}

// CN-28: a command that was cut off proves nothing, negated or not.
func TestShellDeadline(t *testing.T) {
	e, _ := Parse("not bash:sleep 200")
	ctx, cancel := context.WithCancel(t.Context())
	wait := func(ctx context.Context, _ string) bool {
		cancel()
		<-ctx.Done()
		return true // Even a shell that claims success.
	}
	if e.Eval(ctx, nil, wait) {
		t.Error("a cancelled evaluation was true")
	}
	if e.Eval(
		ctx,
		nil, func(context.Context, string) bool { t.Error("started although cancelled"); return false },
	) {
		t.Error("a cancelled evaluation was true")
	}
}

// CN-30 CN-31 CN-35
func TestComposition(t *testing.T) {
	tests := []struct {
		text string
		c    sdk.Context
		want bool
	}{
		{"history_gt:5 and history_lt:10", sdk.Context{MessageCount: 7}, true},
		{"history_gt:5 and history_lt:10", sdk.Context{MessageCount: 10}, false},
		{"auto and context_above:70", sdk.Context{Auto: true, Tokens: sdk.TokenState{Percent: 71}}, true},
		{"auto and context_above:70", sdk.Context{Tokens: sdk.TokenState{Percent: 71}}, false},
		{"todo_pending and not turns_gt:50", sdk.Context{TodoPending: 1, TodoTotal: 1}, true},
		{"todo_pending and not turns_gt:50", sdk.Context{TodoPending: 1, Stats: sdk.Stats{Turns: 51}}, false},
		{"todo_pending and not turns_gt:50", sdk.Context{Stats: sdk.Stats{Turns: 3}}, false},
		{"not turns_gt:50 and auto", sdk.Context{}, false},
		{
			"model_has:tools and model_params_gt:10",
			sdk.Context{ModelInfo: sdk.ModelInfo{Capabilities: []string{"tools"}, ParameterCount: 70e9}},
			true,
		},
		{"  auto   and\n\tnot   todo_pending \n", sdk.Context{Auto: true}, true},
		{"history_gt: 5", sdk.Context{MessageCount: 6}, true},
		{"model_is:sand and auto", sdk.Context{Auto: true, ModelInfo: sdk.ModelInfo{Name: "Sand"}}, true},
	}
	for _, tt := range tests {
		if got := eval(t, tt.text, tt.c); got != tt.want {
			t.Errorf("%q = %t", tt.text, got)
		}
	}
}

// CN-02 CN-22 CN-32 CN-33
func TestInvalid(t *testing.T) {
	tests := []struct{ text, want string }{
		{"foo_gt:1", `unknown term "foo_gt"`},
		{"histroy_gt:1", `unknown term "histroy_gt" (did you mean "history_gt"?)`},
		{"Auto", `unknown term "Auto" (did you mean "auto"?)`},
		{"todo-done", `did you mean "todo_done"?`},
		{"auto:1", `term "auto" takes no value, got "1"`},
		{"auto:", `term "auto" takes no value`},
		{"history_gt", `term "history_gt" needs a value: history_gt:<N>`},
		{"history_gt: ", `needs a value`},
		{"history_gt:many", `term "history_gt" expects a whole number, 0 or greater, got "many"`},
		{"history_gt:1.5", "expects a whole number"},
		{"history_gt:-1", "expects a whole number"},
		{"history_gt:1e3", "expects a whole number"},
		{"history_gt:0x10", "expects a whole number"},
		{"context_above:high", `term "context_above" expects a number, 0 or greater, got "high"`},
		{"model_params_gt:1.2.3", "expects a number"},
		{"model_params_gt:.", "expects a number"},
		{"model_params_gt:NaN", "expects a number"},
		{"model_params_gt:inf", "expects a number"},
		{"context_above:" + strings.Repeat("9", 400), "expects a number"},
		{"model_has:flight", `term "model_has" knows no capability "flight"; it is one of vision, tools, thinking,`},
		{"model_has:Vision", `(did you mean "vision"?)`},
		{"model_is:", "needs a value: model_is:<name>"},
		{"exists:", "needs a value: exists:<path>"},
		{"bash:", "needs a value: bash:<command>"},
		{"auto or todo_done", `term "auto or todo_done": there is no "or"`},
		{"auto || todo_done", `there is no "or"`},
		{"(auto)", "there are no parentheses"},
		{"auto && todo_done", `joined by the word "and"`},
		{"auto AND todo_done", `joined by the word "and", in lower case`},
		{"NOT auto", `write "not" in lower case`},
		{"auto todo_done", `unexpected "todo_done" after "auto"`},
		{"not", `a term is missing after "not"`},
		{"auto and", `a term is missing beside "and"`},
		{"and auto", `a term is missing beside "and"`},
		{"auto and and todo_done", `a term is missing beside "and"`},
		{"bash:echo a and b", `unknown term "b"; "bash:" cannot contain the word "and" (use "&&" in commands)`},
		{"exists:salt and pepper", `"exists:" cannot contain the word "and"`},
		{"auto and " + strings.Repeat("x", 500), strings.Repeat("x", 80) + "..."},
	}
	for _, tt := range tests {
		e, err := Parse(tt.text)
		if err == nil || e != nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(err.Error(), "condition ") ||
			len(err.Error()) > 400 {
			t.Errorf("Parse(%q) = %v, %v; want %q", tt.text, e, err, tt.want)
		}
	}
}

func TestNilAndString(t *testing.T) {
	e, err := Parse(" \n ")
	if e != nil || err != nil || !e.Eval(t.Context(), nil, nil) || e.String() != "" || e.NeedsModel() {
		t.Errorf("blank text: %v, %v", e, err)
	}
	e, _ = Parse(" auto and  not model_is:x ")
	if e.String() != "auto and  not model_is:x" || !e.NeedsModel() {
		t.Errorf("String %q, NeedsModel %t", e.String(), e.NeedsModel())
	}
	if e, _ = Parse("auto"); e.NeedsModel() {
		t.Error("auto needs no model")
	}
}

// Every row of the table can be parsed and evaluated.
func TestTable(t *testing.T) {
	sample := map[argument]string{whole: ":1", decimal: ":1.5", text: ":x"}
	for _, row := range table {
		set := 0
		for _, on := range []bool{row.is != nil, row.above != nil, row.below != nil, row.match != nil, row.shell} {
			if on {
				set++
			}
		}
		if set != 1 || row.Meaning == "" || (row.arg == none) != (row.Argument == "") ||
			(row.arg == choice) != (len(row.Values) > 0) {
			t.Errorf("%s: incomplete row", row.Name)
		}
		suffix := sample[row.arg]
		if row.arg == choice {
			suffix = ":" + row.Values[0].Name
		}
		eval(t, row.Name+suffix, sdk.Context{})
	}
	if got := len(Names()); got != len(table) {
		t.Errorf("Names returns %d of %d terms", got, len(table))
	}
}

var update = flag.Bool("update", false, "write the table of terms into the documentation")

// The table in the documentation is the table of the program.
func TestDocumentation(t *testing.T) {
	var b strings.Builder
	b.WriteString("| term | true when |\n|---|---|\n")
	for _, term := range Names() {
		name := term.Name
		if term.Argument != "" {
			name += ":" + term.Argument
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, term.Meaning)
		for _, v := range term.Values {
			fmt.Fprintf(&b, "| `%s:%s` | %s |\n", term.Name, v.Name, v.Meaning)
		}
	}
	path := filepath.Join("..", "..", "docs", "conditions.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- terms: begin -->\n", "<!-- terms: end -->"
	head, rest, ok1 := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), begin)
	table, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no markers for the table", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != b.String() {
		t.Errorf("%s is out of date: run go test ./internal/condition -run Documentation -update\n%s", path, b.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"auto", "not auto and history_gt:5", "bash:echo a and b", "model_has:tools",
		"exists:a:b", "a or b",
		"(auto)", "not not", "context_above:1.5", "and", "\xff:\x00", "history_gt:99999999999999999999",
		"model_is:é and auto"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			if e != nil || len(err.Error()) > 2000 {
				t.Fatalf("Parse(%q) = %v, %v", s, e, err)
			}
			return
		}
		again, err := Parse(e.String())
		if err != nil {
			t.Fatalf("Parse(%q) accepted, its String refused: %v", s, err)
		}
		c := sdk.Context{Auto: true, MessageCount: 7, Workdir: "/nonexistent"}
		if a, b := e.Eval(t.Context(), &c, nil), again.Eval(t.Context(), &c, nil); a != b {
			t.Fatalf("%q: %t, then %t", s, a, b)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("todo_pending and not turns_gt:50 and model_has:tools and model_params_gt:0.5"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	e, _ := Parse("todo_pending and not turns_gt:50 and model_has:tools and model_params_gt:0.5")
	snapshot := &sdk.Context{
		TodoPending: 1,
		ModelInfo:   sdk.ModelInfo{Capabilities: []string{"tools"}, ParameterCount: 8e9},
	}
	for b.Loop() {
		if !e.Eval(b.Context(), snapshot, nil) {
			b.Fatal("false")
		}
	}
}
