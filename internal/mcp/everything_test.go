package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/tool"
)

// everything is the reference server of the protocol's authors.
const everything = "@modelcontextprotocol/server-everything@2026.8.31"

// installEverything returns the program of the reference server. It is installed once
// and kept in the user's cache.
func installEverything(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the reference server needs %s: %v", program, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no directory for the reference server: %v", err)
	}
	dir := filepath.Join(cache, "aura-test", filepath.Base(everything))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skipf("no directory for the reference server: %v", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	script := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return script
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(
		ctx,
		"npm",
		"install",
		"--prefix",
		dir,
		"--no-audit",
		"--no-fund",
		"--ignore-scripts",
		"--prefer-offline",
		"--loglevel=error",
		"--fetch-retries=0",
		everything,
	)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the reference server cannot be installed from the npm registry: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return script
}

// HO-10: the reference server, which uses everything there is in the protocol.
func TestEverything(t *testing.T) {
	t.Parallel()
	script := installEverything(t)
	asked := false
	h := open(t, mcp.Options{Dir: t.TempDir(), Ask: func(_ context.Context, q tool.Question) ([]string, error) {
		asked = true
		return nil, context.Canceled
	}}, mcp.Server{
		Name: "everything", Type: "stdio", Command: "node", Args: []string{script, "stdio"}, Timeout: 20 * time.Second,
	})
	if got := h.Connected(); !slices.Equal(got, []string{"everything"}) {
		t.Fatalf("not connected: %q", h.Notices())
	}
	if notices := h.Notices(); len(notices) > 0 {
		t.Errorf("notices: %q", notices)
	}
	status, err := h.Inspect(t.Context(), "everything")
	if err != nil || len(status.Tools) < 8 || len(status.Prompts) < 3 || len(status.Resources) == 0 {
		t.Errorf(
			"status: %d tools, %d prompts, %d resources, %v",
			len(status.Tools),
			len(status.Prompts),
			len(status.Resources),
			err,
		)
	}
	call := func(name string, args map[string]any, want ...string) tool.Result {
		t.Helper()
		x := find(t, h, "mcp__everything__"+name)
		if problems := x.Schema.Check(args); len(problems) > 0 {
			t.Errorf("%s: the schema refuses %v: %v", name, args, problems)
		}
		r, err := x.Execute(t.Context(), tool.Call{ID: name, Args: args})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%s: %q lacks %q", name, r.Text, w)
			}
		}
		return r
	}
	call("echo", map[string]any{"message": "hello"}, "hello")
	call("get-sum", map[string]any{"a": 2, "b": 3}, "5")
	if r := call("get-tiny-image", map[string]any{}); len(r.Images) != 1 || r.Images[0].MediaType != "image/png" {
		t.Errorf("images: %d", len(r.Images))
	}
	call("get-structured-content", map[string]any{"location": "New York"}, "temperature")
	call("get-resource-reference", map[string]any{"resourceType": "Text", "resourceId": 1}, "<resource uri=")
	call("get-resource-links", map[string]any{"count": 2}, "[resource ")
	var lines []string
	r, err := find(t, h, "mcp__everything__trigger-long-running-operation").Execute(t.Context(), tool.Call{
		ID:     "long",
		Args:   map[string]any{"duration": 0.2, "steps": 2},
		Output: func(s string) { lines = append(lines, s) },
	})
	if err != nil || !strings.Contains(r.Text, "completed") || len(lines) == 0 {
		t.Errorf("long operation: %q, %v, progress %q", r.Text, err, lines)
	}
	if p, err := h.Prompt(
		t.Context(),
		"mcp__everything__args-prompt",
		"city=Rome",
	); err != nil ||
		!strings.Contains(p.Text, "Rome") {
		t.Errorf("prompt: %q, %v", p.Text, err)
	}
	if x := slices.IndexFunc(
		h.Tools(),
		func(x tool.Tool) bool { return strings.Contains(x.Name, "elicitation-request") },
	); x >= 0 {
		if _, err := h.Tools()[x].Execute(
			t.Context(),
			tool.Call{ID: "ask", Args: map[string]any{}},
		); err != nil ||
			!asked {
			t.Errorf("a question to the user: asked %v, %v", asked, err)
		}
	}
	if _, err := find(
		t,
		h,
		"mcp__everything__get-sum",
	).Execute(t.Context(), tool.Call{ID: "bad", Args: map[string]any{"a": "x"}}); err == nil {
		t.Error("wrong arguments were taken")
	}
}
