package manage

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
)

// MG-34 MG-35 MG-36 MG-38
func TestRemove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	single := w.repo("single", pluginFiles("", "single"))
	w.add(single)
	w.add(w.repo("tools", both(pluginFiles("gotify", "gotify"), pluginFiles("notepad", "notepad"))))
	w.write("local", both(pluginFiles("a", "a"), pluginFiles("b", "b")))
	w.add(w.path("local"))
	w.write("project/.aura/plugins/mine/deep", pluginFiles("hand-made", "hand-made"))
	m := w.manager()
	before := w.snapshot()
	for _, member := range []string{"gotify", "a"} {
		_, err := m.Remove(t.Context(), member)
		wants(t, err, "part of the pack", "disabled: true", "aura plugins disable "+member)
	}
	_, err := m.Remove(t.Context(), "gotfy")
	wants(t, err, `no plugin "gotfy"`, `did you mean "gotify"?`, "notepad", "single")
	w.failWith = "record"
	if _, err := w.manager().Remove(t.Context(), "single"); err == nil {
		t.Error("no error")
	}
	w.failWith = ""
	w.unchanged(before)
	for _, name := range []string{"single", "tools", "local", "hand-made"} {
		if _, err := m.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if len(w.listed()) != 0 || w.exists(w.project(), lockName) || w.exists(w.plugins("tools")) ||
		w.exists(w.plugins("single")) ||
		!w.exists(w.path("single", "main.go")) {
		t.Errorf("left: %v", w.listed())
	}
	w.add(single)
}

// MG-02 MG-04 MG-09
func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(
		"project/.aura/plugins",
		both(
			pluginFiles("good", "good"),
			pluginFiles("off", "off"),
			pluginFiles("broken", "broken"),
			pluginFiles("nomod", "nomod"),
			map[string]string{
				"off/plugin.yaml": "disabled: true\n", "off/main.go": "package",
				"broken/main.go":   "package broken\nfunc {",
				"good/plugin.yaml": "description: does good\ncondition: auto\nonce: true\n",
			},
		),
	)
	if err := os.Remove(w.plugins("nomod", "go.mod")); err != nil {
		t.Fatal(err)
	}
	w.write("user/.aura/plugins", both(pluginFiles("everywhere", "everywhere"), pluginFiles("good", "good")))
	list, err := w.manager().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		where := "project"
		if p.Global {
			where = "global"
		}
		got = append(
			got,
			strings.Join(
				[]string{
					where,
					p.Name,
					p.Status,
					strings.Join(p.Capabilities(), ","),
					map[bool]string{true: "failed"}[p.Error != ""],
				},
				" ",
			),
		)
	}
	want := []string{
		"global everywhere enabled BeforeChat ",
		"global good shadowed  ",
		"project broken enabled  failed",
		"project good enabled BeforeChat ",
		"project nomod enabled  failed",
		"project off disabled  ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	p, err := w.manager().Show(t.Context(), "GOOD")
	if err != nil || p.Description != "does good" || p.Condition != "auto" || !p.Once ||
		!slices.Equal(p.Files, []string{"go.mod", "main.go", "plugin.yaml"}) {
		t.Errorf("show: %+v, %v", p, err)
	}
	if p, err = w.manager().Show(t.Context(), "nomod"); err != nil || !strings.Contains(p.Error, "go.mod") {
		t.Errorf("show: %+v, %v", p, err)
	}
	_, err = w.manager().Show(t.Context(), "gud")
	wants(t, err, `no plugin "gud"`, "broken", "everywhere", "nomod", "off")
}

// A user may move an installation, or delete it without asking.
func TestByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(w.repo("one", pluginFiles("", "one")))
	w.add(w.repo("two", pluginFiles("", "two")))
	if err := errors.Join(
		os.Mkdir(w.plugins("diagnostics"), 0o755),
		os.Rename(w.plugins("one"), w.plugins("diagnostics", "one")),
		os.RemoveAll(w.plugins("two")),
	); err != nil {
		t.Fatal(err)
	}
	w.commit("one", "second", map[string]string{"note": "x"})
	if _, err := w.update(UpdateOptions{}, "one"); err != nil || !w.exists(w.plugins("diagnostics", "one", "note")) {
		t.Fatal(err)
	}
	if r, err := w.manager().Remove(t.Context(), "two"); err != nil || r.Name != "two" {
		t.Error(r, err)
	}
	if got := w.verify(); got != nil {
		t.Errorf("verify: %q", got)
	}
	if _, err := w.manager().Remove(t.Context(), "two"); err == nil {
		t.Error("removed twice")
	}
}

