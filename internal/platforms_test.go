package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// platforms are the systems that the Makefile builds for.
func platforms(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^CROSS\s*:=\s*(.*)$`).FindSubmatch(text)
	if m == nil {
		t.Fatal("the Makefile has no CROSS")
	}
	return strings.Fields(string(m[1]))
}

// The program is type-correct on every system it is built for. `make cross` builds it
// there, which takes minutes with an empty build cache.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	var parsed sources
	for _, platform := range platforms(t) {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			system, arch, _ := strings.Cut(platform, "/")
			c := checker{
				sources: &parsed, sizes: types.SizesFor("gc", arch),
				done: map[string]*types.Package{"unsafe": types.Unsafe},
			}
			for _, p := range c.list(t, "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0") {
				for _, err := range c.check(p) {
					t.Error(err)
				}
			}
		})
	}
}

// source is a package as the go command lists it.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Path, GoVersion string }
}

func (s source) ours() bool {
	return s.Module != nil && (s.Module.Path == module || strings.HasPrefix(s.Module.Path, module+"/"))
}

// sources keeps parsed files, which most systems share.
type sources struct {
	set   token.FileSet
	files sync.Map // By name: func() (*ast.File, error).
}

func (s *sources) parse(file string) (*ast.File, error) {
	once, _ := s.files.LoadOrStore(file, sync.OnceValues(func() (*ast.File, error) {
		return parser.ParseFile(&s.set, file, nil, parser.SkipObjectResolution)
	}))
	return once.(func() (*ast.File, error))()
}

// checker checks the packages of one system.
type checker struct {
	sources *sources
	sizes   types.Sizes
	done    map[string]*types.Package
}

// list returns all packages of the program and what they need, each after its imports.
func (c checker) list(t *testing.T, env ...string) (list []source) {
	t.Helper()
	cmd := exec.CommandContext(
		t.Context(), "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...",
	)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p source
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// check type-checks a package: ours with the bodies of functions, others without.
func (c checker) check(p source) (errs []error) {
	if p.ImportPath == "unsafe" {
		return nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := c.sources.parse(filepath.Join(p.Dir, name))
		if err != nil {
			return []error{err}
		}
		files = append(files, file)
	}
	config := types.Config{
		IgnoreFuncBodies: !p.ours(),
		Sizes:            c.sizes,
		Importer:         importer(func(path string) (*types.Package, error) { return c.find(p, path) }),
		Error:            func(err error) { errs = append(errs, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, &c.sources.set, files, nil)
	return errs
}

// find returns a package that another one imports.
func (c checker) find(p source, path string) (*types.Package, error) {
	if actual, ok := p.ImportMap[path]; ok {
		path = actual
	}
	if found := c.done[path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s imports %s, which is not listed", p.ImportPath, path)
}

// importer is a function that finds packages.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
