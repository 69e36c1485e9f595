package manage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// update updates without vendoring.
func (w *world) update(o UpdateOptions, names ...string) ([]Updated, error) {
	o.NoVendor = true
	return w.manager().Update(w.Context(), names, o)
}

// A plugin stands for its pack, which is updated as a whole. MG-28 MG-29 MG-33
func TestUpdatePack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("tools", both(pluginFiles("gotify", "gotify"), pluginFiles("notepad", "notepad")))
	first := w.add(url).Origin.Commit
	for i, name := range []string{"gotify", "tools", "NOTEPAD"} {
		note := strings.Repeat("x", i+1)
		next := w.commit("tools", "change "+note, map[string]string{"notepad/note": note, "gotify/note": note})
		list, err := w.update(UpdateOptions{}, name)
		if err != nil || len(list) != 1 || list[0].From != first || list[0].To != next || !list[0].Changed {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		if len(list[0].Commits) != 1 || !strings.HasSuffix(list[0].Commits[0], "change "+note) {
			t.Errorf("commits %q", list[0].Commits)
		}
		for _, member := range []string{"gotify", "notepad"} {
			if got := w.read(w.plugins("tools", member, "note")); got != note {
				t.Errorf("%s: %s has %q", name, member, got)
			}
		}
		lock, err := readLock(w.project())
		if err != nil || lock.Plugins["tools"].Commit != next {
			t.Errorf("lock: %+v, %v", lock.Plugins["tools"], err)
		}
		first = next
	}
	before := w.snapshot()
	if list, err := w.update(UpdateOptions{}, "tools", "gotify"); err != nil || len(list) != 1 || list[0].Changed {
		t.Errorf("again: %+v, %v", list, err)
	}
	w.unchanged(before)
}

