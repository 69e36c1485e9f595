package app_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
)

// HO-35: what a user allows holds as long as they say: for this call, for the session
// and its resumption, or for good in a file that the next run honours.
func TestApprovalsLast(t *testing.T) {
	for _, c := range []struct {
		remember agent.Remember
		asked    int  // Times, in a session of two calls.
		resumed  bool // Whether a resumed session need not ask.
		file     string
	}{
		{"", 2, false, ""},
		{agent.ForSession, 1, true, ""},
		{agent.ForProject, 1, true, "project/.aura/config/rules/approvals.yaml"},
		{agent.ForAlways, 1, true, "home/.aura/config/rules/approvals.yaml"},
	} {
		t.Run("remember "+string(c.remember), func(t *testing.T) {
			root := t.TempDir()
			write(
				t,
				root,
				"project/.aura/config/providers/p.yaml",
				"p: {type: script, script: ../../../../turns.yaml}\n",
			)
			write(t, root, "project/.aura/config/features/f.yaml", "tools: {policy: {confirm: [Bash]}}\n")
			write(t, root, "home/.aura/config/features/f.yaml", "{}\n")
			write(t, root, "turns.yaml", `
turns:
  - {when: go, repeat: 1, calls: [{name: Bash, arguments: {command: echo one}}]}
  - {when: go, repeat: 1, calls: [{name: Bash, arguments: {command: echo two}}]}
  - {when: go, text: ok, expect: {last: [two], not_contains: [needs approval]}}
  - {when: again, repeat: 1, calls: [{name: Bash, arguments: {command: echo three}}]}
  - {when: again, text: ok}
`)
			asked := 0
			ask := func(_ context.Context, q agent.Approval) agent.Decision {
				asked++
				return agent.Decision{Allow: true, Remember: c.remember, Pattern: "Bash:echo*"}
			}
			id := run(t, root, "", "go", ask)
			if asked != c.asked {
				t.Errorf("asked %d times, want %d", asked, c.asked)
			}
			for _, file := range []string{"project/.aura/config/rules/approvals.yaml", "home/.aura/config/rules/approvals.yaml"} {
				text, _ := os.ReadFile(filepath.Join(root, file))
				if strings.Contains(string(text), "Bash:echo*") != (file == c.file) {
					t.Errorf("%s: %q", file, text)
				}
			}
			// Nobody can be asked now.
			if got := result(t, root, id); strings.Contains(got, "needs approval") == c.resumed {
				t.Errorf("resumed: %s", got)
			}
			if got := result(t, root, ""); strings.Contains(got, "needs approval") == (c.file != "") {
				t.Errorf("next run: %s", got)
			}
		})
	}
}

