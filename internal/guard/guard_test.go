package guard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/guard"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/sdk"
)

// world is the guards in front of the built-in tools, in a directory of their own.
type world struct {
	t         *testing.T
	dir       string
	config    guard.Config
	err       error // Of Options.For.
	reads     guard.Reads
	approvals guard.Approvals
	tools     []tool.Tool
	pipeline  *lifecycle.Pipeline
}

func newWorld(t *testing.T, c guard.Config) *world {
	w := &world{
		t:        t,
		dir:      t.TempDir(),
		config:   c,
		tools:    tools.New(tools.Options{}),
		pipeline: lifecycle.New(lifecycle.Options{}),
	}
	w.pipeline.Bind(lifecycle.Guard, guard.Bindings(guard.Options{
		Tool: w.tool, Reads: &w.reads, Approvals: &w.approvals,
		For: func(string, string) (guard.Config, error) { return w.config, w.err },
	}))
	return w
}

func (w *world) tool(name string) (tool.Tool, bool) {
	i := slices.IndexFunc(w.tools, func(x tool.Tool) bool { return x.Name == name })
	if i < 0 {
		return tool.Tool{}, false
	}
	return w.tools[i], true
}

type args = map[string]any

// judge is what the guards say to a call: "", "block: reason" or "ask: reason".
func (w *world) judge(name string, a args, auto bool) string {
	w.t.Helper()
	out := w.pipeline.Dispatch(
		w.t.Context(),
		lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{
			Context: sdk.Context{Agent: "main", Workdir: w.dir, Auto: auto}, ToolName: name, Arguments: a,
		}},
		nil,
	)
	switch {
	case out.Blocked != nil:
		return "block: " + out.Blocked.Reason
	case len(out.Asks) > 0:
		return "ask: " + out.Asks[0].Reason
	}
	return ""
}

// call lets the guards judge a call, makes it, and lets them see the result.
func (w *world) call(name string, a args) string {
	w.t.Helper()
	if verdict := w.judge(name, a, false); verdict != "" {
		return verdict
	}
	t, _ := w.tool(name)
	r, err := t.Execute(w.t.Context(), tool.Call{Args: a, Workdir: w.dir})
	data := &sdk.AfterToolContext{
		Context:    sdk.Context{Workdir: w.dir},
		ToolName:   name,
		Arguments:  a,
		ToolResult: r.Text,
	}
	if err != nil {
		data.ToolError = err.Error()
	}
	w.pipeline.Dispatch(w.t.Context(), lifecycle.Event{Moment: lifecycle.AfterToolExecution, Data: data}, nil)
	if err != nil {
		return "error: " + err.Error()
	}
	return ""
}

// ok makes a call that must go through.
func (w *world) ok(name string, a args) {
	w.t.Helper()
	if got := w.call(name, a); got != "" {
		w.t.Fatalf("%s %v: %s", name, a, got)
	}
}

// refused makes a call that must be refused with a reason that contains want.
func (w *world) refused(want, name string, a args) {
	w.t.Helper()
	if got := w.call(name, a); !strings.HasPrefix(got, "block: ") || !strings.Contains(got, want) {
		w.t.Fatalf("%s %v: %q, want a refusal with %q", name, a, got, want)
	}
}

// file writes a file with a time of change that differs from that of all before.
func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func patch(body string) args { return args{"patch": "*** Begin Patch\n" + body + "*** End Patch\n"} }

