package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
)

// args is what a test hands to a tool.
type args = map[string]any

// named finds a built-in tool.
func named(t testing.TB, name string, o Options) tool.Tool {
	t.Helper()
	for _, candidate := range New(o) {
		if candidate.Name == name {
			return candidate
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Tool{}
}

// use runs a tool as the agent would: arguments that break the schema do not reach it.
func use(t testing.TB, name, dir string, a args) (tool.Result, error) {
	t.Helper()
	return useWith(t, named(t, name, Options{}), tool.Call{Workdir: dir, Args: a})
}

func useWith(t testing.TB, tl tool.Tool, call tool.Call) (tool.Result, error) {
	t.Helper()
	if problems := tl.Schema.Check(call.Args); problems != nil {
		return tool.Result{}, errors.New(strings.Join(problems, "\n"))
	}
	return tl.Execute(t.Context(), call)
}

// good is use for calls that must succeed.
func good(t testing.TB, name, dir string, a args) string {
	t.Helper()
	r, err := use(t, name, dir, a)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.Text
}

// bad is use for calls that must fail with an error that contains want.
func bad(t testing.TB, name, dir string, a args, want string) {
	t.Helper()
	r, err := use(t, name, dir, a)
	if err == nil {
		t.Fatalf("%s succeeded, want error %q: %s", name, want, r.Text)
	}
	if !strings.Contains(err.Error(), want) {
		t.Fatalf("%s: error %q, want %q", name, err, want)
	}
}

// tree makes files; a name that ends with / is a directory.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	must(t, err)
	return string(data)
}

func equal(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func contains(t testing.TB, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing in\n%s", part, got)
		}
	}
}

