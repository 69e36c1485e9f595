package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"golang.org/x/mod/modfile"

	"github.com/idelchi/aura/internal/plugin/symbols"
	"github.com/idelchi/aura/sdk"
)

// Limits of what is read of one plugin.
const (
	maxSource = 4 << 20  // One file.
	maxTotal  = 64 << 20 // All files together, vendored ones included.
)

// sdkPath is the import path of the SDK, which the program itself provides.
const sdkPath = "github.com/idelchi/aura/sdk"

// source is the code of a plugin as an engine gets it: every file that takes part,
// and which packages of the standard library they use. It is read from the
// plugin's directory, which is never written to.
type source struct {
	dir    string
	module string       // Module path in go.mod.
	pkg    string       // Name of its package, derived from the module path.
	files  fstest.MapFS // As the interpreter looks for them: below src.
	std    []string     // Imported packages of the standard library, sorted.
	size   int64
	texts  [][]byte

	selects bool // Some file has a select statement.
	hides   bool // Some file has an import whose names do not tell where they come from.
}

// wayOut of what the interpreter cannot do.
const wayOut = "\"engine: native\" in plugin.yaml compiles the plugin"

// unsafeOnly are packages that only unsafe mode offers.
var unsafeOnly = []string{"os/exec", "os/signal", "syscall"}

// readModule reads the go.mod in dir.
func readModule(dir string) (*source, error) {
	text, err := readFile(filepath.Join(dir, "go.mod"), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no go.mod in %s (run \"go mod init <name>\" there)", dir)
	}
	if err != nil {
		return nil, err
	}
	mod, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	if mod.Module == nil || mod.Module.Mod.Path == "" {
		return nil, errors.New("go.mod: no module line")
	}
	s := &source{dir: dir, module: mod.Module.Mod.Path, files: fstest.MapFS{}}
	s.pkg = packageName(s.module)
	if !token.IsIdentifier(s.pkg) {
		return nil, fmt.Errorf(
			"go.mod: module %q: the package name %q that follows from it is not a Go identifier",
			s.module,
			s.pkg,
		)
	}
	if symbols.Standard(s.module) {
		return nil, fmt.Errorf("go.mod: module %q has the name of a package of the standard library", s.module)
	}
	return s, nil
}

// packageName derives the name of a plugin's package from its module path.
func packageName(module string) string { return strings.ReplaceAll(path.Base(module), "-", "_") }

// readSource reads the module in dir with everything it imports.
func readSource(dir string, unsafe bool) (*source, error) {
	s, err := readModule(dir)
	if err != nil {
		return nil, err
	}
	type job struct{ path, from string }
	queue, seen := []job{{s.module, ""}}, map[string]bool{s.module: true}
	std := map[string]bool{}
	for len(queue) > 0 {
		j := queue[0]
		queue = queue[1:]
		imports, err := s.addPackage(j.path)
		if err != nil {
			if j.from != "" {
				err = fmt.Errorf("%w (imported by %s)", err, j.from)
			}
			return nil, err
		}
		for _, imp := range imports {
			if seen[imp.path] {
				continue
			}
			seen[imp.path] = true
			switch kind, err := s.resolve(imp.path, unsafe); {
			case err != nil:
				return nil, fmt.Errorf("%s: %w", imp.at, err)
			case kind == standardPackage:
				std[imp.path] = true
			case kind == sourcePackage:
				queue = append(queue, job{imp.path, imp.at})
			}
		}
	}
	for name := range std {
		s.std = append(s.std, name)
	}
	slices.Sort(s.std)
	return s, nil
}

type packageKind int

const (
	hostPackage packageKind = iota // The SDK.
	standardPackage
	sourcePackage
)

// resolve decides where an imported package comes from.
func (s *source) resolve(name string, unsafe bool) (packageKind, error) {
	if name == "C" {
		return 0, errors.New(`import "C": cgo is not available to interpreted plugins`)
	}
	for key := range sdk.Symbols {
		if path.Dir(key) == name {
			return hostPackage, nil
		}
	}
	if symbols.Standard(name) {
		switch {
		case name == "unsafe":
			return 0, fmt.Errorf(
				"import \"unsafe\": not available to interpreted plugins, not even in unsafe mode (%s)",
				wayOut,
			)
		case slices.Contains(unsafeOnly, name) && !unsafe:
			return 0, &unsafeError{fmt.Sprintf("import %q", name)}
		case !symbols.Offered(name):
			return 0, fmt.Errorf(
				"import %q: this package of the standard library is not available to interpreted plugins (%s)",
				name,
				wayOut,
			)
		}
		return standardPackage, nil
	}
	if _, ok := s.locate(name); ok {
		return sourcePackage, nil
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return 0, fmt.Errorf("import %q: there is no such package", name)
	}
	return 0, fmt.Errorf("import %q: not vendored (run \"go mod vendor\" in %s)", name, s.dir)
}

// unsafeError says how to get what restricted mode refuses.
type unsafeError struct{ what string }

func (e *unsafeError) Error() string {
	return e.what + " needs unsafe mode: set \"plugins.unsafe: true\" in config/features/plugins.yaml or start " +
		"with --unsafe-plugins"
}