// HO-36: a file that exists can be changed only after it was read, in the state in
// which it was read.
func TestReadBeforeWrite(t *testing.T) {
	const unread, changed = "has not been read in this session", "has changed since it was read"
	w := newWorld(t, guard.Config{ReadBefore: guard.ReadBefore{Write: true}})
	w.ok("Write", args{"path": "new.txt", "content": "x"}) // A new file needs no reading,
	w.ok("Write", args{"path": "new.txt", "content": "y"}) // and its author knows it.
	w.ok("Edit", args{"file_path": "new.txt", "old_string": "y", "new_string": "z"})
	w.ok("Patch", patch("*** Update File: new.txt\n@@\n-z\n+a\n"))
	w.ok("Write", args{"path": "./sub/../new.txt", "content": "b"})

	w.file("old.txt", "one\n")
	w.refused(unread, "Write", args{"path": "old.txt", "content": "x"})
	w.refused(
		"Read it before changing it",
		"Edit",
		args{"file_path": "old.txt", "old_string": "one", "new_string": "two"},
	)
	w.refused(unread, "Patch", patch("*** Update File: old.txt\n@@\n-one\n+two\n"))
	w.refused(unread, "Patch", patch("*** Update File: old.txt\n*** Move to: moved.txt\n@@\n-one\n+two\n"))
	// Deleting a file and making it anew is changing it, under any name.
	w.refused(unread, "Patch", patch("*** Delete File: old.txt\n*** Add File: old.txt\n+two\n"))
	w.refused(
		unread,
		"Patch",
		patch("*** Delete File: ./x/../old.txt\n*** Add File: "+filepath.Join(w.dir, "old.txt")+"\n+two\n"),
	)
	w.refused(
		unread,
		"Patch",
		patch(
			"*** Delete File: "+filepath.Join(
				w.dir,
				"old.txt",
			)+"\n*** Add File: ../"+filepath.Base(
				w.dir,
			)+"/old.txt\n+two\n",
		),
	)
	w.refused(
		unread,
		"Patch",
		patch("*** Delete File: old.txt\n*** Update File: new.txt\n*** Move to: old.txt\n@@\n-b\n+c\n"),
	)
	w.file("gone/old.txt", "x\n")
	w.ok("Patch", patch("*** Delete File: gone/old.txt\n*** Add File: made/old.txt\n+x\n"))
	w.ok("Read", args{"path": "old.txt"})
	w.ok("Patch", patch("*** Delete File: old.txt\n*** Add File: old.txt\n+one\n"))
	w.ok("Edit", args{"file_path": "old.txt", "old_string": "one", "new_string": "two"})
	w.ok("Edit", args{"file_path": "old.txt", "old_string": "two", "new_string": "three"})

	w.file("old.txt", "somebody else was here\n")
	w.refused(changed, "Write", args{"path": "old.txt", "content": "x"})
	w.ok("Read", args{"path": "old.txt"})
	// The same size, another time.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, "old.txt"), later, later); err != nil {
		t.Fatal(err)
	}
	w.refused(changed, "Write", args{"path": "old.txt", "content": "x"})

	// A read that failed shows nothing.
	if got := w.call("Read", args{"path": "gone.txt"}); !strings.HasPrefix(got, "error: ") {
		t.Errorf("reading nothing: %q", got)
	}
	w.file("gone.txt", "back\n")
	w.refused(unread, "Write", args{"path": "gone.txt", "content": "x"})

	// Deleted and made anew by somebody else.
	w.ok("Patch", patch("*** Delete File: new.txt\n"))
	w.file("new.txt", "b")
	w.refused(unread, "Write", args{"path": "new.txt", "content": "x"})
}

// HO-36: a file is the same file under all its names.
func TestReadBeforeWriteLinks(t *testing.T) {
	w := newWorld(t, guard.Config{ReadBefore: guard.ReadBefore{Write: true}})
	file := w.file("dir/real.txt", "x")
	link, linked := filepath.Join(w.dir, "link.txt"), filepath.Join(w.dir, "linked")
	if err := errors.Join(os.Symlink(file, link), os.Symlink(filepath.Join(w.dir, "dir"), linked)); err != nil {
		t.Fatal(err)
	}
	w.refused("has not been read", "Write", args{"path": "link.txt", "content": "y"})
	w.ok("Read", args{"path": "linked/real.txt"})
	w.ok("Write", args{"path": "dir/real.txt", "content": "y"})
	w.ok("Edit", args{"file_path": "link.txt", "old_string": "y", "new_string": "z"})
}

// HO-36: the switches for writing and deleting are independent.
func TestReadBeforeSwitches(t *testing.T) {
	for _, c := range []struct{ write, remove bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		w := newWorld(t, guard.Config{ReadBefore: guard.ReadBefore{Write: c.write, Delete: c.remove}})
		w.file("a", "x")
		w.file("b", "x")
		if got := w.call("Write", args{"path": "a", "content": "y"}); (got != "") != c.write {
			t.Errorf("%+v: write %q", c, got)
		}
		got := w.call("Patch", patch("*** Delete File: b\n"))
		if (got != "") != c.remove || got != "" && !strings.Contains(got, "Read it before deleting it") {
			t.Errorf("%+v: delete %q", c, got)
		}
		if got != "" {
			w.ok("Read", args{"path": "b"})
			w.ok("Patch", patch("*** Delete File: b\n"))
		}
	}
	on, off := true, false
	s := guard.ReadSwitches{Write: &off, Delete: &on}
	if got := s.Apply(guard.ReadBefore{Write: true}); got != (guard.ReadBefore{Delete: true}) {
		t.Errorf("switches give %+v", got)
	}
}