// MG-30
func TestUpdateAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(w.repo("one", pluginFiles("", "one")))
	global := New(Options{Homes: []Home{{Dir: w.global(), Global: true}}, Env: w.env})
	if _, err := global.Add(
		t.Context(),
		AddOptions{Source: w.repo("two", pluginFiles("", "two")), NoVendor: true},
	); err != nil {
		t.Fatal(err)
	}
	w.write("local", pluginFiles("", "local"))
	w.add(w.path("local"))
	w.commit("one", "more", map[string]string{"note": "1"})
	w.commit("two", "more", map[string]string{"note": "2"})
	list, err := w.update(UpdateOptions{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if w.read(w.plugins("one", "note")) != "1" || w.read(w.global(), "plugins", "two", "note") != "2" {
		t.Error("not updated")
	}
}

// A branch that was rewritten, and a tag that was moved, are followed.
func TestUpdateMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := w.repo("repo", pluginFiles("", "repo"))
	w.git("repo", "tag", "v1")
	w.commit("repo", "second", map[string]string{"note": "2"})
	w.add(url)
	w.add(url, func(o *AddOptions) { o.Name, o.Ref = "tagged", "v1" })
	w.git("repo", "reset", "-q", "--hard", "HEAD~1")
	third := w.commit("repo", "rewritten", map[string]string{"note": "3"})
	w.git("repo", "tag", "-f", "v1")
	list, err := w.update(UpdateOptions{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, u := range list {
		if u.To != third || w.read(w.plugins(u.Name, "note")) != "3" {
			t.Errorf("%+v", u)
		}
	}
	// A commit stays what it is.
	if _, err := w.manager().Remove(t.Context(), "tagged"); err != nil {
		t.Fatal(err)
	}
	w.add(url, func(o *AddOptions) { o.Name, o.Ref = "pinned", third })
	w.commit("repo", "fourth", map[string]string{"note": "4"})
	if list, err := w.update(UpdateOptions{}, "pinned"); err != nil || list[0].Changed {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestUpdateDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(w.repo("repo", both(pluginFiles("", "repo"), map[string]string{"gone": "x"})))
	if err := os.Remove(w.path("repo", "gone")); err != nil {
		t.Fatal(err)
	}
	w.commit("repo", "second", map[string]string{"new file": "x"})
	w.commit("repo", "third", map[string]string{"plugin.yaml": "description: other\n"})
	before := w.snapshot()
	list, err := w.update(UpdateOptions{DryRun: true}, "repo")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	u := list[0]
	if !slices.Equal(u.Files, []string{"D gone", "A new file", "M plugin.yaml"}) || len(u.Commits) != 2 ||
		!strings.HasSuffix(u.Commits[0], " third") {
		t.Errorf("%+v", u)
	}
	w.unchanged(before)
}

// An update that does not work out leaves the old plugin as it was, and the others
// are updated all the same. VN-20
func TestUpdateFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files map[string]string
		step  string
		want  string
	}{
		{"broken source", map[string]string{"main.go": "package repo\nfunc {"}, "", "does not load"},
		{"no plugin left", map[string]string{"plugin.yaml": ""}, "", ""},
		{"incompatible", map[string]string{"vendor/" + sdkPath + "/version/version.go": "package version\nconst " +
			"Version = \"0.2.0\"\n"}, "", "plugin requires SDK ~0.2.0, host has 0.1.0"},
		{"swap", nil, "swap", "injected"},
		{"place", nil, "place", "injected"},
		{"record", nil, "record", "injected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add(w.repo("repo", pluginFiles("", "repo")))
			if tt.want == "" {
				tt.want = "no plugin found"
				w.git("repo", "rm", "-q", "plugin.yaml")
				tt.files = nil
			}
			w.commit("repo", "bad", both(tt.files, map[string]string{"note": "x"}))
			before := w.snapshot()
			w.failWith = tt.step
			list, err := w.update(UpdateOptions{}, "repo")
			wants(t, err, "repo was not updated and is as it was", tt.want)
			if len(list) != 1 || list[0].Err == nil {
				t.Errorf("%+v", list)
			}
			w.unchanged(before)
			if p := w.listed()["repo"]; p.Error != "" {
				t.Errorf("%+v", p)
			}
		})
	}
	t.Run("the rest goes on", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.add(w.repo("bad", pluginFiles("", "bad")))
		w.add(w.repo("good", pluginFiles("", "good")))
		w.commit("bad", "bad", map[string]string{"main.go": "package"})
		w.commit("good", "good", map[string]string{"note": "x"})
		list, err := w.update(UpdateOptions{})
		wants(t, err, "bad was not updated")
		if len(list) != 2 || list[1].Err != nil || !w.exists(w.plugins("good", "note")) {
			t.Errorf("%+v", list)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.add(w.repo("repo", pluginFiles("", "repo")))
		w.commit("repo", "second", map[string]string{"note": "x"})
		before := w.snapshot()
		ctx, cancel := context.WithCancel(t.Context())
		m := w.manager()
		m.inject = func(step string) error {
			if step == "check" {
				cancel()
			}
			return nil
		}
		if _, err := m.Update(ctx, nil, UpdateOptions{NoVendor: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		w.unchanged(before)
	})
}

// A process that was killed at the worst moment: the next one puts things right.
func TestUpdateKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(w.repo("repo", pluginFiles("", "repo")))
	before := w.snapshot()
	m := w.manager()
	c, err := m.begin(t.Context(), m.o.Homes[1])
	if err != nil {
		t.Fatal(err)
	}
	w.write("project/.aura/plugins/.work", map[string]string{targetName: "repo\n", "new/repo/plugin.yaml": "x"})
	if err := os.Rename(w.plugins("repo"), w.plugins(workName, oldName)); err != nil {
		t.Fatal(err)
	}
	c.guard.Close() // What the system does when a process dies.
	if len(w.listed()) != 0 {
		t.Error("the plugin is still there")
	}
	c, err = m.begin(t.Context(), m.o.Homes[1])
	if err != nil {
		t.Fatal(err)
	}
	c.end()
	w.unchanged(before)
}

// What a user changed in plugin.yaml survives; other edits stop the update.
func TestUpdateEdits(t *testing.T) {
	t.Parallel()
	yaml := "description: old\n\n\n\nconfig:\n  limit: 3\n"
	start := func(t *testing.T) *world {
		w := newWorld(t)
		w.add(
			w.repo(
				"pack",
				both(pluginFiles("one", "one"), pluginFiles("two", "two"), map[string]string{"one/plugin.yaml": yaml}),
			),
		)
		return w
	}
	t.Run("merged", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.write(
			"project/.aura/plugins/pack/one",
			map[string]string{
				"plugin.yaml": strings.Replace(yaml, "limit: 3", "limit: 9 # mine", 1),
				"state.db":    "mine",
			},
		)
		if _, err := w.manager().SetEnabled(t.Context(), "two", false); err != nil {
			t.Fatal(err)
		}
		w.commit(
			"pack",
			"second",
			map[string]string{"one/plugin.yaml": strings.Replace(yaml, "old", "new", 1), "two/note": "x"},
		)
		if _, err := w.update(UpdateOptions{}, "pack"); err != nil {
			t.Fatal(err)
		}
		if got := w.read(
			w.plugins("pack", "one", "plugin.yaml"),
		); !strings.Contains(got, "description: new") ||
			!strings.Contains(got, "limit: 9 # mine") {
			t.Errorf("plugin.yaml:\n%s", got)
		}
		if w.read(w.plugins("pack", "one", "state.db")) != "mine" || w.listed()["two"].Status != "disabled" {
			t.Error("a file or a switch was lost")
		}
		list, _, err := w.manager().Verify(t.Context())
		if err != nil || len(list) != 2 ||
			list[0].What != "edited: one/plugin.yaml" && list[1].What != "edited: one/plugin.yaml" {
			t.Errorf("verify: %+v, %v", list, err)
		}
	})
	t.Run("same lines", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.write(
			"project/.aura/plugins/pack/one",
			map[string]string{"plugin.yaml": "disabled: true\ndescription: mine\n"},
		)
		w.commit("pack", "second", map[string]string{"one/plugin.yaml": "description: theirs\n"})
		before := w.snapshot()
		_, err := w.update(UpdateOptions{}, "pack")
		wants(t, err, "one/plugin.yaml was edited here and changed there", "--force")
		w.unchanged(before)
		if _, err := w.update(UpdateOptions{Force: true}, "pack"); err != nil {
			t.Fatal(err)
		}
		if p := w.listed()["one"]; p.Description != "theirs" || p.Status != "disabled" {
			t.Errorf("%+v", p)
		}
	})
	t.Run("source", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.write("project/.aura/plugins/pack/one", map[string]string{"more.go": "package one\n"})
		w.write(
			"project/.aura/plugins/pack/two",
			map[string]string{"main.go": w.read(w.plugins("pack", "two", "main.go")) + "// mine\n"},
		)
		w.commit("pack", "second", map[string]string{"note": "x"})
		before := w.snapshot()
		_, err := w.update(UpdateOptions{}, "pack")
		wants(t, err, "two/main.go", "--force")
		w.unchanged(before)
		if _, err := w.update(UpdateOptions{Force: true}, "pack"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(w.read(w.plugins("pack", "two", "main.go")), "mine") {
			t.Error("--force kept the edit")
		}
	})
	t.Run("without .git", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		if err := os.RemoveAll(w.plugins("pack", ".git")); err != nil {
			t.Fatal(err)
		}
		// A repository around it must not be mistaken for its own.
		w.git("project", "init", "-q")
		if _, err := w.manager().SetEnabled(t.Context(), "two", false); err != nil {
			t.Fatal(err)
		}
		w.commit("pack", "second", map[string]string{"note": "x"})
		if _, err := w.update(UpdateOptions{}, "pack"); err != nil {
			t.Fatal(err)
		}
		if !w.exists(w.plugins("pack", "note")) || w.listed()["two"].Status != "disabled" {
			t.Error("not updated, or the switch was lost")
		}
	})
}

