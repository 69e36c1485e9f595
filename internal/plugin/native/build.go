package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/build"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/idelchi/aura/internal/procgroup"
	"github.com/idelchi/aura/sdk"
	"github.com/idelchi/aura/sdk/version"
)

const (
	sdkPath = "github.com/idelchi/aura/sdk"
	// mainPath is the module of the program around the plugin.
	mainPath = "aura.invalid/plugin"
	// staging begins the names of directories in which builds happen.
	staging = "build-"
)

// build builds a plugin and puts the executable into dir.
func (b Builder) build(ctx context.Context, tools toolchain, src Source, t *Tree, dir string) error {
	if least := "v" + sdkGo(); tools.version != "" &&
		semver.Compare("v"+strings.TrimPrefix(tools.version, "go"), least) < 0 {
		return fmt.Errorf(
			"the Go toolchain on the PATH is %s, a native plugin needs go%s or newer",
			tools.version,
			sdkGo(),
		)
	}
	stage, err := os.MkdirTemp(filepath.Dir(dir), staging)
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	s := &stager{dir: filepath.Join(stage, "src"), src: src, tree: t}
	if err := s.write(); err != nil {
		return err
	}
	run := func(args ...string) ([]byte, error) { return s.run(ctx, tools, args...) }
	if !src.Unsafe && s.modules {
		if err := s.checkImports(run); err != nil {
			return err
		}
	}
	out := filepath.Join(stage, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	if _, err := run(
		"build",
		"-trimpath",
		"-buildvcs=false",
		"-ldflags=-s -w",
		"-o",
		executable(out),
		".",
	); err != nil {
		return err
	}
	_ = os.RemoveAll(dir) // What is there is not complete.
	return os.Rename(out, dir)
}

// sdkGo is the version of Go that the SDK needs.
func sdkGo() string {
	m, err := modfile.Parse("go.mod", []byte(sdk.GoMod()), nil)
	if err != nil || m.Go == nil {
		return "1.25"
	}
	return m.Go.Version
}

// stager writes a module whose main package contains the plugin. Whatever the plugin
// needs comes along as vendored code; only if it has vendored nothing itself are
// its dependencies looked for in the module cache.
type stager struct {
	dir     string
	src     Source
	tree    *Tree
	modules bool // Dependencies come from the module cache.

	mod       *modfile.File
	goVersion string       // The newest that any module asks for.
	list      bytes.Buffer // vendor/modules.txt.
	err       error
}

func (s *stager) write() error {
	s.modules = !s.tree.vendored() &&
		slices.ContainsFunc(s.tree.Mod.Require, func(r *modfile.Require) bool { return r.Mod.Path != sdkPath })
	s.mod = &modfile.File{}
	s.check(s.mod.AddModuleStmt(mainPath))
	s.goVersion = sdkGo()
	s.sdk()
	s.plugin()
	if s.modules {
		s.requirements()
	} else {
		s.file("vendor/modules.txt", s.list.Bytes())
	}
	s.check(eachFile(pipeSource, func(name string, text []byte) error { s.file(name, text); return s.err }))
	s.main()
	s.check(s.mod.AddGoStmt(s.goVersion))
	s.mod.Cleanup()
	text, err := s.mod.Format()
	s.check(err)
	s.file("go.mod", text)
	return s.err
}

func (s *stager) check(err error) {
	if s.err == nil {
		s.err = err
	}
}

// file writes one file of the module.
func (s *stager) file(name string, text []byte) {
	if s.err != nil {
		return
	}
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	if s.err = os.MkdirAll(filepath.Dir(file), 0o755); s.err == nil {
		s.err = os.WriteFile(file, text, 0o644)
	}
}

// need adds a module with its packages.
func (s *stager) need(modulePath, version, goVersion, replaced string, packages []string) {
	if semver.Compare("v"+goVersion, "v"+s.goVersion) > 0 {
		s.goVersion = goVersion
	}
	if s.check(s.mod.AddRequire(modulePath, version)); s.modules {
		s.check(s.mod.AddReplace(modulePath, "", replaced, ""))
		return
	}
	fmt.Fprintf(&s.list, "# %s %s\n## explicit; go %s\n", modulePath, version, goVersion)
	for _, p := range packages {
		s.list.WriteString(p + "\n")
	}
}

// sdk adds the SDK of this program, whatever copy the plugin has.
func (s *stager) sdk() {
	dir := "vendor/" + sdkPath
	if s.modules {
		dir = "sdk"
		s.file("sdk/go.mod", []byte(sdk.GoMod()))
	}
	s.check(
		eachFile(
			sdk.Source(),
			func(name string, text []byte) error { s.file(path.Join(dir, name), text); return s.err },
		),
	)
	s.need(sdkPath, "v"+version.Version, sdkGo(), "./sdk", []string{sdkPath, sdkPath + "/version"})
}

// plugin adds the plugin and what it has vendored.
func (s *stager) plugin() {
	dir := "vendor/" + s.src.Module
	if s.modules {
		dir = "module"
	}
	packages := map[string]bool{}
	for _, f := range s.tree.Files {
		rest, vendored := strings.CutPrefix(f.Name, "vendor/")
		switch {
		case filepath.IsAbs(filepath.FromSlash(f.Name)): // Read where it is.
		case vendored && (s.modules || rest == "modules.txt" || rest == sdkPath ||
			strings.HasPrefix(rest, sdkPath+"/")):
		case vendored:
			s.file(f.Name, f.Text)
		case f.Name == "go.mod" && !s.modules || f.Name == "go.sum":
		default:
			s.file(path.Join(dir, f.Name), f.Text)
			if strings.HasSuffix(f.Name, ".go") {
				packages[path.Join(s.src.Module, path.Dir(f.Name))] = true
			}
		}
	}
	goVersion := sdkGo()
	if g := s.tree.Mod.Go; g != nil {
		goVersion = g.Version
	}
	_, major, _ := module.SplitPathVersion(s.src.Module)
	v := "v0.0.0"
	if p := module.PathMajorPrefix(major); p != "" {
		v = p + ".0.0"
	}
	s.need(s.src.Module, v, goVersion, "./module", slices.Sorted(maps.Keys(packages)))
	if text, ok := s.tree.file("vendor/modules.txt"); ok && !s.modules {
		s.vendored(string(text))
	}
}

// vendored adds the modules of a vendor/modules.txt. What replaced what does not
// matter any more: all of it lies in vendor.
func (s *stager) vendored(text string) {
	var name, v, goVersion string
	var packages []string
	flush := func() {
		if name != "" && name != sdkPath && name != s.src.Module {
			s.need(name, v, goVersion, "", packages)
		}
	}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "#":
			flush()
			name, v, goVersion, packages = "", "", "1.17", nil
			if len(fields) >= 3 && fields[2] != "=>" {
				name, v = fields[1], fields[2]
			}
		case fields[0] == "##":
			if _, g, ok := strings.Cut(strings.TrimSpace(line), "go "); ok {
				goVersion = g
			}
		default:
			packages = append(packages, fields[0])
		}
	}
	flush()
}