// Files that were seen in an earlier run count, unless they changed after it.
func TestReadsRestored(t *testing.T) {
	w := newWorld(t, guard.Config{})
	same, changed := w.file("same", "x"), w.file("changed", "x")
	end := time.Now()
	old, late := end.Add(-time.Hour), end.Add(time.Hour)
	if err := errors.Join(os.Chtimes(same, old, old), os.Chtimes(changed, late, late)); err != nil {
		t.Fatal(err)
	}
	var r guard.Reads
	r.Restore([]string{same, changed, filepath.Join(w.dir, "gone")}, end)
	if r.Stale(same) != "" || r.Stale(changed) == "" || len(r.Files()) != 1 {
		t.Errorf("same %q, changed %q, files %v", r.Stale(same), r.Stale(changed), r.Files())
	}
}

// HO-35: deny beats confirm, auto lifts confirm, what no rule matches is allowed.
func TestPolicyOrder(t *testing.T) {
	for _, c := range []struct {
		rules guard.Rules
		auto  bool
		want  string
	}{
		{guard.Rules{}, false, ""},
		{guard.Rules{Confirm: []string{"Read"}}, false, ""},
		{guard.Rules{Confirm: []string{"Bash"}}, false, "ask: tool policy, confirm: Bash"},
		{guard.Rules{Confirm: []string{"B*"}}, false, "ask: tool policy, confirm: B*"},
		{guard.Rules{Confirm: []string{"*"}}, true, ""},
		{guard.Rules{Confirm: []string{"*"}, Auto: []string{"Bash"}}, false, ""},
		{guard.Rules{Confirm: []string{"*"}, Auto: []string{"Bash:git status*"}}, false, ""},
		{
			guard.Rules{Confirm: []string{"*"}, Auto: []string{"Bash:git push*", "Read"}}, false,
			"ask: tool policy, confirm: *",
		},
		{
			guard.Rules{Deny: []string{"Bash:git*"}, Confirm: []string{"*"}, Auto: []string{"*"}}, true,
			"block: denied by the tool policy (deny: Bash:git*)",
		},
		{guard.Rules{Deny: []string{"bash"}}, false, ""}, // Tool names are case-sensitive. HO-59
		{guard.Rules{Auto: []string{"Read"}}, false, ""},
		{guard.Rules{Confirm: []string{"*:*"}, Auto: []string{"Bash:git status -s"}}, false, ""},
	} {
		w := newWorld(t, guard.Config{Rules: c.rules})
		if got := w.judge("Bash", args{"command": "git status -s"}, c.auto); got != c.want {
			t.Errorf("%+v auto %v: %q, want %q", c.rules, c.auto, got, c.want)
		}
	}
}

// HO-35: patterns for commands look at every simple command of a script; approval
// must cover all of them.
func TestPolicyCommands(t *testing.T) {
	for _, c := range []struct{ command, deny, allow string }{
		{"git push", "block", "pass"},
		{"  git push origin main  ", "block", "pass"},
		{"cd x && git push", "block", "ask"},
		{"cd x; git push &", "block", "ask"},
		{"echo $(git push)", "block", "ask"},
		{"echo `git push`", "block", "ask"},
		{"if true; then git push; fi", "block", "ask"},
		{"(git push)", "block", "pass"},
		{"git push && git push --tags", "block", "pass"},
		{"true | git push", "block", "ask"},
		{"FORCE=1 git push", "block", "ask"}, // Variables and files are more than the command,
		{"GIT_SSH=x; git push", "block", "ask"},
		{"export GIT_SSH=x; git push", "block", "ask"},
		{"for GIT_SSH in x; do git push; done", "block", "ask"},
		{"git push > log", "block", "ask"},
		{"{ git push; } >> log", "block", "ask"},
		{"git push >/dev/null 2>&1", "block", "pass"}, // unless nothing is kept.
		{"'git' \"push\"", "block", "pass"},
		{"f() { git push; }; f", "block", "ask"},
		{"git pull", "pass", "ask"},
		{"echo git push", "pass", "ask"},
		{"git push 'unclosed", "block", "ask"}, // What cannot be parsed is judged as text.
	} {
		w := newWorld(t, guard.Config{Rules: guard.Rules{Deny: []string{"Bash:git push*"}}})
		if got := verdict(w.judge("Bash", args{"command": c.command}, false)); got != c.deny {
			t.Errorf("deny: %q: %s, want %s", c.command, got, c.deny)
		}
		w = newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"Bash"}, Auto: []string{"Bash:git push*"}}})
		if got := verdict(w.judge("Bash", args{"command": c.command}, false)); got != c.allow {
			t.Errorf("auto: %q: %s, want %s", c.command, got, c.allow)
		}
	}
}

