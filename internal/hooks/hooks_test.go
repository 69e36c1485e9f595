package hooks_test

import (
	"context"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/lifecycle"
)

// one is a hook that always matches.
func one(event, command string) config.Hook { return config.Hook{Event: event, Command: command} }

func runner(t *testing.T, hks config.Hooks) hooks.Runner {
	t.Helper()
	r, err := hooks.New(hks)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(list []hooks.Entry) string {
	var out []string
	for _, e := range list {
		out = append(out, e.Name)
	}
	return strings.Join(out, " ")
}

// HP-02 HP-03 HP-05 HP-09 HP-10 HP-11 HP-20 HP-22: the shape of the package.
func TestShape(t *testing.T) {
	if hooks.DefaultTimeout != 10*time.Second {
		t.Error(hooks.DefaultTimeout)
	}
	r := hooks.Runner{
		Pre: []hooks.Entry{
			{
				Name: "n", Matcher: nil, Files: "*.go", Command: "echo no >&2; exit 2", Timeout: 10 * time.Second,
				Silent: false,
			},
		},
		Post:    nil,
		OnStart: func(string) {},
	}
	if !r.Pre[0].Matches("Anything") || (hooks.Entry{Matcher: regexp.MustCompile("^B")}).Matches("Write") {
		t.Error("Matches")
	}
	var ev hooks.Event
	ev.HookEvent, ev.CWD, ev.FilePaths = "PreToolUse", "/home/user/project", []string{"/home/user/project/main.go"}
	ev.Tool.Name, ev.Tool.Input = "Write", struct {
		Path string `json:"path"`
	}{"main.go"}
	text, err := json.Marshal(ev)
	want := `{"hook_event":"PreToolUse","tool":{"name":"Write","input":{"path":"main.go"}},"cwd":"/home/user/project","file_paths":["/home/user/project/main.go"]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
	ev.Tool.Output, ev.FilePaths = "ok", nil
	if text, _ := json.Marshal(
		ev,
	); strings.Contains(string(text), "file_paths") ||
		!strings.Contains(string(text), `"output":"ok"`) {
		t.Error(string(text))
	}
	if got := r.RunPre(context.Background(), "Bash", nil, "/"); got != (hooks.Result{}) {
		t.Errorf("no file of the hook: %+v", got)
	}
	if got := r.RunPre(context.Background(), "Write", ev.Tool.Input, "/"); got != (hooks.Result{
		Blocked: true, Message: "no",
	}) {
		t.Errorf("a file of the hook, in a struct: %+v", got)
	}
	pre, post, err := hooks.Order(config.Hooks{"a": one("pre", "true"), "b": one("post", "true")})
	if strings.Join(pre, " ") != "a" || strings.Join(post, " ") != "b" || err != nil {
		t.Error(pre, post, err)
	}
}

// HP-01: the package comment says where hooks are and how they run.
func TestPackageComment(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "hooks.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	doc := file.Doc.Text()
	for _, want := range []string{
		"Package hooks", ".aura/config/hooks/**/*.yaml", "regular", "mvdan/sh", "JSON context", "- 0:", "- 2:",
		"- other:",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("the package comment lacks %q:\n%s", want, doc)
		}
	}
}

// HP-12 HP-13: the zero Runner does nothing, and its methods are those of the value.
func TestZeroRunner(t *testing.T) {
	var r hooks.Runner
	if got := r.RunPre(t.Context(), "Bash", map[string]any{}, ""); got != (hooks.Result{}) {
		t.Error(got)
	}
	if got := r.RunPost(t.Context(), "Bash", nil, "out", ""); got != (hooks.Result{}) {
		t.Error(got)
	}
	for _, name := range []string{"RunPre", "RunPost"} {
		if _, ok := reflect.TypeFor[hooks.Runner]().MethodByName(name); !ok {
			t.Errorf("%s is not a method of the value", name)
		}
	}
}

// HK-15 HP-04 HP-14 HP-15 HP-16 HP-17 HP-21 HP-23 HP-24
func TestNew(t *testing.T) {
	off := true
	r := runner(t, config.Hooks{
		"c": one(
			"pre",
			"true",
		),
		"a": {Event: "pre", Command: "true", Depends: []string{"c"}, Timeout: 3 * time.Second, Matcher: "Bash"},
		"b": one(
			"post",
			"true",
		),
		"off": {Event: "pre", Command: "true", Disabled: &off},
		"s":   one("session_end", "true"),
	})
	if names(r.Pre) != "c a" || names(r.Post) != "b" {
		t.Errorf("%s; %s", names(r.Pre), names(r.Post))
	}
	if a := r.Pre[1]; a.Timeout != 3*time.Second || r.Pre[0].Timeout != hooks.DefaultTimeout || a.Matches("Write") ||
		!a.Matches("Bash") {
		t.Errorf("%+v", r.Pre)
	}
	for _, deps := range []config.Hooks{
		{
			"a": {Event: "pre", Command: "x", Depends: []string{"b"}},
			"b": {Event: "pre", Command: "x", Depends: []string{"a"}},
		},
		{"a": {Event: "pre", Command: "x", Depends: []string{"nobody"}}},
		{"a": {Event: "post", Command: "x", Depends: []string{"b"}}, "b": one("pre", "x")},
	} {
		if _, err := hooks.New(deps); err == nil {
			t.Errorf("no error for %v", deps)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("New does not panic on an invalid regular expression")
		}
	}()
	_, _ = hooks.New(config.Hooks{"a": {Event: "pre", Command: "x", Matcher: "("}})
}

// HK-11 HP-06 HP-08
func TestMatchedPaths(t *testing.T) {
	paths := []string{"/a/b/x.go", "/a/b/y.md", "z.go"}
	for glob, want := range map[string]string{
		"": "/a/b/x.go /a/b/y.md z.go", "*.go": "/a/b/x.go z.go", "b/*.go": "", "y.??": "/a/b/y.md", "[": "",
		"*": "/a/b/x.go /a/b/y.md z.go",
	} {
		if got := strings.Join(hooks.Entry{Files: glob}.MatchedPaths(paths), " "); got != want {
			t.Errorf("%q: %s", glob, got)
		}
	}
	if got := (hooks.Entry{}).MatchedPaths(nil); got != nil {
		t.Error(got)
	}
}

// HK-06 HK-08 HK-09 HK-12 HK-18 HP-18: who fires, and that the start is told before.
func TestFiring(t *testing.T) {
	dir := t.TempDir()
	r := runner(t, config.Hooks{
		"all": one("pre", "true"), "write": {Event: "pre", Matcher: "Patch|Write", Command: "true"},
		"go": {Event: "pre", Files: "*.go", Command: "true"}, "py": {Event: "pre", Files: "*.py", Command: "true"},
	})
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"Bash", map[string]any{"command": "x.py"}, "all"},
		{"Write", map[string]any{"path": "x.go"}, "all go write"},
		{
			"Patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: a.txt\n*** Add File: b.py\n"},
			"all py write",
		},
		{"Read", map[string]any{"path": "x.txt"}, "all"},
		{"MemoryWrite", nil, "all write"}, // Unanchored.
		{"write", nil, "all"},             // Case matters.
	} {
		var started []string
		r.OnStart = func(name string) { started = append(started, name) }
		r.RunPre(t.Context(), tt.tool, tt.args, dir)
		if got := strings.Join(started, " "); got != tt.want {
			t.Errorf("%s %v: %s, want %s", tt.tool, tt.args, got, tt.want)
		}
	}
	mark := filepath.Join(dir, "mark")
	r = hooks.Runner{Pre: []hooks.Entry{{Name: "a", Command: "touch mark"}}, OnStart: func(string) {
		if _, err := os.Stat(mark); err == nil {
			t.Error("the start is told after the command ran")
		}
	}}
	r.RunPre(t.Context(), "Bash", nil, dir)
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
}

// Exit codes and output: HK-19 HK-34..HK-48 HP-07 HP-19, for RunPre and RunPost.
func TestExitCodes(t *testing.T) {
	sample := `echo '{ "message": "Formatted successfully.", "deny": true, "reason": "File contains forbidden pattern." }'`
	for _, tt := range []struct {
		name, command string
		silent        bool
		pre, post     hooks.Result
	}{
		{"nothing", "true", false, hooks.Result{}, hooks.Result{}},
		{"plain text", "echo hi", false, said("hi"), said("hi")},
		{"stderr of a success", "echo hi >&2", false, hooks.Result{}, hooks.Result{}},
		{"message", `echo '{"message": "hi"}'`, false, said("hi"), said("hi")},
		{"not an object", "echo 42", false, said("42"), said("42")},
		{"broken JSON", `echo '{"message": '`, false, said(`{"message":`), said(`{"message":`)},
		{"unknown keys", `echo '{"x": 1}'`, false, hooks.Result{}, hooks.Result{}},
		{"exit 2", "echo out; echo why >&2; exit 2", false, blocked("why"), said("why")},
		{"exit 2 without words", "exit 2", false, blocked("hook blocked: exit 2"), hooks.Result{}},
		{"exit 1", "echo warn >&2; echo out; exit 1", false, said("warn"), said("warn")},
		{"exit 3 without stderr", "echo out; exit 3", false, said("out"), said("out")},
		{"exit 1 without words", "exit 1", false, hooks.Result{}, hooks.Result{}},
		{"deny", `echo '{"deny": true, "reason": "no"}'`, false, blocked("no"), said("no")},
		{"deny without a reason", `echo '{"deny": true}'`, false, blocked("denied by hook"), hooks.Result{}},
		{
			"the printed sample", sample, false, blocked("File contains forbidden pattern."),
			said("Formatted successfully.\nFile contains forbidden pattern."),
		},
		{"silent", "echo hi; echo why >&2; exit 2", true, hooks.Result{}, hooks.Result{}},
		{"silent deny", sample, true, hooks.Result{}, hooks.Result{}},
		{"nobody to ask", `echo '{"ask": true, "reason": "sure?"}'`, false, blocked("sure?"), hooks.Result{}},
	} {
		h := config.Hook{Command: tt.command, Silent: tt.silent}
		h.Event = "pre"
		if got := runner(t, config.Hooks{"h": h}).RunPre(t.Context(), "Bash", nil, t.TempDir()); got != tt.pre {
			t.Errorf("%s: pre %+v, want %+v", tt.name, got, tt.pre)
		}
		h.Event = "post"
		if got := runner(
			t,
			config.Hooks{"h": h},
		).RunPost(t.Context(), "Bash", nil, "out", t.TempDir()); got != tt.post {
			t.Errorf("%s: post %+v, want %+v", tt.name, got, tt.post)
		}
	}
}

func said(text string) hooks.Result   { return hooks.Result{Message: "[Hook: h]:\n" + text} }
func blocked(why string) hooks.Result { return hooks.Result{Blocked: true, Message: why} }

// HK-50 HK-51: a block ends the row; what all said is delivered in order.
func TestSeveral(t *testing.T) {
	dir := t.TempDir()
	r := runner(
		t,
		config.Hooks{
			"b": one("pre", "echo two"),
			"a": one("pre", "echo one"),
			"c": {Event: "pre", Command: "exit 2", Matcher: "Bash"},
			"d": one("pre", "touch ran"),
		},
	)
	if got := r.RunPre(t.Context(), "Bash", nil, dir); !got.Blocked || got.Message != "hook blocked: exit 2" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a hook ran after the call was blocked")
	}
	if got := r.RunPre(
		t.Context(),
		"Read",
		nil,
		dir,
	); got.Blocked ||
		got.Message != "[Hook: a]:\none\n[Hook: b]:\ntwo" {
		t.Errorf("%+v", got)
	}
}

// Standard input: HK-21..HK-29 HK-96, environment: HK-30..HK-33 HK-86.
func TestInput(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FILE", "of the process")
	r := runner(t, config.Hooks{
		"in": one("pre", `cat >pre.json; pwd >pwd; echo "${FILE-unset}" >env`),
		"out": {
			Event:   "post",
			Files:   "*.go",
			Command: `cat >post.json; for f in $FILE; do echo "$f"; done >files; echo "$AURA_FILES" >lines; echo "$AURA_HOOK $AURA_TOOL_NAME" >names`,
		},
	})
	r.RunPre(t.Context(), "Bash", map[string]any{"command": "a && b > c"}, dir)
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimRight(string(text), "\n")
	}
	payload := `{"hook_event":"PreToolUse","tool":{"name":"Bash","input":{"command":"a && b > c"}},"cwd":"` + dir + `"}`
	if got := read("pre.json"); got != payload {
		t.Errorf("%s\nwant %s", got, payload)
	}
	if read("env") != "unset" {
		t.Errorf("FILE=%s", read("env"))
	}
	if real, _ := filepath.EvalSymlinks(dir); read("pwd") != dir && read("pwd") != real {
		t.Errorf("pwd %s", read("pwd"))
	}
	patch := "*** Begin Patch\n*** Update File: a.go\n*** Move to: c.go\n*** Delete File: b.md\n" +
		"*** Add File: /abs/d.go\n*** End Patch"
	r.RunPost(t.Context(), "Patch", map[string]any{"patch": patch}, "done", dir)
	want := []string{filepath.Join(dir, "a.go"), filepath.Join(dir, "c.go"), "/abs/d.go"}
	if read("files") != strings.Join(want, "\n") || read("lines") != strings.Join(want, "\n") ||
		read("names") != "out Patch" {
		t.Errorf("files %q, lines %q, names %q", read("files"), read("lines"), read("names"))
	}
	var ev hooks.Event
	if err := json.Unmarshal(
		[]byte(read("post.json")),
		&ev,
	); err != nil || ev.Tool.Output != "done" || ev.HookEvent != "PostToolUse" || len(ev.FilePaths) != 4 ||
		ev.FilePaths[2] != filepath.Join(dir, "b.md") {
		t.Errorf("%+v, %v", ev, err)
	}
	for args, want := range map[string]string{
		`{"path": "x.go"}`: dir + "/x.go", `{"file_path": "./s/../x.go"}`: dir + "/x.go", `{"paths": ["m/n.go", "/o.go"]}`: dir + "/m/n.go /o.go",
	} {
		var input map[string]any
		if err := json.Unmarshal([]byte(args), &input); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "lines")); err != nil {
			t.Fatal(err)
		}
		r.RunPost(t.Context(), "T", input, "", dir)
		if got := strings.ReplaceAll(read("lines"), "\n", " "); filepath.ToSlash(got) != filepath.ToSlash(want) {
			t.Errorf("%s: %s", args, got)
		}
	}
	big := map[string]any{"content": strings.Repeat("x", 5<<20)}
	if got := runner(
		t,
		config.Hooks{"h": one("post", "true")},
	).RunPost(t.Context(), "Write", big, "", dir); got != (hooks.Result{}) {
		t.Errorf("a hook that does not read: %+v", got)
	}
}

// HK-13: the interpreter is built in; no shell is needed.
func TestNoShell(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	script := `a=(one two); for x in "${a[@]}"; do [[ $x == t* ]] && echo "$x"; done; true`
	if got := runner(
		t,
		config.Hooks{"h": one("pre", script)},
	).RunPre(t.Context(), "Bash", nil, t.TempDir()); got != said(
		"two",
	) {
		t.Errorf("%+v", got)
	}
}

// HK-16: a hook that takes too long is killed with all its children and does not block.
func TestTimeout(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	h := config.Hook{Event: "pre", Command: "sh -c 'echo $$ >pid; exec sleep 1000'", Timeout: 300 * time.Millisecond}
	got := runner(t, config.Hooks{"h": h}).RunPre(t.Context(), "Bash", nil, dir)
	if got.Blocked || got.Message != "[Hook: h]:\nhook \"h\" timed out after 300ms" {
		t.Errorf("%+v", got)
	}
	h.OnFailure = string(lifecycle.Deny)
	if got := runner(t, config.Hooks{"h": h}).RunPre(t.Context(), "Bash", nil, dir); !got.Blocked {
		t.Errorf("a closed gate that times out: %+v", got)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid)) + "/status"); err == nil && runtime.GOOS == "linux" {
		t.Errorf("process %s is still there", pid)
	}
}

// HK-93: when the user cancels, nothing is said, also if the hook said something before.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	r := runner(t, config.Hooks{"h": one("pre", "echo hi; touch said; sleep 1000"), "i": one("pre", "touch later")})
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "said")); err == nil {
				cancel()
			}
			runtime.Gosched()
		}
	}()
	if got := r.RunPre(ctx, "Bash", nil, dir); got != (hooks.Result{}) {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "later")); err == nil {
		t.Error("the next hook ran")
	}
}

// The events that the configuration allows are the moments that hooks can have.
func TestEvents(t *testing.T) {
	field, _ := reflect.TypeFor[config.Hook]().FieldByName("Event")
	allowed := strings.Fields(field.Tag.Get("enum"))
	var want []string
	for _, row := range lifecycle.Moments() {
		if row.Hook != "" {
			want = append(want, row.Hook)
		}
	}
	slices.Sort(allowed)
	slices.Sort(want)
	if !slices.Equal(allowed, want) {
		t.Errorf("config allows %v, the table has %v", allowed, want)
	}
}
