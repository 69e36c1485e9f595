package manage

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A pack is cloned once, every plugin in it is vendored offline against the SDK of
// this program, and all are found although the clone has a .git of its own.
// PL-12 PL-13 MG-10 MG-27 MG-39 VN-03 VN-06 VN-25 VN-26
func TestAddPack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("GOPROXY=off", "GOFLAGS=-mod=vendor", "GOPRIVATE=example.com")
	url := w.repo("collection", both(pluginFiles("tools/one", "one"), pluginFiles("two", "two"), map[string]string{
		"two/go.sum": "github.com/idelchi/aura/sdk v0.0.0 h1:GzkhY7T5VNhEkwH0PVJgjz+fX1rhBrR7pRT3mDkpeCY=\n",
	}))
	r, err := w.manager().Add(t.Context(), AddOptions{Source: url})
	if err != nil {
		t.Fatal(err)
	}
	if got := infoNames(r.Plugins); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("plugins %v", got)
	}
	for _, dir := range []string{"tools/one", "two"} {
		if !w.exists(w.plugins("collection", dir, "vendor", sdkPath, "version", "version.go")) {
			t.Errorf("%s: the SDK is not vendored", dir)
		}
		if w.exists(w.plugins("collection", dir, "go.sum")) {
			t.Errorf("%s: go.sum has checksums of the SDK", dir)
		}
	}
	commit := w.git("collection", "rev-parse", "HEAD")
	want := "url: " + url + "\ncommit: " + commit + "\n"
	if got := w.read(w.plugins("collection", originName)); got != want {
		t.Errorf("origin:\n%s", got)
	}
	list := w.listed()
	if p := list["one"]; len(list) != 2 || p.Pack != "collection" || !slices.Equal(p.Hooks, []string{"BeforeChat"}) ||
		p.SDK == nil ||
		!p.SDK.Compatible {
		t.Errorf("listed: %+v", list)
	}
	if got := list["one"].Origin.String(); !strings.HasSuffix(got, "/collection@"+commit[:12]) {
		t.Errorf("origin %q", got)
	}
	for _, left := range []string{workName, ".lock"} {
		if w.exists(w.plugins(left)) {
			t.Errorf("%s is left", left)
		}
	}
	// What was served for v0.0.0 is not the published one: it stays out of the cache.
	if w.exists(realGo()["GOMODCACHE"], sdkPath+"@v0.0.0") {
		t.Error("the SDK is in the user's module cache")
	}
}