// HO-35: what refuses a command refuses it inside of others; what allows one allows
// neither what is around it nor what is inside.
func TestPolicyInside(t *testing.T) {
	const auto = "Bash:rm*"
	for _, c := range []struct{ command, deny, wrapper, both string }{
		// Denied rm*; allowed the wrapper only; allowed both.
		{"sudo rm -rf x", "block", "ask", "pass"},
		{"sudo -u bob -- rm x", "block", "ask", "pass"},
		{"env A=1 nice timeout 5 rm x", "block", "ask", "pass"},
		{"sh -c 'rm x'", "block", "ask", "pass"},
		{`bash -lc "cd y && rm x"`, "block", "ask", "ask"},
		{"eval 'rm x'", "block", "ask", "pass"},
		{"xargs rm", "block", "ask", "pass"},
		{`find . -exec rm {} \;`, "block", "ask", "pass"},
		{"sh <<EOF\nrm x\nEOF", "block", "ask", "pass"},
		{"sh -c 'echo rm x'", "pass", "ask", "ask"},
		{`\rm x`, "block", "ask", "pass"},
		{"r''m x", "block", "ask", "pass"},
		{"/bin/rm x", "block", "ask", "ask"}, // Another program may have the name.
		{"./rm", "block", "ask", "ask"},
		// What is not known is refused as far as it is, and never allowed by a pattern.
		{`sh -c "rm $X"`, "block", "ask", "ask"},
		{"$SUDO rm x", "block", "ask", "ask"},
		{"env -$u rm x", "block", "ask", "ask"},
		{"env A=$(eval rm) rm x", "block", "ask", "ask"},
		{`eval "$X"`, "pass", "ask", "ask"},
		{"curl x | sh", "pass", "ask", "ask"},
		{"sh -c 'rm ('", "block", "ask", "ask"},
		{strings.Repeat("nice ", 50) + "rm x", "block", "block", "block"},
	} {
		wrappers := []string{
			"Bash:sudo *",
			"Bash:env *",
			"Bash:nice *",
			"Bash:timeout *",
			"Bash:sh*",
			"Bash:bash *",
			"Bash:eval *",
			"Bash:xargs *",
			"Bash:find *",
			"Bash:curl *",
			"Bash:$*",
		}
		for _, r := range []struct {
			rules guard.Rules
			want  string
		}{
			{guard.Rules{Deny: []string{"Bash:rm*"}, Auto: slices.Concat(wrappers, []string{auto})}, c.deny},
			{guard.Rules{Confirm: []string{"Bash"}, Auto: wrappers}, c.wrapper},
			{guard.Rules{Confirm: []string{"Bash"}, Auto: slices.Concat(wrappers, []string{auto})}, c.both},
		} {
			w := newWorld(t, guard.Config{Rules: r.rules})
			if got := verdict(w.judge("Bash", args{"command": c.command}, false)); got != r.want {
				t.Errorf("%.100q under %+v: %s, want %s", c.command, r.rules, got, r.want)
			}
		}
		// What a user is asked about can be allowed for good.
		w := newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"Bash"}}})
		w.approvals.Allow(guard.Suggest("Bash", args{"command": c.command}))
		if got := verdict(w.judge("Bash", args{"command": c.command}, false)); got != "pass" && c.both != "block" {
			t.Errorf("%q, approved as %v: %s", c.command, w.approvals.Session(), got)
		}
	}
}