// A vendored SDK that no longer fits is renewed by an update, whether or not
// there are new commits. VN-13 VN-23 VN-24
func TestUpdateSDK(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("GOPROXY=off")
	url := w.repo("repo", pluginFiles("", "repo"))
	w.add(url)
	if p := w.listed()["repo"]; p.SDK != nil || p.Error != "" {
		t.Errorf("without vendor: %+v", p)
	}
	file := filepath.Join("vendor", filepath.FromSlash(sdkPath), "version", "version.go")
	w.write(
		"project/.aura/plugins/repo",
		map[string]string{filepath.ToSlash(file): "package version\nconst Version = \"0.2.0\"\n"},
	)
	if p := w.listed()["repo"]; p.SDK == nil || p.SDK.Compatible ||
		!strings.Contains(p.Error, "plugin requires SDK ~0.2.0, host has 0.1.0") {
		t.Errorf("incompatible: %+v", p)
	}
	list, err := w.manager().Update(t.Context(), []string{"repo"}, UpdateOptions{})
	if err != nil || !list[0].Vendored {
		t.Fatalf("%+v, %v", list, err)
	}
	if p := w.listed()["repo"]; p.SDK == nil || !p.SDK.Compatible || p.Error != "" {
		t.Errorf("after the update: %+v", p)
	}
	w.write(
		"project/.aura/plugins/repo",
		map[string]string{filepath.ToSlash(file): "package version\nconst Version = \"0.2.0\"\n"},
	)
	w.commit("repo", "second", map[string]string{"note": "x"})
	if list, err = w.manager().Update(t.Context(), []string{"repo"}, UpdateOptions{}); err != nil || list[0].Vendored {
		t.Fatalf("%+v, %v", list, err)
	}
	if p := w.listed()["repo"]; !p.SDK.Compatible || p.Error != "" {
		t.Errorf("after the second update: %+v", p)
	}
}
