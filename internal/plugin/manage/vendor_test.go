package manage

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Which commands of go are run where, and with what environment.
// VN-03 VN-04 VN-07 VN-08 MG-32
func TestVendorCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := w.fakes("go")
	w.set("GITHUB_TOKEN=mine", "GOPROXY=https://proxy.example")
	s := w.server("oauth2:mine", both(pluginFiles("one", "one"), pluginFiles("two", "two")))
	ran := func() (list []string) {
		for _, c := range calls() {
			list = append(list, filepath.Base(c.Dir)+": "+strings.Join(c.Args, " "))
		}
		slices.Sort(list)
		os.Remove(w.path("calls-go"))
		return list
	}
	both := []string{"one: mod tidy", "one: mod vendor", "two: mod tidy", "two: mod vendor"}
	m := w.manager()
	if _, err := m.Add(t.Context(), AddOptions{Source: s.URL + "/repo.git"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls() {
		for _, kv := range c.Env {
			if name, value, _ := strings.Cut(
				kv,
				"=",
			); strings.Contains(value, "Authorization") ||
				strings.HasPrefix(name, "GIT_CONFIG_") && name != "GIT_CONFIG_NOSYSTEM" {
				t.Errorf("go got %s", kv)
			}
		}
		if !slices.Contains(c.Env, "GITHUB_TOKEN=mine") {
			t.Error("the user's own variables are missing")
		}
	}
	if got := ran(); !slices.Equal(got, both) {
		t.Errorf("add ran %q", got)
	}
	push := func(subject string) {
		w.commit("served", subject, map[string]string{"one/note": subject})
		w.git("served", "push", "-q", w.path("public", "repo.git"), "main")
		w.git("public/repo.git", "update-server-info")
	}
	push("second")
	if _, err := m.Update(t.Context(), []string{"repo"}, UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := ran(); !slices.Equal(got, both) {
		t.Errorf("update ran %q", got)
	}
	push("third")
	if list, err := m.Update(
		t.Context(),
		[]string{"repo"},
		UpdateOptions{NoVendor: true},
	); err != nil ||
		!list[0].Changed {
		t.Fatal(list, err)
	}
	if _, err := m.Remove(t.Context(), "repo"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Add(t.Context(), AddOptions{Source: s.URL + "/repo.git", NoVendor: true}); err != nil {
		t.Fatal(err)
	}
	if got := ran(); got != nil {
		t.Errorf("--no-vendor ran %q", got)
	}
}

// A real dependency from the module proxy is vendored and runs, later without a
// toolchain. VN-01 VN-02 VN-06
func TestVendorDependency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("sizes", map[string]string{
		"plugin.yaml": "description: sizes\n",
		"go.mod":      "module sizes\n\ngo 1.24\n\nrequire github.com/dustin/go-humanize v1.0.1\n",
		"main.go": `package sizes

import (
	"context"

	"github.com/dustin/go-humanize"
	"github.com/idelchi/aura/sdk"
)

func Schema() sdk.ToolSchema {
	return sdk.ToolSchema{Name: "Size" + humanize.Ordinal(1), Description: "x", Parameters: sdk.ToolParameters{Type: "object"}}
}

func Execute(_ context.Context, _ sdk.Context, _ map[string]any) (string, error) { return humanize.Bytes(82854982), nil }
`,
	})
	if _, err := w.manager().Add(t.Context(), AddOptions{Source: url}); err != nil {
		t.Fatal(err)
	}
	if !w.exists(w.plugins("sizes", "vendor", "github.com", "dustin", "go-humanize", "bytes.go")) {
		t.Error("not vendored")
	}
	if sum := w.read(
		w.plugins("sizes", "go.sum"),
	); !strings.Contains(sum, "go-humanize v1.0.1 h1:") ||
		strings.Contains(sum, sdkPath) {
		t.Errorf("go.sum:\n%s", sum)
	}
	// Without a toolchain in reach, later loads use what is there.
	w.set("PATH=" + w.path("nothing"))
	if p := w.listed()["sizes"]; p.Tool != "Size1st" || p.Error != "" {
		t.Errorf("listed: %+v", p)
	}
}

func TestGoEnv(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  map[string]string
		want []string
	}{
		{"nothing set", map[string]string{}, []string{"GOPROXY=P,direct", "GONOPROXY=none", "GONOSUMDB=" + sdkPath, "GOFLAGS=-mod=mod -modcacherw"}},
		{
			"everything set",
			map[string]string{"GOPROXY": "https://a|off", "GONOPROXY": "corp.example,x/*", "GONOSUMDB": "corp.example", "GOFLAGS": "-mod=vendor -buildvcs=false --modfile=x"},
			[]string{"GOPROXY=P,https://a|off", "GONOPROXY=corp.example,x/*", "GONOSUMDB=corp.example," + sdkPath, "GOFLAGS=-buildvcs=false -mod=mod -modcacherw"},
		},
		{
			"the SDK itself is private",
			map[string]string{"GOPROXY": "https://a", "GONOPROXY": "corp.example,github.com/idelchi/*"},
			[]string{"GOPROXY=P,direct", "GONOPROXY=corp.example"},
		},
	} {
		got := goEnv(tt.set, "P", "C")
		for _, kv := range append(tt.want, "GOWORK=off", "GOMODCACHE=C") {
			if !slices.Contains(got, kv) {
				t.Errorf("%s: no %s in %q", tt.name, kv, got)
			}
		}
	}
}

// A replacement that exists only on the author's machine, and checksums of
// another SDK, do not matter.
func TestPrepareModule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.write("p", map[string]string{
		"go.mod": "module p\n\ngo 1.24\n\nrequire github.com/idelchi/aura/sdk v0.1.0 // keep\n\n" +
			"replace github.com/idelchi/aura/sdk => ../../sdk\n",
		"go.sum": "a v1 h1:x\ngithub.com/idelchi/aura/sdk v0.1.0 h1:x\n" +
			"github.com/idelchi/aura/sdk v0.1.0/go.mod h1:x\n",
	})
	if err := prepareModule(dir); err != nil {
		t.Fatal(err)
	}
	if got := w.read(dir, "go.mod"); strings.Contains(got, "replace") || !strings.Contains(got, "sdk v0.1.0 // keep") {
		t.Errorf("go.mod:\n%s", got)
	}
	if got := w.read(dir, "go.sum"); got != "a v1 h1:x\n" {
		t.Errorf("go.sum:\n%s", got)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cache := w.write("cache", map[string]string{
		"cache/download/example.com/!x/@v/v1.0.0.mod":       "module example.com/X\n",
		"cache/download/example.com/!x/@v/list":             "v1.0.0\n",
		"cache/download/example.com/!x/@v/v1.0.0.lock":      "secret",
		"cache/download/secret.zip":                         "secret",
		"cache/download/github.com/idelchi/aura/sdk/@v/old": "old",
	})
	p, err := startProxy(cache)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	get := func(url string) (int, []byte) {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, body
	}
	sdk := "/github.com/idelchi/aura/sdk"
	for path, want := range map[string]string{
		sdk + "/@v/list":                   "v0.1.0\n",
		sdk + "/@latest":                   `"Version":"v0.1.0"`,
		sdk + "/@v/main.info":              `"Version":"v0.1.0"`,
		sdk + "/@v/v0.0.0.info":            `"Version":"v0.0.0"`,
		sdk + "/@v/v7.8.9.mod":             "module github.com/idelchi/aura/sdk\n",
		"/example.com/!x/@v/v1.0.0.mod":    "module example.com/X\n",
		"/example.com/!x/@v/list":          "404",
		"/example.com/!x/@latest":          "404",
		"/example.com/!x/@v/v1.0.0.lock":   "404",
		"/example.com/!x/@v/v2.0.0.mod":    "404",
		"/example.com/!x/@v/../../x.zip":   "404",
		"/example.com/@v/..%2fsecret.zip":  "404",
		"/example.com/@v/..%5csecret.zip":  "404",
		"/sumdb/sum.golang.org/supported":  "404",
		sdk + "/@v/v0.0.0.exe":             "404",
		"/github.com/idelchi/aura/@v/list": "404",
		"/..%2f..%2fetc/@v/passwd.info":    "404",
	} {
		code, body := get(p.URL + path)
		if want == "404" && code != 404 || want != "404" && (code != 200 || !strings.Contains(string(body), want)) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := get(strings.TrimSuffix(p.URL, p.secret) + "guess" + sdk + "/@v/list"); code != 404 {
		t.Errorf("without the secret: %d", code)
	}
	_, body := get(p.URL + sdk + "/@v/v0.0.0.zip")
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if !slices.Contains(names, "github.com/idelchi/aura/sdk@v0.0.0/version/version.go") ||
		!slices.Contains(names, "github.com/idelchi/aura/sdk@v0.0.0/go.mod") {
		t.Errorf("zip has %v", names)
	}
}