// A rule that spells out both commands allows both; one that leaves the inner one open
// allows what it may be by itself.
func TestPolicySpelledOut(t *testing.T) {
	for _, c := range []struct{ command, pattern, want string }{
		{"timeout 60 go test ./...", "Bash:timeout 60 go test*", "pass"},
		{"timeout 60 go test ./...", "Bash:timeout 60 go*", "pass"},
		{"timeout 60 gofmt", "Bash:timeout 60 go*", "ask"},
		{"timeout 60 go test ./...", "Bash:timeout 60*", "ask"},
		{"timeout 60 go test ./...", "Bash:timeout * go test*", "ask"},
		{"timeout 60 go test ./...", "Bash:go test*", "ask"},
		{"sudo nice go test", "Bash:sudo nice go*", "pass"},
		{"sudo nice go test", "Bash:sudo nice*", "ask"},
		{"timeout 60 sh -c 'go test'", "Bash:timeout 60 sh -c go*", "ask"},
		{"timeout 60 go test; rm x", "Bash:timeout 60 go test*", "ask"},
	} {
		w := newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"Bash"}, Auto: []string{c.pattern}}})
		if got := verdict(w.judge("Bash", args{"command": c.command}, false)); got != c.want {
			t.Errorf("%q under %s: %s, want %s", c.command, c.pattern, got, c.want)
		}
	}
}

// A user who approves a script as a whole is not asked about it again, nor about it
// alone; a rule that says "anything" holds also for calls that are about nothing.
func TestPolicyWhole(t *testing.T) {
	w := newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"Bash"}}})
	script := "cd x && rm *.o"
	w.approvals.Allow(guard.Suggest("Bash", args{"command": script}))
	w.approvals.Allow("Bash:=rm a*")
	for command, want := range map[string]string{
		"rm a*": "pass", "rm a*; rm a*": "pass", "rm abc": "ask", "rm a* b*": "ask", "sudo rm a*": "ask",
		script: "pass", " " + script + "\n": "pass", script + " && rm y": "ask", "rm *.o": "ask",
		"cd x && rm a.o": "ask",
	} {
		if got := verdict(w.judge("Bash", args{"command": command}, false)); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
	w.config.Rules = guard.Rules{Deny: []string{"Bash:=rm *"}}
	for command, want := range map[string]string{"cd x; rm *": "block", "rm x": "pass"} {
		if got := verdict(w.judge("Bash", args{"command": command}, false)); got != want {
			t.Errorf("deny of exactly rm *: %q: %s, want %s", command, got, want)
		}
	}
	w.config.Rules = guard.Rules{Deny: []string{"Bash:cd * && rm*", "TodoList:*"}}
	if got := verdict(w.judge("Bash", args{"command": script}, false)); got != "block" {
		t.Errorf("deny by the whole script: %s", got)
	}
	if got := verdict(w.judge("TodoList", args{}, false)); got != "block" {
		t.Errorf("deny of anything: %s", got)
	}
}

// verdict is the first word of what judge says.
func verdict(s string) string {
	word, _, _ := strings.Cut(s, ":")
	if word == "" {
		return "pass"
	}
	return word
}

