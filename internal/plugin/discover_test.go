package plugin_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/plugin"
)

// names lists the plugins of a set with their fates.
func names(s *plugin.Set) string {
	var list []string
	for _, i := range s.Plugins() {
		text := i.Name
		if i.Status != plugin.Enabled {
			text += ":" + string(i.Status)
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// PL-04 PL-05 PL-06 PL-07 PL-28 PL-29 PL-30 PL-34 PL-36 PL-66 PT-16
func TestDiscovery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hello := speak(`"hello"`)
	write(t, dir, "z/deep/er/zeta", "", "", hello)
	write(t, dir, "alpha", "", "", hello)
	write(t, dir, "alpha/inner", "", "", hello)
	write(t, dir, ".old/hidden", "", "", hello)
	write(t, dir, "vendor/other", "", "", hello)
	write(t, dir, "m/renamed", "name: my-name", "", hello)
	write(t, dir, "n/broken", "disabled: true", "", "this is not Go")
	writeFiles(
		t,
		dir,
		map[string]string{"no-manifest/go.mod": "module x", "no-manifest/main.go": "package x", "README.md": "hi"},
	)

	s := load(t, plugin.Options{Dirs: []string{dir}})
	if got, want := names(s), "alpha my-name broken:disabled zeta"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := said(t, s); got != "hello|hello|hello" {
		t.Errorf("said %q", got)
	}
	if !plugin.Present([]string{dir}) ||
		plugin.Present([]string{filepath.Join(dir, "no-manifest"), filepath.Join(dir, "nowhere")}) {
		t.Error("Present is wrong")
	}
}

// A plugin may be linked to from the plugin directory; a loop of links ends.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, elsewhere, "linked", "", "", speak(`"linked"`))
	if err := os.Symlink(filepath.Join(elsewhere, "linked"), filepath.Join(dir, "linked")); err != nil {
		t.Logf("no links here: %v", err)
		return
	}
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "a", "loop")); err != nil {
		t.Fatal(err)
	}
	s, err := plugin.Load(t.Context(), plugin.Options{Dirs: []string{dir}, Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.Contains(names(s), "linked") {
		t.Errorf("found %q", names(s))
	}
}

// PL-08 PL-09 PL-10 PL-11
func TestDuplicates(t *testing.T) {
	t.Parallel()
	hello := speak(`"hello"`)
	dir := t.TempDir()
	write(t, dir, "x/same", "", "", hello)
	write(t, dir, "y/z/other", "name: SAME", "", hello)
	refused(
		t,
		plugin.Options{Dirs: []string{dir}},
		"same",
		filepath.Join(dir, "x", "same"),
		filepath.Join(dir, "y", "z", "other"),
	)

	write(t, dir, "y/z/other", "name: SAME\ndisabled: true", "", hello)
	if got := names(load(t, plugin.Options{Dirs: []string{dir}})); got != "same SAME:disabled" {
		t.Errorf("with one disabled: %q", got)
	}

	// Of two homes the later one wins, however the name is spelt.
	project := t.TempDir()
	write(t, project, "mine", "name: Same", "", speak(`"project"`))
	s := load(t, plugin.Options{Dirs: []string{dir, project}})
	if got := said(t, s); got != "project" || names(s) != "same:shadowed SAME:disabled Same" {
		t.Errorf("global and project: said %q, found %q", got, names(s))
	}
}

// CF-05 CF-06 CF-07 CF-08 CF-09 CF-10 CF-21 PL-07
func TestIncludeAndExclude(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "aa", "", "", speak(`"aa"`))
	write(t, dir, "ab", "", "", speak(`"ab"`))
	write(t, dir, "ba", "name: renamed", "", speak(`"renamed"`))
	write(t, dir, "off", "disabled: true", "", speak(`"off"`))
	for _, c := range []struct{ include, exclude, want string }{
		{"", "", "aa|ab|renamed"},
		{"aa renamed", "", "aa|renamed"},
		{"a*", "", "aa|ab"},
		{"a*", "ab", "aa"},
		{"", "*a*", ""},
		{"ba", "", ""},
		{"off aa", "", "aa"},
	} {
		s := load(
			t,
			plugin.Options{Dirs: []string{dir}, Include: strings.Fields(c.include), Exclude: strings.Fields(c.exclude)},
		)
		if got := said(t, s); got != c.want {
			t.Errorf("include %q, exclude %q: %q, want %q", c.include, c.exclude, got, c.want)
		}
	}
	write(t, dir, "bad", "", "", "not Go")
	load(t, plugin.Options{Dirs: []string{dir}, Exclude: []string{"bad"}})
	writeFiles(t, dir, map[string]string{"bad/plugin.yaml": "nonsense: ["})
	load(t, plugin.Options{Dirs: []string{dir}, Exclude: []string{"bad"}})
}

// PL-16: nothing is written into a plugin's directory, nor does it have to be
// writable.
func TestDirectoryIsOnlyRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "probe", "", "", speak(`"hello"`))
	before := tree(t, dir)
	said(t, load(t, plugin.Options{Dirs: []string{dir}}))
	if after := tree(t, dir); !reflect.DeepEqual(before, after) {
		t.Errorf("the directory changed: %v, was %v", after, before)
	}
}

// tree maps the files below dir to their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// PL-35 PL-43 PL-44: plugin.yaml is read strictly.
func TestManifest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ yaml, part string }{
		{"discription: x", "did you mean \"description\"?"},
		{"condition: foo_gt:1", "foo_gt"},
		{"timeout: -1", "timeout"},
		{"on_failure: maybe", "allow, block"},
		{"engine: wasm", "yaegi, native, auto"},
		{"name: a/b", "one word"},
		{"env: HOME", "write [HOME]"},
		{"{", "invalid YAML"},
	} {
		dir := t.TempDir()
		write(t, dir, "probe", c.yaml, "", speak(`"x"`))
		refused(
			t,
			plugin.Options{Dirs: []string{dir}},
			`plugin "probe": `,
			c.part,
			"--without-plugins",
			"aura plugins update probe",
		)
	}
	s := one(t, "# all keys\nname: probe\ndescription: What it does\ndisabled: false\noverride: false\nopt_in: false\n"+
		"condition: auto\nonce: true\nenv: [A, B]\nconfig: {max: 3}\ntimeout: 5\non_failure: block\nengine: auto\n", "",
		speak(`"x"`))
	i := s.Plugins()[0]
	if i.Description != "What it does" || i.Condition != "auto" || !i.Once || i.Engine != "yaegi" {
		t.Errorf("%+v", i)
	}
}

// All plugins that cannot be loaded are named at once; a lenient load lists them.
// PL-47
func TestFailuresAreReportedTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "bad1", "", "", "func (")
	write(t, dir, "bad2", "", "", "func BeforeChat() {}")
	write(t, dir, "good", "", "", speak(`"good"`))
	refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "bad1": `, `plugin "bad2": `)
	s := load(t, plugin.Options{Dirs: []string{dir}, Lenient: true})
	if got := names(s); got != "bad1:failed bad2:failed good" {
		t.Errorf("found %q", got)
	}
	if got := said(t, s); got != "good" {
		t.Errorf("said %q", got)
	}
	if err := s.Plugins()[0].Err; err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error of the first: %v", err)
	}
}
