package pyext

import (
	"archive/zip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/sdk"
)

// tree writes files below a new directory.
func tree(t testing.TB, f files) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names lists extensions as tier/name, shadowed ones with a minus.
func names(list []Extension) (out []string) {
	for _, e := range list {
		name := string(e.Tier) + "/" + e.Name
		if e.ShadowedBy != "" {
			name = "-" + name
		}
		out = append(out, name)
	}
	return out
}

// Where extensions are found, in which order, and which of them run.
// AX-34 AX-67 AX-68 AX-69 AX-70 AX-71 AX-72
func TestDiscover(t *testing.T) {
	t.Parallel()
	dir := tree(t, files{
		"home/.aar/extensions/b.py":                    "",
		"home/.aar/extensions/a/__init__.py":           "",
		"home/.aar/extensions/same.py":                 "",
		"home/.aura/extensions/b.py":                   "",
		"home/.aura/extensions/zz.py":                  "",
		"work/.git/config":                             "",
		"work/.agent/extensions/root.py":               "",
		"work/sub/.agent/extensions/same.py":           "",
		"work/sub/.agent/extensions/_x.py":             "",
		"work/sub/.agent/extensions/.y/__init__.py":    "",
		"work/sub/.agent/extensions/_z/__init__.py":    "",
		"work/sub/.agent/extensions/nopackage/main.py": "",
		"work/sub/.agent/extensions/readme.md":         "",
		"work/sub/.agent/extensions/my-ext.py":         "",
		"work/sub/.aura/extensions/own.py":             "",
	})
	dirs := FindDirs(
		[]string{filepath.Join(dir, "work"), filepath.Join(dir, "work/sub")},
		filepath.Join(dir, "home"),
		filepath.Join(dir, "home/.aura"),
		[]string{filepath.Join(dir, "work/sub/.aura")},
	)
	installed := []Extension{
		{Name: "inst", Tier: EntryPoint, EntryPoint: "m:f"},
		{Name: "same", Tier: EntryPoint, EntryPoint: "m:f"},
	}
	found := Discover(dirs, installed)
	want := []string{
		"entrypoint/inst", "-entrypoint/same", "user/a", "-user/b", "user/b", "-user/same", "user/zz",
		"project/my-ext", "project/own", "project/root", "project/same",
	}
	if got := names(found); !reflect.DeepEqual(got, want) {
		t.Errorf("found\n%v\nwant\n%v", got, want)
	}
	if got := names(
		Active(found),
	); slices.ContainsFunc(got, func(s string) bool { return s[0] == '-' }) ||
		len(got) != 8 {
		t.Errorf("active %v", got)
	}
	// Without a global home nothing of the user's is read.
	if got := FindDirs([]string{"/w"}, "/h", "", nil); got.User != nil {
		t.Errorf("user directories %v", got.User)
	}
	if got := Discover(Dirs{User: []string{"/nowhere/at/all"}}, nil); got != nil {
		t.Errorf("found %v", got)
	}
}

// Of one name in all three tiers only the project's is loaded. AX-67 AX-68 AX-69
func TestShadowing(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	code := func(tier string) string { return f.python() + "def register(api): touch('" + tier + "')\n" }
	dir := tree(t, files{
		"site/inst.py": code(
			"entrypoint",
		),
		"site/inst-1.dist-info/entry_points.txt": "[aar_extensions]\nsame = inst:register\nonly = inst:register\n",
		"user/same/__init__.py":                  code("user"),
		"project/same.py":                        code("project"),
	})
	in := interpreter(t)
	if _, err := in.Resolve(testCache); err != nil {
		t.Fatal(err)
	}
	facts := *in.facts
	facts.Paths = []string{filepath.Join(dir, "site")}
	in.facts = &facts
	installed := in.Installed(t.TempDir())
	for _, c := range []struct {
		dirs Dirs
		want string
	}{
		{Dirs{User: []string{filepath.Join(dir, "user")}, Project: []string{filepath.Join(dir, "project")}}, "project"},
		{Dirs{User: []string{filepath.Join(dir, "user")}}, "user"},
		{Dirs{}, "entrypoint"},
	} {
		found := slices.DeleteFunc(Discover(c.dirs, installed), func(e Extension) bool { return e.Name != "same" })
		w := load(t, found, func(o *Options) { o.Interpreter = in })
		if got := w.said(); got != "" {
			t.Error(got)
		}
		for _, tier := range []string{"entrypoint", "user", "project"} {
			if f.exists(tier) != (tier == c.want) {
				t.Errorf("%s: loaded %v", tier, f.exists(tier))
			}
			_ = os.Remove(f.at(tier))
		}
	}
}