// HO-35: patterns for paths see through relative spellings, "..", and links. Where a
// link leads decides about approval; both ends count for a refusal.
func TestPolicyPaths(t *testing.T) {
	w := newWorld(t, guard.Config{})
	outside := t.TempDir()
	for _, dir := range []string{"src", "keep"} {
		if err := os.Mkdir(filepath.Join(w.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"src/out": outside, "src/in": filepath.Join(w.dir, "keep"), "src/new": filepath.Join(outside, "new"),
		"src/loop": "loop", "src/rel": "../keep/not/there",
	} {
		if err := os.Symlink(to, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	real, err := filepath.EvalSymlinks(outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, pattern string
		deny, allow   string
	}{
		{"src/a.go", "Write:src/*", "block", "pass"},
		{"./src/../src/a.go", "Write:src/*", "block", "pass"},
		{"src/deep/er/a.go", "Write:src/*", "block", "pass"},
		{filepath.Join(w.dir, "src/a.go"), "Write:src/*", "block", "pass"},
		{"src/a.go", "Write:" + w.dir + "/src/*", "block", "pass"},
		{"src/a.go", "W*:*.go", "block", "pass"},
		{"src/a.go", "Edit:src/*", "pass", "ask"},
		{"src/../a.go", "Write:src/*", "pass", "ask"},
		{"../a.go", "Write:src/*", "pass", "ask"},
		{"srcs/a.go", "Write:src/*", "pass", "ask"},
		{"src/out/a.go", "Write:src/*", "block", "ask"},           // Leaves src,
		{"src/out/a.go", "Write:" + real + "/*", "block", "pass"}, // and is found there.
		{"src/out/not/there/a.go", "Write:" + real + "/*", "block", "pass"},
		{"src/new", "Write:" + real + "/*", "block", "pass"}, // A link to what is not there yet.
		{"src/new", "Write:src/*", "block", "ask"},
		{"src/new/er/a.go", "Write:" + real + "/new/*", "block", "pass"},
		{"src/loop/a.go", "Write:src/*", "block", "pass"}, // Leads nowhere at all.
		{"src/rel/a.go", "Write:keep/*", "block", "pass"},
		{"src/in/a.go", "Write:keep/*", "block", "pass"},
		{"src/in/a.go", "Write:src/*", "block", "ask"},
	} {
		a := args{"path": c.path, "content": ""}
		w.config.Rules = guard.Rules{Deny: []string{c.pattern}}
		if got := verdict(w.judge("Write", a, false)); got != c.deny {
			t.Errorf("deny %s: %s: %s, want %s", c.pattern, c.path, got, c.deny)
		}
		w.config.Rules = guard.Rules{Confirm: []string{"Write"}, Auto: []string{c.pattern}}
		if got := verdict(w.judge("Write", a, false)); got != c.allow {
			t.Errorf("auto %s: %s: %s, want %s", c.pattern, c.path, got, c.allow)
		}
	}
	// All files of a patch count.
	two := patch("*** Add File: src/a\n+x\n*** Add File: keep/b\n+x\n")
	w.config.Rules = guard.Rules{Deny: []string{"Patch:keep/*"}}
	if got := verdict(w.judge("Patch", two, false)); got != "block" {
		t.Errorf("deny for one file of a patch: %s", got)
	}
	w.config.Rules = guard.Rules{Confirm: []string{"Patch"}, Auto: []string{"Patch:src/*"}}
	if got := verdict(w.judge("Patch", two, false)); got != "ask" {
		t.Errorf("auto for one file of a patch: %s", got)
	}
	w.config.Rules.Auto = []string{"Patch:src/*", "Patch:keep/*"}
	if got := verdict(w.judge("Patch", two, false)); got != "pass" {
		t.Errorf("auto for both files of a patch: %s", got)
	}
}

// A working directory that is reached through a link is no detour.
func TestPolicyLinkedWorkdir(t *testing.T) {
	w := newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"Write"}}})
	link := filepath.Join(t.TempDir(), "project")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	w.dir = link
	for _, pattern := range []string{"Write:*.go", "Write:a.go", "Write:" + link + "/*"} {
		w.config.Rules.Auto = []string{pattern}
		if got := w.judge("Write", args{"path": "a.go", "content": ""}, false); got != "" {
			t.Errorf("%s: %s", pattern, got)
		}
	}
}

// A tool that wants approval for itself gets it like by a rule.
func TestToolWantsApproval(t *testing.T) {
	w := newWorld(t, guard.Config{})
	w.tools = append(
		w.tools,
		tool.Tool{Name: "Deploy", Confirm: true, Source: tool.Source{Kind: "extension", Name: "ops"}},
	)
	if got := w.judge("Deploy", args{}, false); got != `ask: extension "ops" wants approval for Deploy` {
		t.Errorf("%q", got)
	}
	if got := w.judge("Deploy", args{}, true); got != "" {
		t.Errorf("auto mode: %q", got)
	}
	w.approvals.Allow("Deploy")
	if got := w.judge("Deploy", args{}, false); got != "" {
		t.Errorf("approved: %q", got)
	}
}

// A guard that cannot know the rules refuses.
func TestGuardsFailClosed(t *testing.T) {
	w := newWorld(t, guard.Config{})
	w.err = errors.New("no such agent")
	if got := w.judge(
		"Ls",
		args{},
		false,
	); !strings.HasPrefix(got, "block: ") ||
		!strings.Contains(got, "no such agent") {
		t.Errorf("%q", got)
	}
	w.err = nil
	w.config.ReadBefore.Write = true
	if got := w.judge("Patch", args{"patch": "nonsense"}, false); !strings.HasPrefix(got, "block: ") {
		t.Errorf("a patch nobody can read: %q", got)
	}
}