// HO-37 HO-38: names and parameters, with the required ones marked.
func TestTools(t *testing.T) {
	want := map[string]string{
		"Bash":         "command! workdir timeout_ms",
		"Read":         "path! line_start line_end count",
		"Write":        "path! content!",
		"Edit":         "file_path! old_string! new_string! replace_all",
		"Patch":        "patch!",
		"Glob":         "pattern! path",
		"Ls":           "path depth",
		"Mkdir":        "paths!",
		"Rg":           "pattern! path glob ignore_case context max_results",
		"TodoCreate":   "summary items!",
		"TodoList":     "",
		"TodoProgress": "updates!",
		"Done":         "summary!",
		"Ask":          "question! options multi_select",
		"Batch":        "calls!",
		"Task":         "description! prompt! agent",
	}
	got := map[string]string{}
	for _, tl := range New(Options{}) {
		var names []string
		for _, p := range tl.Schema.Params() {
			name := p.Name
			if p.Required {
				name += "!"
			}
			names = append(names, name)
		}
		got[tl.Name] = strings.Join(names, " ")
		if tl.Description == "" || tl.Source.Kind != "builtin" || tl.Execute == nil {
			t.Errorf("%s is not complete", tl.Name)
		}
		if tl.Schema.Check(args{"no such": 1}) == nil {
			t.Errorf("%s takes unknown parameters", tl.Name)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

// The table in the manual is the one of the schemas.
func TestManual(t *testing.T) {
	manual := content(t, "..", "..", "docs", "tools.md")
	for _, tl := range New(Options{}) {
		var params []string
		for _, p := range tl.Schema.Params() {
			name := "`" + p.Name + "`"
			if p.Required {
				name = "**" + name + "**"
			}
			params = append(params, name)
		}
		cell := strings.Join(params, ", ")
		if cell == "" {
			cell = "none"
		}
		if row := fmt.Sprintf("| %s | %s |", tl.Name, cell); !strings.Contains(manual, row) {
			t.Errorf("docs/tools.md lacks the row %q", row)
		}
	}
}

func TestPaths(t *testing.T) {
	patch := "*** Begin Patch\n*** Add File: new\n+x\n*** Update File: old\n-a\n+b\n*** Update File: from\n" +
		"*** Move to: to\n-a\n+b\n*** Delete File: gone\n*** End Patch"
	userHome, err := os.UserHomeDir()
	must(t, err)
	tests := []struct {
		name string
		args args
		want string
	}{
		{"Read", args{"path": "a"}, "{[a] [] [a] [] []}"},
		{
			"Read",
			args{"path": "~/a"},
			"{[" + filepath.Join(userHome, "a") + "] [] [" + filepath.Join(userHome, "a") + "] [] []}",
		},
		{"Write", args{"path": "a"}, "{[] [a] [a] [a] []}"},
		{"Edit", args{"file_path": "a"}, "{[] [a] [a] [a] []}"},
		{"Mkdir", args{"paths": []any{"a", "b"}}, "{[] [a b] [] [] []}"},
		{"Ls", args{}, "{[.] [] [] [] []}"},
		{"Rg", args{"path": "d"}, "{[d] [] [] [] []}"},
		{"Glob", args{"pattern": "*.go"}, "{[.] [] [] [] []}"},
		{"Glob", args{"pattern": "sub/**/*.go", "path": "d"}, "{[" + filepath.Join("d", "sub") + "] [] [] [] []}"},
		{"Glob", args{"pattern": "/etc/*.conf"}, "{[/etc] [] [] [] []}"},
		{"Patch", args{"patch": patch}, "{[] [new old from to gone] [new old to] [old from] [from gone]}"},
	}
	for _, tt := range tests {
		got, err := named(t, tt.name, Options{}).Paths(tt.args)
		must(t, err)
		equal(t, tt.name+fmt.Sprint(got), tt.name+tt.want)
	}
	if _, err := named(t, "Patch", Options{}).Paths(args{"patch": "nonsense"}); err == nil {
		t.Error("the paths of a broken patch are an error")
	}
}

// HO-31: the todo tools.
func TestTodo(t *testing.T) {
	list := new(todo.List)
	o := Options{Todo: list}
	run := func(name string, a args) (string, error) {
		r, err := useWith(t, named(t, name, o), tool.Call{Args: a})
		return r.Text, err
	}
	text, err := run("TodoList", args{})
	must(t, err)
	equal(t, text, "the todo list is empty")
	text, err = run(
		"TodoCreate",
		args{"summary": "work", "items": []any{args{"content": "one"}, args{"content": "two"}}},
	)
	must(t, err)
	equal(t, text, "work\n1. [ ] one\n2. [ ] two")
	text, err = run(
		"TodoProgress",
		args{"updates": []any{args{"index": 1.0, "status": "completed"}, args{"index": 2.0, "status": "in_progress"}}},
	)
	must(t, err)
	equal(t, text, "work\n1. [x] one\n2. [>] two")
	if _, err := run(
		"TodoProgress",
		args{"updates": []any{args{"index": 1.0, "status": "pending"}, args{"index": 3.0, "status": "completed"}}},
	); err == nil {
		t.Error("index 3 of 2 items")
	}
	if c := list.Counts(); c.Completed != 1 || c.InProgress != 1 {
		t.Errorf("a refused update changed the list: %+v", c)
	}
	for _, a := range []args{
		{"updates": []any{args{"index": 0.0, "status": "completed"}}},
		{"updates": []any{args{"index": 1.0, "status": "done"}}}, {"updates": []any{}}, {},
	} {
		if _, err := run("TodoProgress", a); err == nil {
			t.Errorf("%v was taken", a)
		}
	}
	for _, a := range []args{
		{"items": []any{}}, {"items": []any{args{"content": "  "}}}, {"items": []any{"x"}}, {"summary": "x"},
	} {
		if _, err := run("TodoCreate", a); err == nil {
			t.Errorf("%v was taken", a)
		}
	}
	text, err = run("TodoList", args{})
	must(t, err)
	equal(t, text, "work\n1. [x] one\n2. [>] two")
}

// HO-32: what the agent sees of Done.
func TestDone(t *testing.T) {
	r, err := use(t, "Done", "", args{"summary": "all done"})
	must(t, err)
	if !r.Done || r.Text != "all done" {
		t.Errorf("%+v", r)
	}
	bad(t, "Done", "", args{}, `missing required parameter "summary"`)
}

// host is an agent as the tools see it.
type host struct {
	mu      sync.Mutex
	log     []string
	answers []string
	started chan struct{} // Calls of Wait meet here.
}

func (h *host) note(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, s)
}

func (h *host) Run(ctx context.Context, name string, a map[string]any) (tool.Result, error) {
	switch name {
	case "Fail":
		return tool.Result{}, errors.New("no luck")
	case "Panic":
		panic("broken")
	case "Wait":
		// Returns only when a second call runs beside it.
		select {
		case h.started <- struct{}{}:
		case <-h.started:
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
		return tool.Result{Text: "met"}, nil
	}
	h.note(name)
	return tool.Result{Text: name + tool.ArgsJSON(a)}, nil
}

func (h *host) Delegate(_ context.Context, agent, description, prompt string) (string, error) {
	if agent == "nobody" {
		return "", errors.New(`no agent "nobody"`)
	}
	return strings.TrimSpace(agent + " " + prompt), nil
}

func (h *host) Load(names []string) ([]string, error) {
	if names[0] == "Nothing" {
		return nil, errors.New(`no tool "Nothing" can be loaded`)
	}
	if names[0] == "Half" {
		return []string{"A"}, errors.New(`no tool "B" can be loaded`)
	}
	return names, nil
}

func (h *host) Ask(_ context.Context, q tool.Question) ([]string, error) {
	h.note(fmt.Sprintf("%s %v %v", q.Text, q.Options, q.Multi))
	if h.answers == nil {
		return nil, errors.New("nobody is there")
	}
	return h.answers, nil
}

func TestConversationTools(t *testing.T) {
	for name, a := range map[string]args{
		"Ask":   {"question": "which?"},
		"Task":  {"description": "d", "prompt": "p"},
		"Batch": {"calls": []any{args{"name": "Read", "arguments": args{"path": "x"}}}},
	} {
		bad(t, name, t.TempDir(), a, "needs a conversation")
	}
	h := &host{answers: []string{"a", "b"}}
	ask := named(t, "Ask", Options{})
	r, err := useWith(
		t,
		ask,
		tool.Call{Host: h, Args: args{"question": "which?", "options": []any{"a", "b"}, "multi_select": true}},
	)
	must(t, err)
	equal(t, r.Text, "a\nb")
	equal(t, h.log[0], "which? [a b] true")
	if _, err := useWith(
		t,
		ask,
		tool.Call{Host: &host{}, Args: args{"question": "which?"}},
	); err == nil ||
		err.Error() != "nobody is there" {
		t.Errorf("error %v", err)
	}
	task := named(t, "Task", Options{})
	r, err = useWith(t, task, tool.Call{Host: h, Args: args{"description": "d", "prompt": "do it", "agent": "helper"}})
	must(t, err)
	equal(t, r.Text, "helper do it")
	if _, err := useWith(
		t,
		task,
		tool.Call{Host: h, Args: args{"description": "d", "prompt": "p", "agent": "nobody"}},
	); err == nil {
		t.Error("unknown agent")
	}
}

func TestBatch(t *testing.T) {
	run := func(h tool.Host, o Options, calls ...any) (tool.Result, error) {
		return useWith(t, named(t, "Batch", o), tool.Call{Host: h, Args: args{"calls": calls}})
	}
	h := &host{}
	r, err := run(
		h,
		Options{},
		args{"name": "Write", "arguments": args{"path": "x"}},
		args{"name": "Fail"},
		args{"name": "Panic"},
		args{"name": "Other"},
	)
	must(t, err)
	equal(
		t,
		r.Text,
		"[1/4] Write:\nWrite{\"path\":\"x\"}\n\n[2/4] Fail failed: no luck\n\n"+
			"[3/4] Panic failed: panic: broken\n\n[4/4] Other:\nOther{}",
	)
	equal(t, strings.Join(h.log, " "), "Write Other")

	// Calls that may run side by side do, or these would wait for each other for ever.
	side := Options{Parallel: func(name string) bool { return name == "Wait" }}
	r, err = run(&host{started: make(chan struct{})}, side, args{"name": "Wait"}, args{"name": "Wait"})
	must(t, err)
	equal(t, r.Text, "[1/2] Wait:\nmet\n\n[2/2] Wait:\nmet")

	if _, err := run(h, Options{}, args{"name": "Fail"}, args{"name": "Fail"}); err == nil {
		t.Error("a batch of which everything failed is an error")
	}
	for _, name := range []string{"Batch", "Done"} {
		if _, err := run(
			h,
			Options{},
			args{"name": "Read"},
			args{"name": name},
		); err == nil ||
			!strings.Contains(err.Error(), "calls[1]: "+name) {
			t.Errorf("%s inside: %v", name, err)
		}
	}
	many := slices.Repeat([]any{args{"name": "Read"}}, 26)
	if _, err := run(h, Options{}, many...); err == nil {
		t.Error("26 calls")
	}
	if _, err := run(h, Options{}); err == nil {
		t.Error("no calls")
	}
}