// Packages may import their own modules. AX-67 AX-76
func TestPackageExtension(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"pack/__init__.py": "from . import helper\nfrom .deep.more import value\ndef register(api):\n" +
			"    api.command('pack')(lambda args, ctx: helper.text() + value + __name__ + __package__)\n",
		"pack/helper.py":        "def text(): return 'helped '\n",
		"pack/deep/__init__.py": "",
		"pack/deep/more.py":     "value = 'deeply '\n",
	})
	if got, err := w.command(
		t.Context(),
		t,
		"pack",
		"",
		sdk.Context{},
	); got != "helped deeply aar_ext_packaar_ext_pack" ||
		err != nil {
		t.Errorf("%q, %v: %s", got, err, w.said())
	}
	// Nothing is left beside the files.
	if got, _ := filepath.Glob(filepath.Join(filepath.Dir(w.found[0].Path), "*", "__pycache__")); got != nil {
		t.Errorf("litter: %v", got)
	}
}

// AX-66 AX-73: entry points are read from the metadata of packages, without Python.
func TestEntryPoints(t *testing.T) {
	t.Parallel()
	dir := tree(t, files{
		"venv/pyvenv.cfg":         "",
		"venv/bin/python3":        "",
		"venv/Scripts/python.exe": "",
		"venv/lib/python3.12/site-packages/a-1.0.dist-info/entry_points.txt": "[console_scripts]\nx = y:z\n\n" +
			"[aar_extensions]\nzeta = pkg.mod:start\n# comment\nalpha=other : register [extra]\n[more]\nq = r:s\n",
		"venv/lib/python3.12/site-packages/b-1.0.dist-info/entry_points.txt": "[console_scripts]\nx = " +
			"aar_extensions:z\n",
		"venv/lib/python3.12/site-packages/c.egg-info/entry_points.txt":     "[aar_extensions]\nold = legacy\n",
		"venv/lib/python3.12/site-packages/aar_extensions/entry_points.txt": "[aar_extensions]\nno = no:no\n",
		"venv/lib/python3.12/site-packages/d-1.0.dist-info/METADATA":        "Name: d\n",
	})
	env := map[string]string{"VIRTUAL_ENV": filepath.Join(dir, "venv")}
	in, err := FindInterpreter(dir, "", func(k string) string { return env[k] })
	if err != nil || in.Origin != "VIRTUAL_ENV" {
		t.Fatalf("%+v, %v", in, err)
	}
	cache := filepath.Join(dir, "cache")
	want := []string{"alpha=other:register", "old=legacy", "zeta=pkg.mod:start"}
	check := func(want []string) {
		t.Helper()
		var got []string
		for _, e := range in.Installed(cache) {
			got = append(got, e.Name+"="+e.EntryPoint)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	check(want)
	if _, err := os.Stat(cache); err == nil {
		t.Error("looking created the cache")
	}
	// What was read is remembered until the directory changes.
	site := filepath.Join(dir, "venv/lib/python3.12/site-packages")
	if err := os.Mkdir(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(site, past, past); err != nil {
		t.Fatal(err)
	}
	check(want)
	if err := os.WriteFile(filepath.Join(site, "c.egg-info", "entry_points.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	check(want) // From memory.
	if err := os.RemoveAll(filepath.Join(site, "a-1.0.dist-info")); err != nil {
		t.Fatal(err)
	}
	check(nil)
}

// Which interpreter runs extensions. AX-78
func TestFindInterpreter(t *testing.T) {
	t.Parallel()
	dir := tree(t, files{
		"bin/python3":                   "#!x",
		"bin/python3.exe":               "",
		"active/bin/python3":            "",
		"active/pyvenv.cfg":             "",
		"active/Scripts/python.exe":     "",
		"work/.venv/bin/python3":        "",
		"work/.venv/pyvenv.cfg":         "",
		"work/.venv/Scripts/python.exe": "",
		"other/py":                      "",
		"plain/x":                       "",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		workdir, feature string
		env              map[string]string
		origin, path     string
		err              string
	}{
		{"work", at("other/py"), map[string]string{"AURA_PYTHON": "python3", "PATH": at("bin")}, "AURA_PYTHON", "bin/python3", ""},
		{"work", "../other/py", map[string]string{"VIRTUAL_ENV": at("active")}, "python", "other/py", ""},
		{"work", "", map[string]string{"VIRTUAL_ENV": at("active"), "PATH": at("bin")}, "VIRTUAL_ENV", "active/bin/python3", ""},
		{"work", "", map[string]string{"VIRTUAL_ENV": at("gone"), "PATH": at("bin")}, ".venv", "work/.venv/bin/python3", ""},
		{"plain", "", map[string]string{"PATH": at("plain") + string(filepath.ListSeparator) + at("bin")}, "PATH", "bin/python3", ""},
		{"plain", "", map[string]string{"PATH": at("plain")}, "", "", "no Python found"},
		{"plain", "", map[string]string{"AURA_PYTHON": at("gone/python")}, "", "", "AURA_PYTHON: "},
		{"plain", "nope", map[string]string{"PATH": at("bin")}, "", "", "python: nope: "},
	} {
		in, err := FindInterpreter(at(c.workdir), c.feature, func(k string) string { return c.env[k] })
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: error %v", c, err)
			}
			continue
		}
		if err != nil || in.Origin != c.origin || in.Path != at(c.path) {
			t.Errorf("%+v: %s %s, %v", c, in.Origin, in.Path, err)
		}
	}
}

// An interpreter is asked once; a shim of pyenv again when it would choose another
// version. One that is too old, or none at all, is a clear error.
func TestProbe(t *testing.T) {
	t.Parallel()
	fake := `#!/bin/sh
echo x >> "$(dirname "$0")/asked"
echo '{"executable": "/bin/sh", "version": [3, 9, 2], "paths": ["/p"], "stdlib": "/s"}'
`
	dir := tree(
		t,
		files{
			"shims/python3":  fake,
			"version":        "3.11.7\n",
			"broken/python3": "#!/bin/sh\necho trouble >&2\nexit 3\n",
			"silent/python3": "#!/bin/sh\n",
		},
	)
	env := map[string]string{"AURA_PYTHON": filepath.Join(dir, "shims/python3")}
	cache := filepath.Join(dir, "cache")
	ask := func() error {
		in, err := FindInterpreter(dir, "", func(k string) string { return env[k] })
		if err != nil {
			return err
		}
		_, err = in.Resolve(cache)
		return err
	}
	asked := func(want int) {
		t.Helper()
		data, _ := os.ReadFile(filepath.Join(dir, "shims/asked"))
		if got := strings.Count(string(data), "x"); got != want {
			t.Errorf("asked %d times, want %d", got, want)
		}
	}
	for range 2 {
		if err := ask(); err == nil ||
			!strings.Contains(err.Error(), "is Python 3.9.2, extensions need 3.11 or newer") {
			t.Errorf("error %v", err)
		}
	}
	asked(1)
	env["PYENV_VERSION"] = "3.12.1"
	_ = ask()
	asked(2)
	env["PYENV_VERSION"] = ""
	if err := os.WriteFile(filepath.Join(dir, ".python-version"), []byte("3.13.0"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = ask()
	asked(3)
	for name, want := range map[string]string{"broken": "trouble", "silent": "does not answer like a Python " +
		"interpreter"} {
		env["AURA_PYTHON"] = filepath.Join(dir, name, "python3")
		if err := ask(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// The host says so once, and everybody else goes on.
	w := load(t, []Extension{{Name: "x", Tier: User, Path: filepath.Join(dir, "x.py")}}, func(o *Options) {
		o.Interpreter, _ = FindInterpreter(dir, "", func(k string) string { return env[k] })
	})
	if !strings.Contains(w.said(), "Python extensions do not run: ") ||
		len(w.Bindings())+len(w.Tools())+len(w.Commands()) != 0 {
		t.Errorf("said %q", w.said())
	}
}

// An installed package that runs: entry point under any name, its own modules, and
// packages installed for development.
// AX-66 AX-72 AX-73 AX-76
func TestInstalledExtension(t *testing.T) {
	t.Parallel()
	site := tree(t, files{
		"thing/__init__.py": "from . import sub\nclass C:\n    @staticmethod\n" +
			"    def go(api): api.command('thing')(lambda a, c: sub.x + api.name)\n",
		"thing/sub.py":                       "x = 'sub '\n",
		"dev.pth":                            "",
		"thing-1.dist-info/entry_points.txt": "[aar_extensions]\nmy_extension = thing:C.go\nedit = editable:start\n",
	})
	elsewhere := tree(t, files{"editable.py": "async def start(api): api.command('edit')(lambda a, c: 'edited')\n"})
	if err := os.WriteFile(filepath.Join(site, "dev.pth"), []byte(elsewhere+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := interpreter(t)
	if _, err := in.Resolve(testCache); err != nil {
		t.Fatal(err)
	}
	facts := *in.facts
	facts.Paths = append(slices.Clone(facts.Paths), site)
	in.facts = &facts
	w := load(t, Discover(Dirs{}, in.Installed(t.TempDir())), func(o *Options) { o.Interpreter = in })
	if got, err := w.command(t.Context(), t, "thing", "", sdk.Context{}); got != "sub my_extension" || err != nil {
		t.Errorf("%q, %v: %s", got, err, w.said())
	}
	if got, err := w.command(t.Context(), t, "edit", "", sdk.Context{}); got != "edited" || err != nil {
		t.Errorf("%q, %v: %s", got, err, w.said())
	}
}

// The wheel that stands in for the package aar holds what extensions import. AX-75
func TestStubWheel(t *testing.T) {
	t.Parallel()
	path, err := writeStub(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var got []string
	for _, f := range z.File {
		got = append(got, f.Name)
	}
	for _, want := range []string{"agent/extensions/api.py", "agent/tools/schema.py", "aar-1.0.0.dist-info/METADATA", "aar-1.0.0.dist-info/RECORD"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %v", want, got)
		}
	}
}

func TestInstallTargets(t *testing.T) {
	t.Parallel()
	dir := tree(t, files{"local/pyproject.toml": "", "other/x": ""})
	in := &Installer{Workdir: dir}
	for target, want := range map[string]string{
		"aar-ext-x": "aar-ext-x", "./local/": filepath.Join(dir, "local"), "local": filepath.Join(dir, "local"), "other": "other",
		"git+https://example.com/x.git": "git+https://example.com/x.git", "x==1.0": "x==1.0", "w-1-py3-none-any.whl": filepath.Join(dir, "w-1-py3-none-any.whl"),
	} {
		if got := in.target(target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	report := filepath.Join(dir, "report.json")
	text := `{"install":[{"requested":true,"metadata":{"name":"aar"}},{"requested":true,"metadata":{"name":"Aar_Ext.New"}},{"requested":false,"metadata":{"name":"dep"}}]}`
	if err := os.WriteFile(report, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := in.names(
		report,
		[]string{"aar-ext-new>=1", "there[x]==2", "./local"},
	); !reflect.DeepEqual(
		got,
		[]string{"Aar_Ext.New", "there"},
	) {
		t.Errorf("names %v", got)
	}
	if got := in.names("none", []string{"a"}); !reflect.DeepEqual(got, []string{"a"}) {
		t.Errorf("names without a report %v", got)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x")
	path, err := Create(dir, "my_ext", "")
	if err != nil {
		t.Fatal(err)
	}
	w := load(t, Discover(Dirs{Project: []string{dir}}, nil))
	if l := w.Extensions()[0]; l.Error != "" || len(l.Tools) != 1 || len(l.Commands) != 1 || len(l.Events) != 2 {
		t.Errorf("%+v", l)
	}
	if _, err := Create(dir, "my_ext", ""); err == nil || !strings.Contains(err.Error(), path+" exists already") {
		t.Errorf("error %v", err)
	}
	for _, bad := range []string{"", "../x", "a b", "1a", "_a", "a.py"} {
		if _, err := Create(dir, bad, ""); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	if _, err := Create(dir, "c", "companion"); err != nil {
		t.Error(err)
	}
	if _, err := Create(dir, "d", "nope"); err == nil || !strings.Contains(err.Error(), "companion") {
		t.Errorf("error %v", err)
	}
}

func FuzzEntryPoints(f *testing.F) {
	f.Add([]byte("[aar_extensions]\na = b:c\n"))
	f.Add([]byte("[aar_extensions\n=\n[]\n= x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range parseEntryPoints(data) {
			if p.Name == "" || p.Value == "" || strings.ContainsAny(p.Value, " \n") {
				t.Errorf("%+v", p)
			}
		}
	})
}

func FuzzFrame(f *testing.F) {
	for _, s := range []string{`{"id":1}`, `{"id":1,"ok":{"block":true}}`, `{"log":"x","level":20,"index":1}`, `{"id":`, `{"loaded":{"index":1,"tools":[{}]}}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseFrame(data)
		if err == nil && a.Loaded != nil {
			(&Host{opts: New(Options{}, nil).opts, found: []Extension{{Name: "x"}}, regs: map[int]*loaded{}, guards: []*foreign.Guard{nil}}).takeLoaded(
				a.Loaded,
			)
		}
	})
}