// Nothing is touched but the plugins and the lock file.
func TestOnlyPlugins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(
		"project",
		map[string]string{
			"main.go":                        "x",
			".aura/config/features/x.yaml":   "x",
			".aura/plugins/mine/plugin.yaml": "disabled: true\n",
			"go.work":                        "go 1.1",
		},
	)
	before := w.snapshot()
	w.add(w.repo("repo", pluginFiles("", "repo")))
	for name := range w.snapshot() {
		if _, had := before[name]; !had &&
			!strings.HasPrefix(name, filepath.Join("project", ".aura", "plugins", "repo")) &&
			name != filepath.Join("project", ".aura", lockName) {
			t.Errorf("%s is new", name)
		}
	}
	w.commit("repo", "second", map[string]string{"note": "x"})
	if _, err := w.manager().Update(t.Context(), nil, UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.manager().Remove(t.Context(), "repo"); err != nil {
		t.Fatal(err)
	}
	w.unchanged(before)
}

func TestEditDisabled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		before   string
		disabled bool
		after    string // "" is an error.
	}{
		{"# top\ndescription: x # why\n", true, "# top\ndisabled: true\ndescription: x # why\n"},
		{"a: 1\ndisabled: false # default: false\nb: 2\n", true, "a: 1\ndisabled: true # default: false\nb: 2\n"},
		{"a: 1\ndisabled:   true\r\nb: 2\r\n", false, "a: 1\ndisabled:   false\r\nb: 2\r\n"},
		{"a: 1\r\n", true, "disabled: true\r\na: 1\r\n"},
		{"disabled: yes\n", true, "disabled: yes\n"},
		{"disabled: on # x\n", false, "disabled: false # x\n"},
		{"disabled: true\n", true, "disabled: true\n"},
		{"a: 1\n", false, "a: 1\n"},
		{"", true, "disabled: true\n"},
		{"# only a comment", true, "# only a comment\ndisabled: true\n"},
		{"---\ndescription: x\n", true, "---\ndisabled: true\ndescription: x\n"},
		{"{description: x}\n", true, "{disabled: true, description: x}\n"},
		{"{}\n", true, "{disabled: true}\n"},
		{"{ä: 1, disabled: true} # x\n", false, "{ä: 1, disabled: false} # x\n"},
		{"  a: 1\n  b: 2\n", true, "  disabled: true\n  a: 1\n  b: 2\n"},
		{"description: |\n  disabled: false\n", true, "disabled: true\ndescription: |\n  disabled: false\n"},
		{"config:\n  disabled: false\n", true, "disabled: true\nconfig:\n  disabled: false\n"},
		{"disabled: &a false\nconfig: {x: *a}\n", true, ""},
		{"- a\n", true, ""},
		{"a: [\n", true, ""},
		{"disabled: 7\n", true, ""},
	} {
		got, err := editDisabled([]byte(tt.before), tt.disabled)
		if (err != nil) != (tt.after == "") || err == nil && string(got) != tt.after {
			t.Errorf("%q: %q, %v", tt.before, got, err)
		}
	}
}

func FuzzEditDisabled(f *testing.F) {
	for _, s := range []string{"disabled: false # x\n", "a: 1\r\n", "{a: b}", "? a\n: b", "a: &x 1\nb: *x", "\ufeffa: 1", "%YAML 1.2\n---\na: 1\n..."} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, disabled bool) {
		out, err := editDisabled(text, disabled)
		if err != nil || string(out) == string(text) {
			return
		}
		if err := sameExcept(text, out, "disabled", disabled); err != nil {
			t.Errorf("%q became %q: %v", text, out, err)
		}
	})
}

func TestSetEnabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(w.repo("tools", both(pluginFiles("one", "one"), pluginFiles("two", "two"))))
	m := w.manager()
	if changed, err := m.SetEnabled(
		t.Context(),
		"tools",
		false,
	); err != nil ||
		!slices.Equal(infoNames(changed), []string{"one", "two"}) {
		t.Fatal(changed, err)
	}
	if changed, err := m.SetEnabled(t.Context(), "one", false); err != nil || len(changed) != 0 {
		t.Error(changed, err)
	}
	if _, err := m.SetEnabled(t.Context(), "one", true); err != nil {
		t.Error(err)
	}
	if list := w.listed(); list["one"].Status != "enabled" || list["two"].Status != "disabled" {
		t.Errorf("%+v", list)
	}
	// A user's switch is no damage.
	if list, n, err := m.Verify(t.Context()); err != nil || n != 1 || len(list) != 0 {
		t.Errorf("verify: %+v, %v", list, err)
	}
	_, err := m.Show(t.Context(), "tools")
	wants(t, err, `"tools" is a pack`, "one, two")
	if names, err := m.Names(t.Context()); err != nil || !slices.Equal(names, []string{"one", "tools", "two"}) {
		t.Errorf("names %v, %v", names, err)
	}
	_, err = m.SetEnabled(t.Context(), "tow", true)
	wants(t, err, `did you mean "two"?`)
}

