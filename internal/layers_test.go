// Package internal_test holds the shape of the whole program: who may import
// whom, and what must not be linked. What the packages do is tested beside them.
package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

const module = "github.com/idelchi/aura"

// layers is the order of the packages. A package may import packages of lower
// layers only. A name ending in /* stands for every package below it that has no
// line of its own. ARCHITECTURE.md explains the layers.
var layers = [][]string{
	{"sdk", "sdk/version", "internal/wording", "internal/jsontext", "internal/atomicfile", "internal/templates",
		"internal/markdown", "internal/procgroup", "internal/foreign", "internal/todo", "internal/plugin/symbols",
		"internal/width", "internal/highlight", "internal/terminal", "internal/media", "internal/generation",
		"internal/filter", "internal/gitignore", "internal/literal", "internal/lockfile", "internal/catalogue"},
	{"internal/message", "internal/condition", "internal/strictyaml", "internal/sh", "internal/plugin/native/pipe",
		"internal/line", "internal/line/history", "internal/schedule", "internal/walk"},
	{"internal/tool", "internal/conversation", "internal/lifecycle", "internal/provider", "internal/session",
		"internal/plugin/native", "internal/plugin/manifest"},
	{"internal/config", "internal/demo", "internal/extension", "internal/agent", "internal/tools", "internal/sandbox",
		"internal/provider/*"},
	{"internal/guard", "internal/hooks", "internal/plugin", "internal/plugin/*", "internal/pyext", "internal/mcp",
		"internal/skills", "internal/tasks", "internal/models", "internal/environ", "internal/instructions",
		"internal/render"},
	{"internal/plugin/manage", "internal/profile", "internal/workspace", "internal/commands", "internal/doctor",
		"internal/plain"},
	{"internal/tui", "internal/app"},
	{"internal/cli"},
	{"."},
}

// exempt reports whether a package is outside the layers: programs for
// developers, and what only tests import.
func exempt(name string) bool {
	return strings.HasPrefix(name, "internal/cmd/") || name == "bench" || strings.HasPrefix(name, "bench/") ||
		strings.HasPrefix(name, "examples/") || name == "internal" || strings.HasSuffix(path.Base(name), "test")
}

// layerOf returns the layer of a package, or -1.
func layerOf(name string) int {
	wild := -1
	for i, row := range layers {
		for _, entry := range row {
			if entry == name {
				return i
			}
			if dir, ok := strings.CutSuffix(entry, "/*"); ok && strings.HasPrefix(name, dir+"/") {
				wild = i
			}
		}
	}
	return wild
}

// local returns the name of a package inside the repository. What others wrote is not
// one, wherever its source is kept.
func local(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	name, ok := strings.CutPrefix(importPath, module+"/")
	return name, ok && !strings.HasPrefix(name, "third_party/")
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Path, Version string }
}

// goList runs go list at the root of the module.
func goList(t *testing.T, args ...string) (list []goPackage) {
	t.Helper()
	cmd := exec.CommandContext(
		t.Context(),
		"go",
		append([]string{"list", "-json=ImportPath,Imports,Module"}, args...)...)
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "./...") {
		name, ok := local(p.ImportPath)
		if !ok || exempt(name) {
			continue
		}
		layer := layerOf(name)
		if layer < 0 {
			t.Errorf("%s has no layer: add it to the table in internal/layers_test.go and in ARCHITECTURE.md", name)
			continue
		}
		for _, imp := range p.Imports {
			target, ok := local(imp)
			switch {
			case !ok:
			case exempt(target):
				t.Errorf("%s imports %s, which is for tests and developers only", name, target)
			case layerOf(target) >= layer:
				t.Errorf(
					"%s (layer %d) imports %s (layer %d): a package may import lower layers only",
					name,
					layer,
					target,
					layerOf(target),
				)
			}
		}
	}
}

// slow are packages that cost every start of the program more than they may, and
// what to use in their place.
var slow = map[string]string{
	"github.com/alecthomas/chroma/v2/lexers":  "chroma's core with embedded lexers: the package costs about 9 ms",
	"github.com/alecthomas/chroma/v2/styles":  "chroma's core with one style: the package costs about 10 ms",
	"github.com/alecthomas/chroma/v2/quick":   "chroma's core: the package links lexers and styles",
	"github.com/charmbracelet/glamour":        "goldmark with a renderer of our own: it costs about 24 ms",
	"charm.land/glamour":                      "goldmark with a renderer of our own: it costs about 24 ms",
	"github.com/microcosm-cc/bluemonday":      "nothing: it costs about 1 ms",
	"github.com/santhosh-tekuri/jsonschema":   "internal/tool: it compiles its schemas at start, 7 ms",
	"github.com/pkoukk/tiktoken-go":           "the scaled estimate of internal/conversation",
	"github.com/tiktoken-go/tokenizer":        "the scaled estimate of internal/conversation",
	"github.com/Masterminds/semver":           "golang.org/x/mod/semver: it compiles regular expressions at start",
	"github.com/go-git/go-git":                "the git program",
	"github.com/google/go-cmp":                "nothing: it is for tests",
	"go.opencensus.io":                        "nothing: it costs 1.4 ms",
	"github.com/mark3labs/mcp-go":             "the official SDK: this one links santhosh-tekuri/jsonschema",
	"github.com/anthropics/anthropic-sdk-go":  "internal/provider/anthropic",
	"github.com/openai/openai-go":             "internal/provider/openai",
	"google.golang.org/genai":                 "internal/provider/google",
	"github.com/cogentcore/yaegi":             "third_party/yaegi",
	"github.com/traefik/yaegi":                "third_party/yaegi",
	module + "/third_party/yaegi/stdlib":      "symbol tables of our own that are filled when needed: it costs 1.3 ms",
	"go.opentelemetry.io/otel/exporters":      "the trace of internal/lifecycle",
	"github.com/mattn/go-runewidth@< v0.0.28": "v0.0.31: older ones build a table at start, 45 ms",
}

// generics is the one part of the interpreter's library that costs nothing: texts.
const generics = module + "/third_party/yaegi/stdlib/generic"

// What slows down every start is not linked into the program.
func TestFastStart(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "-deps", ".") {
		for banned, instead := range slow {
			name, below, versioned := strings.Cut(banned, "@< ")
			if p.ImportPath != name && !strings.HasPrefix(p.ImportPath, name+"/") || p.ImportPath == generics {
				continue
			}
			if versioned && p.Module != nil && semver.Compare(p.Module.Version, below) >= 0 {
				continue
			}
			t.Errorf("%s is linked; use %s", p.ImportPath, instead)
		}
	}
}

// Nothing happens before main: no package of the program has an init function.
func TestNoInit(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "vendor", "testdata", "third_party"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte("\nfunc "+"init() {")) {
			t.Errorf("%s has an init function: do it where it is needed, or in a literal table", file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
