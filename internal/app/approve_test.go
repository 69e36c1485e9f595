package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
)

// HO-35: what a person allows holds as long as they say: for this call, for the session
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
			write(t, root, "project/.aura/config/providers/p.yaml", "p: {type: script, script: ../../../../turns.yaml}\n")
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
	a, err := app.Open(app.Options{Homes: config.HomeOptions{Workdir: filepath.Join(root, "project"), Home: &home}}, app.Face{Approve: ask})
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