// requirements adds what the plugin needs from the module cache.
func (s *stager) requirements() {
	for _, r := range s.tree.Mod.Require {
		if r.Mod.Path != sdkPath {
			s.check(s.mod.AddRequire(r.Mod.Path, r.Mod.Version))
		}
	}
	for _, r := range s.tree.Mod.Replace {
		to := r.New.Path
		if r.New.Version == "" {
			to = replacement(s.src.Dir, to)
		}
		if r.Old.Path != sdkPath {
			s.check(s.mod.AddReplace(r.Old.Path, r.Old.Version, to, r.New.Version))
		}
	}
	sum, _ := s.tree.file("go.sum")
	s.file("go.sum", sum)
}

// main writes the main package, which names the functions that the plugin exports.
func (s *stager) main() {
	files, err := parsePackage(s.tree)
	s.check(err)
	names := exportedNames(files, s.src.Functions)
	var b strings.Builder
	fmt.Fprintf(&b, "package main\n\nimport (\n\t%q\n\tplugin %q\n)\n\n", mainPath+"/pipe", s.src.Module)
	b.WriteString("func main() {\n\tpipe.Main(map[string]any{\n")
	for _, name := range names {
		fmt.Fprintf(&b, "\t\t%q: plugin.%s,\n", name, name)
	}
	b.WriteString("\t}")
	for _, name := range unseen(files, names) {
		fmt.Fprintf(&b, ", %q", name)
	}
	b.WriteString(")\n}\n\nvar _ = plugin.")
	if len(names) == 0 {
		// Something must be named; load reports what is missing before it comes to this.
		s.check(errors.New("exports no hook, tool or command"))
		return
	}
	b.WriteString(names[0] + "\n")
	s.file("main.go", []byte(b.String()))
}