// A new plugin with everything in it builds, loads and passes its test.
func TestScaffold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := NewOptions{Name: "my-plugin", Tool: true, Command: true}
	for _, row := range lifecycle.Moments() {
		o.Hooks = append(o.Hooks, strings.ToLower(row.Function))
	}
	dir, files, err := w.manager().Scaffold(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(files, []string{"go.mod", "main.go", "main_test.go", "plugin.yaml"}) {
		t.Errorf("files %v", files)
	}
	p := w.listed()["my-plugin"]
	if len(p.Hooks) != len(lifecycle.Moments()) || p.Tool != "MyPlugin" || p.Command != "my-plugin" || p.Error != "" ||
		!p.SDK.Compatible {
		t.Errorf("%+v", p)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
	cmd.Dir, cmd.Env = dir, append(slices.Clone(w.env), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok") {
		t.Errorf("go test: %v\n%s", err, out)
	}
	before := w.snapshot()
	for name, o := range map[string]NewOptions{
		"exists already":               {Name: "my-plugin"},
		"one word":                     {Name: "a/b"},
		"Go package name":              {Name: "1x"},
		"standard library":             {Name: "strings"},
		`did you mean "BeforeChat"?`:   {Name: "x", Hooks: []string{"BeforeChta"}},
		"lower case letters":           {Name: "Upper"},
		"there are SessionStart, User": {Name: "x", Hooks: []string{"zzzzzzzz"}},
	} {
		_, _, err := w.manager().Scaffold(t.Context(), o)
		wants(t, err, name)
	}
	w.unchanged(before)
	if _, _, err := w.manager().Scaffold(t.Context(), NewOptions{Name: "plain"}); err != nil {
		t.Fatal(err)
	}
	if p := w.listed()["plain"]; !slices.Equal(p.Hooks, []string{"BeforeChat"}) {
		t.Errorf("%+v", p)
	}
}

// sync is Sync as "name action" lines.
func (w *world) sync(o SyncOptions) (list []string, err error) {
	w.Helper()
	done, err := w.manager().Sync(w.Context(), o)
	for _, s := range done {
		list = append(list, s.Name+" "+s.Action)
	}
	return list, err
}

func (w *world) verify() (list []string) {
	w.Helper()
	found, _, err := w.manager().Verify(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, d := range found {
		list = append(list, d.Name+" "+d.What)
	}
	return list
}

// What is in the lock file can be installed again, also when the branch has moved
// on, and comes out the same, vendored code included.
func TestSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("GOPROXY=off")
	url := w.repo("repo", pluginFiles("", "repo"))
	if _, err := w.manager().Add(t.Context(), AddOptions{Source: url}); err != nil {
		t.Fatal(err)
	}
	w.add(w.repo("other", pluginFiles("", "other")), func(o *AddOptions) { o.Ref = "main" })
	locked := w.read(w.project(), lockName)
	before := w.listed()
	if got, err := w.sync(
		SyncOptions{},
	); err != nil ||
		!slices.Equal(got, []string{"other unchanged", "repo unchanged"}) {
		t.Errorf("%q, %v", got, err)
	}
	w.commit("repo", "second", map[string]string{"note": "x"})
	w.commit("other", "second", map[string]string{"note": "x"})
	if err := os.RemoveAll(w.plugins()); err != nil {
		t.Fatal(err)
	}
	if got := w.verify(); len(got) != 2 || !strings.Contains(got[0], "missing") {
		t.Errorf("verify: %q", got)
	}
	if got, err := w.sync(
		SyncOptions{},
	); err != nil ||
		!slices.Equal(got, []string{"other installed", "repo installed"}) {
		t.Fatalf("%q, %v", got, err)
	}
	if w.exists(w.plugins("repo", "note")) || w.read(w.project(), lockName) != locked ||
		w.listed()["repo"].Origin.Commit != before["repo"].Origin.Commit ||
		!w.exists(w.plugins("repo", "vendor")) ||
		w.exists(w.plugins("other", "vendor")) {
		t.Error("not what the lock file says")
	}
	if got := w.verify(); got != nil {
		t.Errorf("verify: %q", got)
	}
	// A newer lock file, as it comes with a pull.
	old := w.snapshot()
	if _, err := w.update(UpdateOptions{}, "other"); err != nil {
		t.Fatal(err)
	}
	w.write("project/.aura", map[string]string{lockName: old["project/.aura/plugins.lock"]})
	if got := w.verify(); len(got) != 1 || !strings.Contains(got[0], "it is commit") {
		t.Errorf("verify: %q", got)
	}
	if _, err := w.manager().SetEnabled(t.Context(), "other", false); err != nil {
		t.Fatal(err)
	}
	if got, err := w.sync(
		SyncOptions{},
	); err != nil ||
		!slices.Equal(got, []string{"other replaced", "repo unchanged"}) {
		t.Errorf("%q, %v", got, err)
	}
	if w.exists(w.plugins("other", "note")) || w.listed()["other"].Status != "disabled" {
		t.Error("not replaced, or the switch was lost")
	}
}

func TestSyncTrouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(w.repo("repo", pluginFiles("", "repo")))
	w.add(w.repo("extra", pluginFiles("", "extra")))
	w.write("local", pluginFiles("", "local"))
	w.add(w.path("local"))
	lock, err := readLock(w.project())
	if err != nil {
		t.Fatal(err)
	}
	delete(lock.Plugins, "extra")
	if err := lock.write(w.project()); err != nil {
		t.Fatal(err)
	}
	main := w.read(w.plugins("repo", "main.go"))
	w.write("project/.aura/plugins/repo", map[string]string{"main.go": main + "// mine\n", "new.txt": "x"})
	w.write(
		"project/.aura/plugins/local",
		map[string]string{"main.go": strings.Replace(main, "package repo", "package local // mine", 1)},
	)
	if got := w.verify(); len(got) != 4 || !strings.HasPrefix(got[0], "local its content differs") ||
		got[1] != "repo edited: main.go" ||
		got[2] != "repo added: new.txt" ||
		!strings.HasPrefix(got[3], "extra installed from") {
		t.Errorf("verify: %q", got)
	}
	before := w.snapshot()
	got, err := w.sync(SyncOptions{})
	wants(t, err, "local: it was copied", "repo: these files were edited here: main.go")
	if !slices.Equal(got, []string{"extra not in plugins.lock"}) {
		t.Errorf("%q", got)
	}
	w.unchanged(before)
	got, err = w.sync(SyncOptions{Force: true, Prune: true})
	wants(t, err, "local: it was copied")
	if !slices.Equal(got, []string{"repo replaced", "extra removed"}) || w.read(w.plugins("repo", "main.go")) != main {
		t.Errorf("%q", got)
	}
	// A commit whose content is not what was recorded is not installed.
	lock, err = readLock(w.project())
	if err != nil {
		t.Fatal(err)
	}
	delete(lock.Plugins, "local")
	lock.Plugins["repo"].Hash = "h1:other"
	if err := lock.write(w.project()); err != nil {
		t.Fatal(err)
	}
	before = w.snapshot()
	_, err = w.sync(SyncOptions{Force: true})
	wants(t, err, "has another content", "h1:other")
	w.unchanged(before)
}

