package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/agent"
)

// AX-15 AX-57: what a user says about a tool of an extension that requires approval holds
// as long as they say, and without a yes its function never runs.
func TestExtensionApprovals(t *testing.T) {
	for _, c := range []struct {
		name     string
		decision agent.Decision
		asked    int // Times, in a session of two calls.
		ran      int
		resumed  bool // Whether a resumed session runs it, with nobody to ask.
		next     bool // Whether the next session does.
	}{
		{"no", agent.Decision{Reason: "not on a Friday"}, 2, 0, false, false},
		{"once", agent.Decision{Allow: true}, 2, 2, false, false},
		{"session", agent.Decision{Allow: true, Remember: agent.ForSession, Pattern: "deploy"}, 1, 2, true, false},
		{"project", agent.Decision{Allow: true, Remember: agent.ForProject, Pattern: "deploy"}, 1, 2, true, true},
		{"always", agent.Decision{Allow: true, Remember: agent.ForAlways, Pattern: "deploy"}, 1, 2, true, true},
		{"another pattern", agent.Decision{Allow: true, Remember: agent.ForAlways, Pattern: "Bash"}, 2, 2, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			write(
				t,
				root,
				"project/.aura/config/providers/p.yaml",
				"p: {type: script, script: ../../../../turns.yaml}\n",
			)
			write(t, root, "home/.aura/config/features/f.yaml", "{}\n")
			write(t, root, "project/.agent/extensions/ops.py", `
def register(api):
    @api.tool(name="deploy", description="Deploy", input_schema={"type": "object"}, side_effects=["network"], requires_approval=True)
    async def deploy(ctx):
        with open("deployed", "a") as f: f.write("x")
        return "it is out"
`)
			want := "it is out"
			if !c.decision.Allow {
				want = "not on a Friday"
			}
			write(t, root, "turns.yaml", `
turns:
  - {when: go, repeat: 1, calls: [{name: deploy}]}
  - {when: go, repeat: 1, calls: [{name: deploy}], expect: {last: [`+want+`]}}
  - {when: go, text: ok, expect: {last: [`+want+`]}}
  - {when: again, repeat: 1, calls: [{name: deploy}]}
  - {when: again, text: ok}
`)
			ran := func() int {
				text, _ := os.ReadFile(filepath.Join(root, "project", "deployed"))
				return strings.Count(string(text), "x")
			}
			asked := 0
			id := run(t, root, "", "go", func(_ context.Context, q agent.Approval) agent.Decision {
				if asked++; q.Tool != "deploy" {
					t.Errorf("asked about %q", q.Tool)
				}
				return c.decision
			})
			if asked != c.asked || ran() != c.ran {
				t.Errorf("asked %d times, ran %d times, want %d and %d", asked, ran(), c.asked, c.ran)
			}
			before := ran()
			run(t, root, id, "again", nil)
			if got := ran() > before; got != c.resumed {
				t.Errorf("resumed: ran %v", got)
			}
			before = ran()
			run(t, root, "", "again", nil)
			if got := ran() > before; got != c.next {
				t.Errorf("next session: ran %v", got)
			}
		})
	}
}
