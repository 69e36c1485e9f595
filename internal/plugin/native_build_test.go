package plugin_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/plugin"
)

// Without a toolchain the error says what to do; what was built before still runs.
func TestNoToolchain(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	install(t, dir, "puppet", "puppet", "engine: native")
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	refused(
		t,
		plugin.Options{Dirs: []string{dir}, Native: plugin.Native{Cache: cache}},
		`plugin "puppet": `,
		"no Go toolchain",
		"https://go.dev/dl",
		`"engine: yaegi"`,
	)
	install(t, t.TempDir(), "puppet", "x", "")
	t.Setenv("PATH", path)
	load(t, plugin.Options{Dirs: []string{dir}, Native: plugin.Native{Cache: cache}})
	t.Setenv("PATH", t.TempDir())
	load(t, plugin.Options{Dirs: []string{dir}, Native: plugin.Native{Cache: cache}})

	modern := t.TempDir()
	install(t, modern, "modern", "modern", "engine: auto")
	refused(
		t,
		plugin.Options{Dirs: []string{modern}, Native: plugin.Native{Cache: cache}},
		`plugin "modern": `,
		"not available to interpreted plugins",
		"no Go toolchain",
	)
}

// A plugin is built once for what it is made of, by whoever comes first.
func TestBuilds(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, "probe", "engine: native", "", speak(`"one"`))
	o := plugin.Options{Dirs: []string{dir}, Native: plugin.Native{Cache: cache}}
	var wg sync.WaitGroup
	for range 3 { // As several auras would.
		wg.Go(func() {
			s, err := plugin.Load(context.Background(), o)
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	count := func() (n int, first time.Time) {
		files, err := filepath.Glob(filepath.Join(cache, "*", "plugin*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			if info, err := os.Stat(f); err == nil && (i == 0 || info.ModTime().Before(first)) {
				first = info.ModTime()
			}
		}
		return len(files), first
	}
	n, built := count()
	if got := said(t, load(t, o)); got != "one" || n != 1 {
		t.Errorf("%q, %d builds", got, n)
	}
	// What it writes and how it is configured does not make it another plugin.
	writeFiles(
		t,
		dir,
		map[string]string{"probe/notes.txt": "x", "probe/plugin.yaml": "engine: native\ndescription: changed"},
	)
	load(t, o)
	if n, again := count(); n != 1 || again != built {
		t.Errorf("built again: %d", n)
	}
	writeFiles(
		t,
		dir,
		map[string]string{
			"probe/main.go": "package probe\n\nimport (\n\t\"context\"\n\n\t\"github.com/idelchi/aura/sdk\"\n)\n" +
				"\n" + speak(
				`"two"`,
			),
		},
	)
	if got := said(t, load(t, o)); got != "two" {
		t.Errorf("after the change: %q", got)
	}
	if n, _ := count(); n != 2 {
		t.Errorf("%d builds", n)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "build-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a plugin has vendored is what it gets, except for the SDK. Its directory is
// only read.
func TestNativeVendor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	install(t, dir, "vendored", "vendored", "engine: native")
	before := tree(t, dir)
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "VENDORED" {
		t.Errorf("said %q", got)
	}
	if after := tree(t, dir); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("%v\n%v", before, after)
	}
	// Not vendored, the module is looked for in the module cache, and nowhere else.
	if err := os.RemoveAll(filepath.Join(dir, "vendored", "vendor")); err != nil {
		t.Fatal(err)
	}
	refused(t, plugin.Options{Dirs: []string{dir}}, `plugin "vendored": `, "example.com/words", "elsewhere")
	writeFiles(
		t,
		dir,
		map[string]string{
			"elsewhere/go.mod":   "module example.com/words\n",
			"elsewhere/words.go": "package words\n\nfunc First(list []string) string { return \"replaced\" }\n",
		},
	)
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "REPLACED" {
		t.Errorf("said %q", got)
	}
	writeFiles(
		t,
		dir,
		map[string]string{
			"elsewhere/words.go": "package words\n\nimport _ \"os/exec\"\n\n" +
				"func First(list []string) string { return \"changed\" }\n",
		},
	)
	refused(t, plugin.Options{Dirs: []string{dir}}, `elsewhere/words.go:3:8: import "os/exec" needs unsafe mode`)
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}, Unsafe: true})); got != "CHANGED" {
		t.Errorf("said %q", got)
	}
	writeFiles(
		t,
		dir,
		map[string]string{
			"vendored/go.mod": "module example.com/me/vendored\n\ngo 1.24\n\nrequire example.com/words v1.2.9\n",
		},
	)
	refused(t, plugin.Options{Dirs: []string{dir}}, "neither vendored nor in the module cache", "go mod vendor")
}

// A dependency that is not vendored comes from the module cache.
func TestModuleCache(t *testing.T) {
	mods := t.TempDir()
	t.Setenv("GOMODCACHE", mods)
	t.Cleanup(func() { // The go command makes it read-only.
		_ = filepath.WalkDir(mods, func(file string, _ fs.DirEntry, _ error) error { return os.Chmod(file, 0o755) })
	})
	publish := func(version, body string) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range map[string]string{"go.mod": "module example.com/words\n\ngo 1.21\n",
			"words.go": "package words\n\n" + body} {
			w, err := z.Create("example.com/words@" + version + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(w, text)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		at := "cache/download/example.com/words/@v/" + version
		writeFiles(
			t,
			mods,
			map[string]string{
				at + ".info": `{"Version":"` + version + `"}`,
				at + ".mod":  "module example.com/words\n\ngo 1.21\n",
				at + ".zip":  b.String(),
			},
		)
	}
	publish("v1.2.3", "func First[T any](list []T) T { return list[0] }\n")
	publish("v1.2.4", "import _ \"syscall\"\n\nfunc First[T any](list []T) T { return list[1] }\n")
	dir := t.TempDir()
	install(t, dir, "vendored", "vendored", "engine: native")
	if err := os.RemoveAll(filepath.Join(dir, "vendored", "vendor")); err != nil {
		t.Fatal(err)
	}
	requires := func(version string) {
		text := "module example.com/me/vendored\n\ngo 1.24\n\nrequire example.com/words " + version + "\n"
		writeFiles(t, dir, map[string]string{"vendored/go.mod": text})
	}
	requires("v1.2.3")
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}})); got != "VENDORED" {
		t.Errorf("said %q", got)
	}
	requires("v1.2.4")
	refused(t, plugin.Options{Dirs: []string{dir}}, `example.com/words: import "syscall" needs unsafe mode`)
	if got := said(t, load(t, plugin.Options{Dirs: []string{dir}, Unsafe: true})); got != "X" {
		t.Errorf("said %q", got)
	}
}