// MG-11
func TestAddRef(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("repo", pluginFiles("", "repo"))
	first := w.git("repo", "rev-parse", "HEAD")
	w.git("repo", "tag", "v0.1.0")
	second := w.commit("repo", "second", map[string]string{"note": "2"})
	w.git("repo", "tag", "-a", "v0.2.0", "-m", "annotated")
	w.git("repo", "checkout", "-q", "-b", "feature/x")
	third := w.commit("repo", "third", map[string]string{"note": "3"})
	w.git("repo", "checkout", "-q", "main")
	for i, tt := range []struct{ ref, commit string }{
		{"", second},
		{"v0.1.0", first},
		{"v0.2.0", second},
		{"feature/x", third},
		{"refs/heads/feature/x", third},
		{first, first},
		{first[:10], first},
		{third, third},
	} {
		name := "n" + string(rune('a'+i))
		r := w.add(url, func(o *AddOptions) { o.Ref, o.Name = tt.ref, name })
		if r.Origin.Commit != tt.commit || r.Origin.Ref != tt.ref {
			t.Errorf("%q: %+v, want %s", tt.ref, r.Origin, tt.commit)
		}
		if head := w.git(filepath.Join("project", ".aura", "plugins", name), "rev-parse", "HEAD"); head != tt.commit {
			t.Errorf("%q: checked out %s", tt.ref, head)
		}
		if _, err := w.manager().Remove(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	before := w.snapshot()
	for ref, text := range map[string]string{
		"v0.1": `did you mean "v0.1.0"?`, "-x": "not the name", "a..b": "not the name", strings.Repeat("f", 40): "no branch, tag or commit",
	} {
		_, err := w.manager().Add(t.Context(), AddOptions{Source: url, Ref: ref, NoVendor: true})
		wants(t, err, text)
	}
	w.unchanged(before)
}

// MG-12 MG-19 MG-24 MG-40
func TestPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, sub := range []string{"plain", "aura-plugin-local", "bare.git/objects", "bare.git/refs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bare.git", "HEAD"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ arg, url, dir, name, shown string }{
		{"https://github.com/user/aura-plugin-metrics", "https://github.com/user/aura-plugin-metrics", "", "metrics", "github.com/user/aura-plugin-metrics"},
		{"https://github.com/user/aura-plugin-metrics.git/", "https://github.com/user/aura-plugin-metrics.git/", "", "metrics", ""},
		{"https://github.com/user/aura-plugins-collection", "https://github.com/user/aura-plugins-collection", "", "aura-plugins-collection", ""},
		{"git@github.com:user/aura-plugin-metrics.git", "git@github.com:user/aura-plugin-metrics.git", "", "metrics", "github.com/user/aura-plugin-metrics"},
		{"git@github.com:aura-plugin-x.git", "git@github.com:aura-plugin-x.git", "", "x", ""},
		{"ssh://git@host:2222/user/repo.git", "ssh://git@host:2222/user/repo.git", "", "repo", "host:2222/user/repo"},
		{"ssh://git:secret@host/user/repo", "ssh://git@host/user/repo", "", "repo", ""},
		{"https://me:secret@host/user/repo?x#y", "https://host/user/repo", "", "repo", ""},
		{"https://aura-plugin-", "", "", "", ""},
		{"file:///srv/x/repo.git", "file:///srv/x/repo.git", "", "repo", "/srv/x/repo"},
		{"git://host/aura-plugin-", "git://host/aura-plugin-", "", "aura-plugin-", ""},
		{"plain", "", filepath.Join(dir, "plain"), "plain", ""},
		{"aura-plugin-local", "", filepath.Join(dir, "aura-plugin-local"), "aura-plugin-local", ""},
		{"./plain/../plain", "", filepath.Join(dir, "plain"), "plain", ""},
		{"bare.git", filepath.Join(dir, "bare.git"), "", "bare", ""},
		{"missing", "", "", "", ""},
		{"ext::sh -c true", "", "", "", ""},
		{"-x@host:y", "", "", "", ""},
		{"https://", "", "", "", ""},
		{"", "", "", "", ""},
		{"https://host/a\nb", "", "", "", ""},
	} {
		p, err := parsePlace(tt.arg, dir)
		if (err != nil) != (tt.url == "" && tt.dir == "") || p.URL != tt.url || p.Dir != tt.dir {
			t.Errorf("%q: %+v, %v", tt.arg, p, err)
			continue
		}
		if err != nil {
			continue
		}
		o := AddOptions{}
		if name, err := o.directory(p); err != nil || name != tt.name {
			t.Errorf("%q: name %q, %v", tt.arg, name, err)
		}
		if got := displayURL(p.URL); tt.shown != "" && got != tt.shown {
			t.Errorf("%q: shown as %q", tt.arg, got)
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, s := range []string{"https://u:p@h/x", "git@h:x", "file:///x", "ssh://h/x", ".", "C:\\x", "a@b", "://", "http://[::1]/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePlace(s, t.TempDir())
		if err != nil {
			return
		}
		if isHTTP(p.URL) && strings.Contains(strings.SplitN(p.URL, "/", 4)[2], "@") {
			t.Errorf("%q keeps credentials: %q", s, p.URL)
		}
		if name, err := (&AddOptions{}).directory(
			p,
		); err == nil &&
			(strings.ContainsAny(name, `/\`) || name == "" || name == "..") {
			t.Errorf("%q: name %q", s, name)
		}
		displayURL(p.URL)
	})
}

// MG-13 MG-25
func TestAddName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("aura-plugin-metrics", pluginFiles("", "metrics"))
	w.add(url, func(o *AddOptions) { o.Name = "custom-name" })
	if _, ok := w.listed()["custom-name"]; !ok || !w.exists(w.plugins("custom-name", "plugin.yaml")) {
		t.Errorf("listed: %v", w.listed())
	}
	before := w.snapshot()
	_, err := w.manager().Add(t.Context(), AddOptions{Source: url, Name: "custom-name"})
	wants(t, err, "exists already", "aura plugins update custom-name")
	for _, name := range []string{"a/b", "..", ".x", "vendor", "-x", "a b", `a\b`, "c:d"} {
		_, err := w.manager().Add(t.Context(), AddOptions{Source: url, Name: name, NoVendor: true})
		wants(t, err, "name ")
	}
	// A second plugin of the same name would keep aura from starting.
	w.repo("other", both(pluginFiles("custom-name", "custom-name"), pluginFiles("b", "fine")))
	_, err = w.manager().Add(t.Context(), AddOptions{Source: w.path("other"), NoVendor: true})
	wants(t, err, `there is a plugin "custom-name" already`)
	w.unchanged(before)
}

// MG-14
func TestAddGlobal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("metrics", pluginFiles("", "metrics"))
	m := New(Options{Homes: []Home{{Dir: w.global(), Global: true}}, Env: w.env})
	if _, err := m.Add(t.Context(), AddOptions{Source: url, NoVendor: true}); err != nil {
		t.Fatal(err)
	}
	if p := w.listed()["metrics"]; !p.Global || !w.exists(w.global(), "plugins", "metrics", "plugin.yaml") ||
		w.exists(w.project()) {
		t.Errorf("listed: %+v", p)
	}
}

// MG-15 MG-17 MG-18
func TestAddSubpath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo(
		"collection",
		both(pluginFiles("tools/metrics", "metrics"), pluginFiles("tools/other", "other"), pluginFiles("else", "else")),
	)
	r := w.add(url, func(o *AddOptions) { o.Subpath = "tools/metrics/" })
	if !slices.Equal(infoNames(r.Plugins), []string{"metrics"}) ||
		!w.exists(w.plugins("collection", "else", "plugin.yaml")) {
		t.Errorf("installed %v", infoNames(r.Plugins))
	}
	if got := w.read(w.plugins("collection", originName)); !strings.Contains(got, "subpath: tools/metrics\n") {
		t.Errorf("origin:\n%s", got)
	}
	if list := w.listed(); len(list) != 1 || list["metrics"].Name == "" {
		t.Errorf("listed: %v", list)
	}
	// The only plugin that counts stands for the whole.
	if _, err := w.manager().Remove(t.Context(), "metrics"); err != nil || w.exists(w.plugins("collection")) {
		t.Errorf("remove: %v", err)
	}

	w.add(w.path("collection"), func(o *AddOptions) { o.Subpath = "tools" })
	if !w.exists(w.plugins("tools", "metrics", "plugin.yaml")) || w.exists(w.plugins("tools", "else")) ||
		w.exists(w.plugins("collection")) {
		t.Error("local subpath: wrong files were copied")
	}
	before := w.snapshot()
	for sub, text := range map[string]string{
		"../x": "inside", "/etc": "inside", "nowhere": "no ", ".git": "hidden", "tools/../..": "inside", "tools/metrics/main.go": "no ",
	} {
		for _, source := range []string{url, w.path("collection")} {
			_, err := w.manager().
				Add(t.Context(), AddOptions{Source: source, Subpath: sub, Name: "fresh", NoVendor: true})
			wants(t, err, text)
		}
	}
	w.unchanged(before)
}

// MG-22 MG-23 MG-24 MG-31 MG-40
func TestAddLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo("my-plugin", pluginFiles("", "my-plugin"))
	w.write("my-plugin", map[string]string{".origin.yaml": "url: x\ncommit: y\n", "data/x.txt": "x"})
	m := w.manager()
	if _, err := m.Add(t.Context(), AddOptions{Source: "my-plugin", Workdir: w.dir, NoVendor: true}); err != nil {
		t.Fatal(err)
	}
	if !w.exists(w.plugins("my-plugin", "data", "x.txt")) || w.exists(w.plugins("my-plugin", ".git")) ||
		w.exists(w.plugins("my-plugin", originName)) {
		t.Error("wrong files were copied")
	}
	if out := w.git("my-plugin", "status", "--porcelain", "--untracked-files=no"); out != "" {
		t.Errorf("the source was changed: %s", out)
	}
	_, err := m.Update(t.Context(), []string{"my-plugin"}, UpdateOptions{})
	wants(t, err, "did not come from git")
	if list, err := m.Update(t.Context(), nil, UpdateOptions{}); err != nil || len(list) != 0 {
		t.Errorf("update all: %v, %v", list, err)
	}
	_, err = m.Add(t.Context(), AddOptions{Source: "my-plugin", Workdir: w.dir, Ref: "v1", Name: "x"})
	wants(t, err, "plain directory")
	_, err = m.Add(t.Context(), AddOptions{Source: w.plugins("my-plugin"), Name: "x", NoVendor: true})
	wants(t, err, "in the plugins directory already")

	w.git("", "clone", "-q", "--bare", w.path("my-plugin"), "copy.git")
	w.git("", "-C", "copy.git", "branch", "-q", "-M", "main")
	if _, err := m.Remove(t.Context(), "my-plugin"); err != nil {
		t.Fatal(err)
	}
	r := w.add(w.path("copy.git"))
	if r.Origin == nil || r.Origin.URL != w.path("copy.git") || !w.exists(w.plugins("copy", ".git")) {
		t.Errorf("bare repository: %+v", r)
	}
}

// A project that is a plugin itself can be installed into its own home.
func TestAddAround(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("project", pluginFiles("", "project"))
	w.add(w.path("project"))
	if w.exists(w.plugins("project", ".aura")) || !w.exists(w.plugins("project", "main.go")) {
		t.Error("the home was copied into itself")
	}
}

// Whatever fails, nothing is left behind. MG-26 PL-14 VN-05 VN-13 VN-14 VN-20
func TestAddFails(t *testing.T) {
	t.Parallel()
	vendored := map[string]string{
		"vendor/" + sdkPath + "/version/version.go": "package version\n\nconst Version = \"0.\" + \"2.0\"\n",
	}
	good := pluginFiles("", "repo")
	without := func(name string) map[string]string {
		files := both(good)
		delete(files, name)
		return files
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		setup func(w *world, o *AddOptions)
		want  []string
	}{
		{"no plugin.yaml", without("plugin.yaml"), nil, []string{"no plugin found", "plugin.yaml"}},
		{"bad plugin.yaml", both(good, map[string]string{"plugin.yaml": "discription: x\n"}), nil, []string{"discription"}},
		{"no go.mod", without("go.mod"), nil, []string{"go.mod"}},
		{"broken source", both(good, map[string]string{"main.go": "package repo\nfunc {"}), func(_ *world, o *AddOptions) { o.NoVendor = true }, []string{"does not load"}},
		{"link that leads out", good, func(w *world, o *AddOptions) {
			o.NoVendor = true
			if err := os.Symlink("../../../user", filepath.Join(w.path("repo"), "out")); err != nil {
				w.Fatal(err)
			}
			w.commit("repo", "link", nil)
		}, []string{"out is a link that leads out"}},
		{"incompatible SDK", both(good, vendored), func(_ *world, o *AddOptions) { o.NoVendor = true }, []string{`plugin "repo": plugin requires SDK ~0.2.0, host has 0.1.0`}},
		{"newer SDK wanted", both(good, map[string]string{"go.mod": "module repo\n\ngo 1.24\n\n" +
			"require github.com/idelchi/aura/sdk v0.2.1\n"}), nil, []string{"plugin requires SDK ~0.2.1, host " +
			"has 0.1.0"}},
		{"no git", good, func(w *world, _ *AddOptions) { w.set("PATH=" + w.path("nothing")) }, []string{"git is not in PATH"}},
		{"no go", good, func(w *world, _ *AddOptions) {
			git, err := (&Manager{o: Options{Env: w.env}}).lookPath("git")
			if err != nil {
				w.Fatal(err)
			}
			if err := os.MkdirAll(w.path("only-git"), 0o755); err != nil {
				w.Fatal(err)
			}
			if err := os.Symlink(git, filepath.Join(w.path("only-git"), filepath.Base(git))); err != nil {
				w.Fatal(err)
			}
			w.set("PATH=" + w.path("only-git"))
		}, []string{"go is not in PATH", "--no-vendor"}},
		{"tidy fails", good, func(w *world, _ *AddOptions) { w.fakes("go"); w.set("FAKE_FAIL=tidy") }, []string{"go mod tidy: go: it went wrong", "--no-vendor"}},
		{"vendor fails", good, func(w *world, _ *AddOptions) { w.fakes("go"); w.set("FAKE_FAIL=vendor") }, []string{"go mod vendor: go: it went wrong"}},
		{"no dependency", both(good, map[string]string{"more.go": "package repo\nimport _ " +
			"\"example.com/no/such\"\n"}), func(w *world, _ *AddOptions) { w.set("GOPROXY=off") }, []string{"go mod tidy", "example.com/no/such"}},
		{"check", good, func(w *world, o *AddOptions) { o.NoVendor, w.failWith = true, "check" }, []string{"injected"}},
		{"clone", good, func(w *world, o *AddOptions) { o.NoVendor, w.failWith = true, "clone" }, []string{"injected"}},
		{"swap", good, func(w *world, o *AddOptions) { o.NoVendor, w.failWith = true, "swap" }, []string{"injected"}},
		{"place", good, func(w *world, o *AddOptions) { o.NoVendor, w.failWith = true, "place" }, []string{"injected"}},
		{"record", good, func(w *world, o *AddOptions) { o.NoVendor, w.failWith = true, "record" }, []string{"injected"}},
		{"lock file is a directory", good, func(w *world, o *AddOptions) {
			o.NoVendor = true
			w.write("project/.aura/plugins.lock", map[string]string{"x": ""})
		}, []string{lockName}},
		{"lock file of another version", good, func(w *world, o *AddOptions) {
			w.write("project/.aura", map[string]string{lockName: "version: 9\n"})
		}, []string{"version 9"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			o := AddOptions{Source: w.repo("repo", tt.files)}
			if tt.setup != nil {
				tt.setup(w, &o)
			}
			before := w.snapshot()
			_, err := w.manager().Add(t.Context(), o)
			wants(t, err, tt.want...)
			w.unchanged(before)
		})
	}
}

// Ctrl+C while git or go works leaves nothing behind either.
func TestAddInterrupted(t *testing.T) {
	t.Parallel()
	t.Run("git", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}))
		defer server.Close()
		_, err := w.manager().Add(ctx, AddOptions{Source: server.URL + "/repo"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		w.unchanged(map[string]string{})
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		url := w.repo("repo", pluginFiles("", "repo"))
		w.fakes("go")
		w.set("FAKE_HANG=tidy")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for !w.exists(w.path("calls-go.started")) && t.Context().Err() == nil {
				time.Sleep(2 * time.Millisecond)
			}
			cancel()
		}()
		_, err := w.manager().Add(ctx, AddOptions{Source: url})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		w.unchanged(map[string]string{})
	})
}

// Two at once both arrive, and the lock file knows both.
func TestAddTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.repo("one", pluginFiles("", "one")), w.repo("two", pluginFiles("", "two"))
	errs := make(chan error)
	for _, url := range []string{one, two} {
		go func() {
			m := New(Options{Homes: []Home{{Dir: w.project()}}, Env: w.env})
			_, err := m.Add(t.Context(), AddOptions{Source: url, NoVendor: true})
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	lock, err := readLock(w.project())
	if err != nil || len(lock.Plugins) != 2 || len(w.listed()) != 2 {
		t.Errorf("lock %v, %v", lock, err)
	}
}

// On a terminal the progress of git is shown; elsewhere a line for each step.
func TestProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("repo", pluginFiles("", "repo"))
	m := w.manager()
	m.o.Live = true
	if _, err := m.Add(t.Context(), AddOptions{Source: url, NoVendor: true}); err != nil {
		t.Fatal(err)
	}
	if got := w.out.String(); !strings.Contains(got, "cloning "+url) ||
		!strings.Contains(got, "Counting objects: 100%") {
		t.Errorf("progress on a terminal: %q", got)
	}
	w.out.Reset()
	w.add(url, func(o *AddOptions) { o.Name = "again" })
	if got := w.out.String(); got != "cloning "+url+"\nchecking again\n" {
		t.Errorf("progress elsewhere: %q", got)
	}
}