// TakesPart evaluates the build constraints of a file, those in its name included.
func TakesPart(name string, text []byte) (bool, error) {
	c := build.Default
	c.CgoEnabled = false
	c.GOOS, c.GOARCH = runtime.GOOS, runtime.GOARCH
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return c.MatchFile(".", path.Base(name))
}

// run runs the go command in the module, without the network.
func (s *stager) run(ctx context.Context, tools toolchain, args ...string) ([]byte, error) {
	mode := "-mod=vendor"
	if s.modules {
		mode = "-mod=mod"
	}
	cmd := exec.CommandContext(ctx, tools.path, args...)
	cmd.Dir = s.dir
	cmd.Env = append(
		os.Environ(),
		"GOFLAGS="+mode,
		"GO111MODULE=on",
		"GOWORK=off",
		"GOPROXY=off",
		"GOSUMDB=off",
		"GOTOOLCHAIN=local",
		"CGO_ENABLED=0",
		"GOOS="+runtime.GOOS,
		"GOARCH="+runtime.GOARCH,
		"PWD="+s.dir,
	)
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	cmd.Cancel = func() error { return procgroup.Kill(cmd.Process) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("building it takes too long: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, s.explain(err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// explain makes what the go command says an error for the author of the plugin:
// with paths relative to the plugin and, where there is one, a way out.
func (s *stager) explain(err error, text string) error {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.ReplaceAll(line, filepath.ToSlash(s.dir)+"/", "")
		for _, prefix := range []string{"vendor/" + s.src.Module + "/", "module/"} {
			if at := strings.Index(line, prefix); at == 0 {
				line = line[len(prefix):]
			}
		}
		if len(lines) == 10 {
			lines = append(lines, "...")
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return fmt.Errorf("go build: %w", err)
	}
	said := strings.Join(lines, "\n")
	if s.modules &&
		(strings.Contains(said, "GOPROXY=off") || strings.Contains(said, "missing go.sum entry") ||
			strings.Contains(said, "no required module provides")) {
		return fmt.Errorf(
			"%s\nits dependencies are neither vendored nor in the module cache (run \"go mod vendor\" in %s)",
			said,
			s.src.Dir,
		)
	}
	return errors.New(said)
}

// Forbidden are packages that only unsafe mode allows: with them a plugin reaches
// other processes or beneath the language.
func Forbidden(importPath string) bool {
	return slices.Contains(
		[]string{"os/exec", "os/signal", "syscall", "unsafe", "plugin", "runtime/cgo", "net/http/cgi"},
		importPath,
	)
}

// checkImports looks for forbidden imports in what comes from the module cache.
func (s *stager) checkImports(run func(args ...string) ([]byte, error)) error {
	out, err := run(
		"list",
		"-deps",
		"-f",
		`{{if not .Standard}}{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{end}}`,
		".",
	)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], mainPath) || strings.HasPrefix(fields[0]+"/", sdkPath+"/") {
			continue
		}
		for _, imp := range fields[1:] {
			if Forbidden(imp) {
				return &ForbiddenError{fields[0], imp}
			}
		}
	}
	return nil
}

// ForbiddenError is the error of a plugin that needs unsafe mode.
type ForbiddenError struct{ Package, Import string }

func (e *ForbiddenError) Error() string { return fmt.Sprintf("%s: import %q", e.Package, e.Import) }