// Lock files and origins that somebody else wrote.
func TestRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{
		"version: 1\nplugins:\n  ../x: {hash: h}\n":                                                "not a path",
		"version: 1\nplugins:\n  /x: {hash: h}\n":                                                  "not a path",
		"version: 1\nplugins:\n  a/.work: {hash: h}\n":                                             "not a path",
		"version: 1\nplugins:\n  x: {url: u, hash: h}\n":                                           "commit",
		"version: 1\nplugins:\n  x:\n":                                                             "hash",
		"version: 1\nplugins:\n  x: {url: u, commit: c, hash: h, subpath: ../..}\n":                "inside",
		"version: 1\nplugin: {}\n":                                                                 "plugin",
		"version: 1\nplugins: [":                                                                   lockName,
		"version: 1\nplugins:\n  x: {url: 'ext::sh -c id', commit: abc, hash: h, no_vendor: true}": "",
	} {
		w.write("project/.aura", map[string]string{lockName: text})
		_, err := readLock(w.project())
		if want != "" {
			wants(t, err, want)
			continue
		}
		// Nothing but known kinds of URLs reaches git.
		_, err = w.sync(SyncOptions{})
		wants(t, err, "no such directory")
	}
	for text, want := range map[string]string{"url: x\n": "commit", "x: y\n": "x", "url: x\ncommit: y\nsubpath: /etc\n": "inside"} {
		dir := w.write("o", map[string]string{originName: text})
		_, err := readOrigin(dir)
		wants(t, err, want)
	}
}