// HO-35: approvals are kept in a file, once each, beside what is there.
func TestApprovals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config", "rules", "approvals.yaml")
	var a guard.Approvals
	a.Allow("Read", "Read")
	for _, p := range []string{"Bash:go *", "Bash:go *", "Write:src/*"} {
		if err := a.Save(file, p); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "Bash:go *") != 1 || !strings.Contains(string(text), "tool_auto:") {
		t.Errorf("%v:\n%s", err, text)
	}
	if got := a.Session(); !slices.Equal(got, []string{"Read"}) {
		t.Errorf("session %v", got)
	}
	w := newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"*"}}})
	w.approvals.Restore([]string{"Bash:go *"})
	if got := w.judge("Bash", args{"command": "go test ./..."}, false); got != "" {
		t.Errorf("%q", got)
	}
	if got := w.judge("Bash", args{"command": "go test; rm x"}, false); verdict(got) != "ask" {
		t.Errorf("%q", got)
	}
	// A file without content is no obstacle, a broken one is left alone.
	empty, broken := filepath.Join(t.TempDir(), "empty.yaml"), filepath.Join(t.TempDir(), "broken.yaml")
	if err := errors.Join(
		os.WriteFile(empty, nil, 0o644),
		os.WriteFile(broken, []byte("tool_auto: {"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	if err := a.Save(empty, "Read"); err != nil {
		t.Error(err)
	}
	if err := a.Save(broken, "Read"); err == nil || !strings.Contains(err.Error(), "broken.yaml") {
		t.Errorf("error %v", err)
	}
}

func TestSuggest(t *testing.T) {
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"Bash", args{"command": "git push origin main"}, "Bash:git push*"},
		{"Bash", args{"command": "go test ./..."}, "Bash:go test*"},
		{"Bash", args{"command": "'go' \"test\" >/dev/null"}, "Bash:go test*"},
		{"Bash", args{"command": "gh pr view 5"}, "Bash:gh pr view*"},
		{"Bash", args{"command": "timeout 60 go test ./..."}, "Bash:timeout 60 go test*"},
		{"Bash", args{"command": "sudo -n systemctl restart x"}, "Bash:sudo -n systemctl restart*"},
		// No more than what was seen.
		{"Bash", args{"command": "make"}, "Bash:make"},
		{"Bash", args{"command": "rm -rf build"}, "Bash:rm -rf build"},
		{"Bash", args{"command": "sudo ls x"}, "Bash:sudo ls x"},
		{"Bash", args{"command": "python3 -c 'print(1)'"}, "Bash:python3 -c 'print(1)'"},
		{"Bash", args{"command": "git -C x push"}, "Bash:git -C x push"},
		{"Bash", args{"command": "git -c alias.x=y x"}, "Bash:git -c alias.x=y x"},
		{"Bash", args{"command": "./git push"}, "Bash:./git push"},
		{"Bash", args{"command": "go run ./x"}, "Bash:go run ./x"},
		{"Bash", args{"command": "npm run build"}, "Bash:npm run build"},
		{"Bash", args{"command": "make X=1 all"}, "Bash:make X=1 all"},
		{"Bash", args{"command": "gh api x"}, "Bash:gh api x"},
		{"Bash", args{"command": "gh repo"}, "Bash:gh repo"},
		{"Bash", args{"command": "env FOO=1 ls"}, "Bash:env FOO=1 ls"},
		{"Bash", args{"command": "git push > log"}, "Bash:git push > log"},
		{"Bash", args{"command": "A=1 git push"}, "Bash:A=1 git push"},
		{"Bash", args{"command": "cd x && rm y"}, "Bash:cd x && rm y"},
		{"Bash", args{"command": "xargs rm"}, "Bash:xargs rm"},
		{"Bash", args{"command": "sh -c 'rm x'"}, "Bash:sh -c 'rm x'"},
		{"Bash", args{"command": "$X rm"}, "Bash:$X rm"},
		{"Bash", args{"command": "rm *.o"}, "Bash:=rm *.o"},
		{"Bash", args{"command": "*"}, "Bash:=*"},
		{"Bash", args{"command": "=x"}, "Bash:==x"},
		{"Bash", args{"command": "rm -rf tmp\nls /\n"}, "Bash:=rm -rf tmp\nls /"},
		{"Bash", args{"command": "git push \\\n  origin"}, "Bash:git push*"},
		{"Write", args{"path": "src/a/b.go"}, "Write:src/a/*"},
		{"Edit", args{"file_path": "/srv/app/x.go"}, "Edit:/srv/app/x.go"},
		{"Edit", args{"file_path": "../app/x.go"}, "Edit:../app/x.go"},
		{"Edit", args{"file_path": ".git/config"}, "Edit:.git/config"},
		{"Edit", args{"file_path": "a/.b/c"}, "Edit:a/.b/c"},
		{"Edit", args{"file_path": "a/.env"}, "Edit:a/.env"},
		{"Write", args{"path": "a*/b.go"}, "Write:=a*/b.go"},
		{"Write", args{"path": "a\nb/c.go"}, "Write:=a\nb/c.go"},
		{"Write", args{"path": "a.go"}, "Write:a.go"}, // Not everything.
		{"Write", args{"path": "./a.go"}, "Write:a.go"},
		{"Write", args{"path": "/a.go"}, "Write:/a.go"},
		{"Ls", args{}, "Ls"},
	} {
		if got := guard.Suggest(c.name, c.args); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.name, c.args, got, c.want)
		}
	}
}

