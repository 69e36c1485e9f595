package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/tool"
)

// offered opens a session in a new project and returns the tools that the model
// gets, and those that it can load.
func offered(t *testing.T, files map[string]string, o app.Options) (now, later []string) {
	t.Helper()
	dir, none := t.TempDir(), ""
	for name, text := range files {
		path := filepath.Join(dir, ".aura", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.Homes, o.Noop = config.HomeOptions{Home: &none, Workdir: dir}, true
	a, err := app.Open(t.Context(), o, app.Face{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close("exit") })
	for _, x := range a.Agent().Profile().Tools {
		now = append(now, x.Name)
	}
	for _, x := range a.Agent().Profile().Deferred {
		later = append(later, x.Name)
	}
	return now, later
}

// HO-41 TL-42: the task is a layer like the others: it narrows the tools, and what
// it names is no longer hidden by opt-in.
func TestTaskLayer(t *testing.T) {
	files := map[string]string{"config/features/t.yaml": "tools: {opt_in: [Mkdir], disabled: [Write]}\n"}
	now, _ := offered(t, files, app.Options{})
	if slices.Contains(now, "Mkdir") || slices.Contains(now, "Write") || !slices.Contains(now, "Read") {
		t.Errorf("without a task: %v", now)
	}
	now, _ = offered(
		t,
		files,
		app.Options{Task: app.TaskOptions{Tools: tool.Filter{Enabled: []string{"Mkdir", "Write", "Read"}}}},
	)
	if got := strings.Join(now, " "); got != "Read Mkdir" {
		t.Errorf("the task enables: %s", got)
	}
	now, _ = offered(
		t,
		files,
		app.Options{Task: app.TaskOptions{Tools: tool.Filter{Enabled: []string{"*"}, Disabled: []string{"Read"}}}},
	)
	if slices.Contains(now, "Mkdir") || slices.Contains(now, "Read") || !slices.Contains(now, "Bash") {
		t.Errorf("the task disables: %v", now)
	}
}

// HO-39: every tool is either offered or can be loaded; what loads is never deferred.
func TestDeferredSplit(t *testing.T) {
	all, _ := offered(t, nil, app.Options{})
	for _, patterns := range []string{"[]", "[Bash]", "['*']", "['Todo*', LoadTools]"} {
		now, later := offered(
			t,
			map[string]string{"config/features/t.yaml": "tools: {deferred: " + patterns + "}\n"},
			app.Options{},
		)
		if slices.Contains(now, "LoadTools") != (len(later) > 0) || slices.Contains(later, "LoadTools") {
			t.Errorf("%s: %v and %v", patterns, now, later)
		}
		both := slices.DeleteFunc(append(now, later...), func(name string) bool { return name == "LoadTools" })
		slices.Sort(both)
		if want := slices.Sorted(slices.Values(all)); !slices.Equal(both, want) {
			t.Errorf("%s: got %v, want %v", patterns, both, want)
		}
	}
}
