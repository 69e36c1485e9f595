package plugin_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// writeFiles writes files below dir; the names have slashes.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// write makes a plugin called name below dir: go.mod, plugin.yaml, and main.go with
// the package clause and the imports before body. Of imports, context and the SDK
// are always there.
func write(t testing.TB, dir, name, yaml, imports, body string) {
	t.Helper()
	pkg := strings.ReplaceAll(filepath.Base(name), "-", "_")
	var list strings.Builder
	for _, i := range append([]string{"context", "github.com/idelchi/aura/sdk"}, strings.Fields(imports)...) {
		list.WriteString("import \"" + i + "\"\n")
	}
	writeFiles(t, filepath.Join(dir, name), map[string]string{
		"go.mod":      "module " + filepath.Base(name) + "\n\ngo 1.25\n",
		"plugin.yaml": yaml,
		"main.go": "package " + pkg + "\n\n" + list.String() + "\nvar _ context.Context\nvar _ sdk.Result\n" +
			"\n" + body + "\n",
	})
}

// load loads the plugins below dir, which must succeed.
func load(t testing.TB, o plugin.Options) *plugin.Set {
	t.Helper()
	o.Native.Cache = cmp.Or(o.Native.Cache, builds)
	s, err := plugin.Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// one loads a single plugin.
func one(t testing.TB, yaml, imports, body string) *plugin.Set {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "probe", yaml, imports, body)
	return load(t, plugin.Options{Dirs: []string{dir}})
}

// refused checks that a single plugin cannot be loaded and that the error has all
// the parts.
func refused(t *testing.T, o plugin.Options, parts ...string) {
	t.Helper()
	o.Native.Cache = cmp.Or(o.Native.Cache, builds)
	s, err := plugin.Load(t.Context(), o)
	if err == nil {
		s.Close()
		t.Fatalf("loaded, expected an error with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}

// dispatch runs the hooks of a set at the moment of data.
func dispatch(t testing.TB, s *plugin.Set, m lifecycle.Moment, data any) lifecycle.Outcome {
	t.Helper()
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.Bindings())
	return p.Dispatch(t.Context(), lifecycle.Event{Moment: m, Data: data}, nil)
}

// said is what the plugins of a set say before a model call.
func said(t testing.TB, s *plugin.Set) string {
	t.Helper()
	out := dispatch(t, s, lifecycle.BeforeChat, &sdk.BeforeChatContext{})
	var list []string
	for _, m := range out.Said {
		list = append(list, m.Text)
	}
	for _, n := range out.Notices {
		list = append(list, "notice: "+n.Text)
	}
	return strings.Join(list, "|")
}

// speak is the source of a BeforeChat that says what the expression gives.
func speak(expr string) string {
	return "func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {\n" +
		"\treturn sdk.Result{Message: " + expr + "}, nil\n}\n"
}