// HO-35: the pattern for a command of several lines comes back from the file as it was, and
// allows this command and no other.
func TestApprovalOfLines(t *testing.T) {
	for _, command := range []string{
		"echo a\necho b", "echo a\r\necho b", "if x; then\n\ty\nfi", "cat <<EOF\n  - a: b\n---\n...\nEOF",
		"# '\"\necho *", "echo 'a \n\n\n b'",
		"echo a \\\n  b \\\n c > x", "echo \u0085\u2028\ufeff\necho \x1b",
		"echo " + strings.Repeat("long ", 100) + "\necho b",
	} {
		file := filepath.Join(t.TempDir(), "approvals.yaml")
		var a guard.Approvals
		for _, p := range []string{"Read", guard.Suggest("Bash", args{"command": command}), "Ls"} {
			if err := a.Save(file, p); err != nil {
				t.Fatal(err)
			}
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kept map[string][]string
		if err := yaml.Unmarshal(src, &kept); err != nil || !slices.Equal(kept["tool_auto"], a.Patterns()) {
			t.Errorf("%q: %v, kept as %q", command, err, kept)
		}
		w := newWorld(t, guard.Config{Rules: guard.Rules{Confirm: []string{"*"}}})
		w.approvals.Restore(kept["tool_auto"])
		if got := w.judge("Bash", args{"command": command}, false); got != "" {
			t.Errorf("%q: %q", command, got)
		}
		blanks := strings.NewReplacer("\r", "", "\n", " ").Replace(command)
		for _, other := range []string{
			blanks, command + "\nls", "ls\n" + command, command + " b",
			strings.Replace(command, "\n", "\n\n", 1) + " #",
		} {
			if got := w.judge("Bash", args{"command": other}, false); verdict(got) != "ask" {
				t.Errorf("%q is allowed by the pattern for %q", other, command)
			}
		}
	}
}

// Rules that can match nothing are named, with what was probably meant.
func TestRulesMistakes(t *testing.T) {
	names := []string{"Bash", "Read", "Write", "gotify"}
	for pattern, want := range map[string]string{
		"Bash": "", "Bash:rm *": "", "*": "", "*:x": "", "B*": "", "mcp__x__y": "", "mcp__*": "", "Write:/etc/(x)": "",
		"Bash:echo (a b)": "", "gotify": "",
		"bash":             `there is no tool "bash" (did you mean "Bash"?)`,
		"Bsh:rm*":          `there is no tool "Bsh" (did you mean "Bash:rm*"?)`,
		"Deploy":           `there is no tool "Deploy" (it may come from an extension that is off)`,
		"Bash(rm *)":       `it is no rule (did you mean "Bash:rm *"?)`,
		"Bash(git push:*)": `it is no rule (did you mean "Bash:git push*"?)`,
		"bash(a:b)":        `it is no rule (did you mean "Bash:a:b"?)`,
		"Bash rm*":         `it is no rule (did you mean "Bash:rm*"?)`,
		"Bash : rm*":       `it is no rule (did you mean "Bash: rm*"?)`,
		"(":                `it is no rule (it may`,
		"":                 `there is no tool "" (it may`,
	} {
		got := guard.Rules{Confirm: []string{pattern}}.Mistakes(names)
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%q: %v", pattern, got)
		case want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprintf("tools.policy.confirm: %q "+
			"matches nothing: %s", pattern, want))):
			t.Errorf("%q: %v, want %s", pattern, got, want)
		}
	}
}

func TestRulesText(t *testing.T) {
	r := guard.Rules{
		Auto: []string{"a"},
		Deny: []string{"x"},
	}.Add(
		guard.Rules{Confirm: []string{"b", "c"}, Deny: []string{"y"}},
	)
	if got, want := r.String(), "denied: x, y\nneed approval: b, c\napproved: a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (guard.Rules{}).String(); got != "" {
		t.Errorf("%q", got)
	}
}
