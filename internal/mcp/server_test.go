package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/mcp"
)

// write makes a file below dir.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// HO-10: files of servers, in the order of their homes, with the project's .mcp.json
// between the global home and the project's own.
func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []mcp.File{
		{
			Home: "global",
			Path: write(
				t,
				dir,
				"g.yaml",
				"a: {command: global}\nb: {command: global}\nc: {command: global, timeout: 5}\n",
			),
		},
		{
			Home: "project",
			Path: write(
				t,
				dir,
				"p.yaml",
				"A:\n  url: https://example.org/mcp\n  headers: {X: \"${Y}\"}\n  deferred: true\n  condition: auto\n",
			),
		},
	}
	project := write(
		t,
		dir,
		".mcp.json",
		"{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"json\"},\n"+
			"\t\t\"b\": {\"command\": \"json\", \"timeout\": 1500, \"args\": [\"x\"]},\n"+
			"\t\t\"d\": {\"type\": \"streamable-http\", \"url\": \"http://localhost\"}\n\t}\n}\n",
	)
	servers, err := mcp.Load(files, "global", project)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]mcp.Server{}
	for _, s := range servers {
		got[s.Name] = s
	}
	if len(got) != 4 || got["A"].Type != "http" || !got["A"].Deferred || got["A"].Line != 1 || got["A"].When() == nil ||
		got["b"].Command != "json" || got["b"].Timeout != 1500*time.Millisecond || got["b"].Type != "stdio" ||
		got["b"].Line != 4 ||
		got["c"].Timeout != 5*time.Second || got["c"].When() != nil || got["d"].Type != "http" {
		t.Errorf("servers: %+v", servers)
	}
	if none, err := mcp.Load(files[:1], "global", ""); err != nil || len(none) != 3 {
		t.Errorf("without .mcp.json: %+v, %v", none, err)
	}
}

// All mistakes are found, each with its line.
func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ text, want string }{
		"broken":  {"a: [\n", ":"},
		"no map":  {"- a\n", ":1: want a mapping"},
		"scalar":  {"a: b\n", ":1: a: want a mapping"},
		"unknown": {"a:\n  commando: x\n", `:2: a.commando: unknown key (did you mean "command"?)`},
		"both":    {"a:\n  command: x\n  url: http://x\n", ":3: a.url: only type http has url and headers"},
		"both http": {"a:\n  type: http\n  url: http://x\n  command: x\n", ":4: a.command: only type stdio has " +
			"command, args and env"},
		"no url":  {"x: {}\na: {type: http}\n", ":2: a.url: missing"},
		"twice":   {"a: {command: x}\nA: {command: y}\n", ":2: A: server is already defined in"},
		"name":    {"\"!!\": {command: x}\n", ":1: !!: a server needs a name of letters and digits"},
		"timeout": {"a: {command: x, timeout: soon}\n", ":1: a.timeout: want a duration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, t.TempDir(), "x.yaml", x.text)
			_, err := mcp.Load([]mcp.File{{Home: "h", Path: path}}, "", "")
			if err == nil || !strings.Contains(err.Error(), path+x.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
	if _, err := mcp.Load([]mcp.File{{Path: filepath.Join(t.TempDir(), "gone.yaml")}}, "", ""); err == nil {
		t.Error("a file that is gone")
	}
}

// The project's file is looked for no further up than the repository goes.
func TestFindProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := write(t, dir, ".mcp.json", "{}")
	below := filepath.Join(dir, "repo", "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := mcp.FindProject(within(below)); got != "" {
		t.Errorf("outside a repository: %q", got)
	}
	if got := mcp.FindProject(within(dir)); got != outside {
		t.Errorf("in the directory itself: %q", got)
	}
	if err := os.MkdirAll(filepath.Join(dir, "repo", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := mcp.FindProject(within(below)); got != "" {
		t.Errorf("above the repository: %q", got)
	}
	inside := write(t, dir, "repo/.mcp.json", "{}")
	if got := mcp.FindProject(within(below)); got != inside {
		t.Errorf("in the repository: %q", got)
	}
	nearer := write(t, dir, "repo/a/.mcp.json", "{}")
	if got := mcp.FindProject(within(below)); got != nearer {
		t.Errorf("nearer: %q", got)
	}
}

// within lists the directories that count for one below them.
func within(dir string) []string {
	dirs, _ := config.Within(dir)
	return dirs
}

func FuzzLoad(f *testing.F) {
	f.Add("a: {command: x, args: [1]}\n")
	f.Add("a: &x {url: 'http://y'}\nb: *x\n<<: {c: {command: z}}\n")
	f.Add(`{"mcpServers": {"a": {"command": "x", "env": {"A": "${B:-c}"}}}}`)
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		yaml, json := write(t, dir, "x.yaml", text), write(t, dir, ".mcp.json", text)
		for _, project := range []string{"", json} {
			servers, err := mcp.Load([]mcp.File{{Home: "h", Path: yaml}}, "", project)
			for _, s := range servers {
				if s.Name == "" || s.Type == "" || s.Line == 0 || err != nil {
					t.Errorf("%+v, %v", s, err)
				}
			}
		}
	})
}