// locate finds the directory of a package: below vendor, else in the module. A
// directory of vendor without Go files only leads to other packages.
func (s *source) locate(name string) (string, bool) {
	if !fs.ValidPath(name) {
		return "", false
	}
	dirs := []string{filepath.Join(s.dir, "vendor", filepath.FromSlash(name))}
	if rest, ok := strings.CutPrefix(name, s.module); ok && (rest == "" || rest[0] == '/') {
		dirs = append(dirs, filepath.Join(s.dir, filepath.FromSlash(rest)))
	}
	found := ""
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") }) {
			return dir, true
		}
		found = dir
	}
	return found, found != ""
}

// imported is an import with the place where it stands.
type imported struct{ path, at string }

// addPackage takes the files of one package into the source and returns what they
// import.
func (s *source) addPackage(name string) ([]imported, error) {
	dir, ok := s.locate(name)
	if !ok {
		return nil, fmt.Errorf("package %s: no such directory", name)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var imports []imported
	files := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.IsDir() {
			continue
		}
		text, err := readFile(filepath.Join(dir, e.Name()), maxSource)
		if err != nil {
			return nil, err
		}
		if s.size += int64(len(text)); s.size > maxTotal {
			return nil, fmt.Errorf("more than %d MB of source", maxTotal>>20)
		}
		shown := s.shown(name, e.Name())
		if ok, err := takesPart(dir, e.Name(), text); err != nil {
			return nil, fmt.Errorf("%s: %w", shown, err)
		} else if !ok {
			continue
		}
		list, text, err := s.parse(name, shown, text)
		if err != nil {
			return nil, err
		}
		imports = append(imports, list...)
		s.add(name, e.Name(), text)
		s.texts = append(s.texts, text)
		files++
	}
	if files == 0 {
		return nil, fmt.Errorf("no Go files for this platform in %s", dir)
	}
	return imports, nil
}

// add takes one file of a package into the source.
func (s *source) add(pkg, file string, text []byte) {
	s.files[path.Join("src", pkg, file)] = &fstest.MapFile{Data: text, Mode: 0o444}
}

// shown is how messages name a file: relative to the plugin's directory.
func (s *source) shown(pkg, file string) string {
	if rest, ok := strings.CutPrefix(pkg, s.module); ok && (rest == "" || rest[0] == '/') {
		return path.Join(strings.TrimPrefix(rest, "/"), file)
	}
	return path.Join("vendor", pkg, file)
}

// parse reads a file and returns what it imports, and its text as the interpreter
// shall get it.
func (s *source) parse(pkg, shown string, text []byte) ([]imported, []byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, shown, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	if pkg == s.module && f.Name.Name != s.pkg {
		return nil, nil, fmt.Errorf(
			"%s: package %s, expected package %s (the last element of the module path %q, with \"-\" written as \"_\")",
			fset.Position(f.Name.Pos()),
			f.Name.Name,
			s.pkg,
			s.module,
		)
	}
	var list []imported
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: import %s", shown, spec.Path.Value)
		}
		s.hides = s.hides || spec.Name != nil && spec.Name.Name == "."
		list = append(list, imported{name, fset.Position(spec.Pos()).String()})
	}
	return list, s.prepare(fset, f, text), nil
}

// prepare works around two mistakes of the interpreter: parameters without names
// are taken for results, and one that is called _ makes every _ in the function a
// variable of its type. They get names. Lines stay where they are.
func (s *source) prepare(fset *token.FileSet, f *ast.File, text []byte) []byte {
	var edits []edit
	name := func(list *ast.FieldList, unnamed bool) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			if len(field.Names) == 0 && unnamed {
				edits = append(edits, edit{fset.Position(field.Type.Pos()).Offset, 0, " "})
			}
			for _, n := range field.Names {
				if n.Name == "_" {
					edits = append(edits, edit{fset.Position(n.Pos()).Offset, len("_"), ""})
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name(n.Recv, true)
			name(n.Type.Params, true)
			name(n.Type.Results, false)
		case *ast.FuncLit:
			name(n.Type.Params, true)
			name(n.Type.Results, false)
		case *ast.SelectStmt:
			s.selects = true
		}
		return true
	})
	if len(edits) == 0 {
		return text
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.at - b.at })
	var out []byte
	last := 0
	for i, e := range edits {
		out = append(out, text[last:e.at]...)
		out = fmt.Appendf(out, "_%d%s", i, e.after)
		last = e.at + e.length
	}
	return append(out, text[last:]...)
}

// edit puts a name into a text in place of length bytes.
type edit struct {
	at, length int
	after      string
}

// takesPart evaluates the build constraints of a file, those in its name included.
// The tags purego and yaegi are set: there is no assembly here.
func takesPart(dir, name string, text []byte) (bool, error) {
	c := build.Default
	c.CgoEnabled = false
	c.BuildTags = []string{"purego", "yaegi"}
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return c.MatchFile(dir, name)
}

// mentions reports whether any file contains a word.
func (s *source) mentions(word string) bool {
	return slices.ContainsFunc(s.texts, func(text []byte) bool { return bytes.Contains(text, []byte(word)) })
}