// HO-35: what is allowed in a project holds nowhere else. Without a home of its own the
// choice is not there, and who takes it anyway gets the session.
func TestApprovalsWithoutProject(t *testing.T) {
	for name, c := range map[string]struct {
		homes config.HomeOptions
		git   bool
		keep  []agent.Remember
	}{
		"no home":                {keep: []agent.Remember{agent.ForSession, agent.ForAlways}},
		"no home at all":         {homes: config.HomeOptions{Home: new(string), Config: []string{"shared"}}, keep: []agent.Remember{agent.ForSession}},
		"a home of others":       {homes: config.HomeOptions{Config: []string{"shared"}}, keep: []agent.Remember{agent.ForSession, agent.ForAlways}},
		"a home inside":          {homes: config.HomeOptions{Config: []string{"shared", "project/conf"}}, keep: []agent.Remember{agent.ForSession, agent.ForProject, agent.ForAlways}},
		"a home of the checkout": {homes: config.HomeOptions{Config: []string{"shared"}}, git: true, keep: []agent.Remember{agent.ForSession, agent.ForProject, agent.ForAlways}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range []string{"home/.aura", "shared"} {
				write(
					t,
					root,
					dir+"/config/providers/p.yaml",
					"p: {type: script, script: "+filepath.Join(root, "turns.yaml")+"}\n",
				)
				write(t, root, dir+"/config/features/f.yaml", "tools: {policy: {confirm: [Bash]}}\n")
			}
			write(t, root, "project/conf/config/features/f.yaml", "{}\n")
			if c.git {
				write(t, root, ".git/HEAD", "")
			}
			write(
				t,
				root,
				"turns.yaml",
				"turns: [{when: go, repeat: 2, calls: [{name: Bash, arguments: {command: echo one}}]}, {when: "+
					"go, text: ok}]\n",
			)
			o := c.homes
			o.Workdir = filepath.Join(root, "project")
			for i, dir := range o.Config {
				o.Config[i] = filepath.Join(root, dir)
			}
			if home := filepath.Join(root, "home", ".aura"); o.Home == nil {
				o.Home = &home
			}
			asked, notices := 0, ""
			a, err := app.Open(t.Context(), app.Options{Homes: o}, app.Face{
				Approve: func(_ context.Context, q agent.Approval) agent.Decision {
					if asked++; !slices.Equal(q.Keep, c.keep) {
						t.Errorf("choices %v, want %v", q.Keep, c.keep)
					}
					return agent.Decision{Allow: true, Remember: agent.ForProject, Pattern: "Bash:echo*"}
				},
				Observe: func(ev agent.Event) { notices += fmt.Sprintln(ev) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Submit(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if err := a.Close("exit"); err != nil {
				t.Fatal(err)
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
			kept := slices.Contains(c.keep, agent.ForProject)
			if told := strings.Contains(notices, "it holds for this session"); told == kept {
				t.Errorf("told %v: %s", told, notices)
			}
			var files []string
			err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
				if filepath.Base(path) == "approvals.yaml" {
					files = append(files, path)
				}
				return err
			})
			if err != nil || len(files) > 0 != kept ||
				kept && strings.HasPrefix(files[0], filepath.Join(root, "home")) {
				t.Errorf("saved in %v, %v", files, err)
			}
		})
	}
}

// /why tells what the user decided about a call, and who asked.
func TestWhyApproval(t *testing.T) {
	for _, c := range []struct {
		decision agent.Decision
		want     string
	}{
		{agent.Decision{Allow: true}, "you allowed the call of Bash, * ago: this once.\n"},
		{agent.Decision{Allow: true, Remember: agent.ForSession, Pattern: "Bash:echo*"}, "you allowed the call " +
			"of Bash, * ago: for the session: Bash:echo*.\n"},
		{agent.Decision{Allow: true, Remember: agent.ForProject, Pattern: "Bash:echo*"}, "you allowed the call " +
			"of Bash, * ago: always in this project: Bash:echo*.\n"},
		{agent.Decision{Allow: true, Remember: agent.ForAlways, Pattern: "Bash:echo*"}, "you allowed the call " +
			"of Bash, * ago: always: Bash:echo*.\n"},
		{agent.Decision{Reason: "not on a Friday."}, "you refused the call of Bash, * ago: not on a Friday.\n"},
		{agent.Decision{}, "you refused the call of Bash, * ago: no reason given.\n"},
	} {
		root := t.TempDir()
		write(t, root, "project/.aura/config/providers/p.yaml", "p: {type: script, script: ../../../../turns.yaml}\n")
		write(t, root, "project/.aura/config/features/f.yaml", "tools: {policy: {confirm: [Bash]}}\n")
		write(
			t,
			root,
			"turns.yaml",
			"turns: [{calls: [{name: Bash, arguments: {command: echo one}}]}, {text: ok}, {calls: [{name: Bash, "+
				"arguments: {command: ls}}]}, {text: ok}]\n",
		)
		home := filepath.Join(root, "home", ".aura")
		said := ""
		a, err := app.Open(
			t.Context(),
			app.Options{Homes: config.HomeOptions{Workdir: filepath.Join(root, "project"), Home: &home}},
			app.Face{
				Approve: func(context.Context, agent.Approval) agent.Decision { return c.decision },
				Print:   func(text string) { said = text },
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{"go", "/why"} {
			if err := a.Submit(t.Context(), input); err != nil {
				t.Fatal(err)
			}
		}
		before, after, _ := strings.Cut(c.want, "*")
		if !strings.HasPrefix(said, before) ||
			!strings.Contains(said, after+"The question came from guard \"policy\": tool policy, confirm: Bash.\n") ||
			strings.Contains(said, "Before that") {
			t.Errorf("%+v: %s", c.decision, said)
		}
		c.decision = agent.Decision{Reason: "enough"}
		for _, input := range []string{"again", "/why"} {
			if err := a.Submit(t.Context(), input); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(said, "you refused the call of Bash, ") ||
			!strings.Contains(said, "Before that:\n  "+before) ||
			strings.Contains(said, "wanted you to decide") {
			t.Errorf("then: %s", said)
		}
		if err := a.Close("exit"); err != nil {
			t.Error(err)
		}
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// open starts a session in root/project.
func open(t *testing.T, root, resume string, ask func(context.Context, agent.Approval) agent.Decision) *app.App {
	t.Helper()
	home := filepath.Join(root, "home", ".aura")
	a, err := app.Open(
		t.Context(),
		app.Options{Homes: config.HomeOptions{Workdir: filepath.Join(root, "project"), Home: &home}},
		app.Face{Approve: ask},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context(), resume); err != nil {
		t.Fatal(err)
	}
	return a
}

// run plays one input and returns the ID of the session.
func run(t *testing.T, root, resume, input string, ask func(context.Context, agent.Approval) agent.Decision) string {
	t.Helper()
	a := open(t, root, resume, ask)
	if err := a.Submit(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	id := a.Agent().Log().ID()
	if err := a.Close("exit"); err != nil {
		t.Fatal(err)
	}
	return id
}

// result plays a turn with a call that needs approval, without anybody to ask, and
// returns what became of the call.
func result(t *testing.T, root, resume string) string {
	t.Helper()
	a := open(t, root, resume, nil)
	defer a.Close("exit")
	seen := ""
	if err := a.Submit(t.Context(), "again"); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Agent().Pipeline().Records() {
		seen += r.Detail + "\n"
	}
	if strings.Contains(seen, "confirm: Bash") {
		return "needs approval"
	}
	return "allowed"
}
