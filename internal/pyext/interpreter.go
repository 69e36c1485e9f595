package pyext

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/atomicfile"
)

// Interpreter is a Python interpreter that was found. What it knows of itself is
// asked once and kept in the cache.
type Interpreter struct {
	Path   string // As it was found.
	Origin string // Why this one: "AURA_PYTHON", "python" (features), "VIRTUAL_ENV", ".venv" or "PATH".
	Venv   string // Its virtual environment; empty outside of one.

	getenv func(string) string
	dir    string
	facts  *pythonFacts
}

// pythonFacts is what an interpreter says about itself.
type pythonFacts struct {
	Executable string   `json:"executable"`
	Version    [3]int   `json:"version"`
	Paths      []string `json:"paths"` // Where its packages are, and its own library.
	Stdlib     string   `json:"stdlib"`
}

// oldest is the oldest version that is supported.
var oldest = [2]int{3, 11}

// ErrNoPython says that there is no interpreter.
var ErrNoPython = errors.New(
	"no Python found (install python3 3.11 or newer, or name one with AURA_PYTHON or the feature python)",
)

// FindInterpreter chooses the interpreter: AURA_PYTHON, then the feature python,
// then the active virtual environment, then .venv in the working directory, then
// python3 in the PATH. It starts no process.
func FindInterpreter(workdir, feature string, getenv func(string) string) (Interpreter, error) {
	in := Interpreter{getenv: getenv, dir: workdir}
	for _, named := range []struct{ origin, value string }{{"AURA_PYTHON", getenv("AURA_PYTHON")}, {"python", feature}} {
		if named.value == "" {
			continue
		}
		path, err := lookPath(named.value, workdir, getenv)
		if err != nil {
			return in, fmt.Errorf("%s: %w", named.origin, err)
		}
		in.Path, in.Origin, in.Venv = path, named.origin, venvOf(path)
		return in, nil
	}
	for _, venv := range []struct{ origin, dir string }{{"VIRTUAL_ENV", getenv("VIRTUAL_ENV")}, {".venv", filepath.Join(workdir, ".venv")}} {
		if venv.dir == "" {
			continue
		}
		if path := venvPython(venv.dir); isFile(path) {
			in.Path, in.Origin, in.Venv = path, venv.origin, venv.dir
			return in, nil
		}
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := lookPath(name, workdir, getenv); err == nil {
			in.Path, in.Origin, in.Venv = path, "PATH", venvOf(path)
			return in, nil
		}
	}
	return in, ErrNoPython
}

// venvPython is the interpreter of a virtual environment.
func venvPython(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python3")
}

// venvOf is the virtual environment that an interpreter belongs to, or "".
func venvOf(path string) string {
	dir := filepath.Dir(filepath.Dir(path))
	if isFile(filepath.Join(dir, "pyvenv.cfg")) {
		return dir
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// lookPath finds a program in the PATH of the session.
func lookPath(name, workdir string, getenv func(string) string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(workdir, name)
		}
		if !isFile(name) {
			return "", fmt.Errorf("%s: no such file", name)
		}
		return name, nil
	}
	suffixes := []string{""}
	if runtime.GOOS == "windows" {
		suffixes = []string{".exe", ".bat", ".cmd"}
	}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		for _, suffix := range suffixes {
			path := filepath.Join(dir, name+suffix)
			if info, err := os.Stat(
				path,
			); err == nil && !info.IsDir() &&
				(runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// probeCode makes an interpreter describe itself. It must run on every Python there
// is, so that one that is too old can be named.
const probeCode = `import sys, json, os
print(json.dumps({"executable": sys.executable, "version": list(sys.version_info[:3]), "stdlib": os.path.dirname(os.__file__), "paths": [os.path.abspath(p) for p in sys.path if p and os.path.isdir(p)]}))`

// Resolve completes an interpreter that was only found: shims are followed to
// the real program, and where its packages are becomes known.
func (in *Interpreter) Resolve(cache string) (Interpreter, error) {
	if in.facts == nil {
		facts, err := in.probe(cache)
		if err != nil {
			return Interpreter{}, err
		}
		in.facts = facts
	}
	if v := in.facts.Version; v[0] < oldest[0] || v[0] == oldest[0] && v[1] < oldest[1] {
		return Interpreter{}, fmt.Errorf(
			"%s is Python %d.%d.%d, extensions need %d.%d or newer (AURA_PYTHON names another one)",
			in.Path,
			v[0],
			v[1],
			v[2],
			oldest[0],
			oldest[1],
		)
	}
	out := *in
	if in.Venv == "" && in.facts.Executable != "" {
		out.Path = in.facts.Executable
	}
	return out, nil
}

// Version is the version of the interpreter, as "3.11.4"; empty before it is known.
func (in *Interpreter) Version() string {
	if in.facts == nil {
		return ""
	}
	v := in.facts.Version
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

// searchPath is where the interpreter finds packages.
func (in *Interpreter) searchPath() []string {
	var out []string
	if in.getenv != nil {
		out = filepath.SplitList(in.getenv("PYTHONPATH"))
	}
	if in.facts != nil {
		out = append(out, in.facts.Paths...)
	}
	return slices.DeleteFunc(out, func(p string) bool { return p == "" })
}

// probe asks the interpreter about itself, or the cache.
func (in *Interpreter) probe(cache string) (*pythonFacts, error) {
	store := openStore(cache)
	key := in.key()
	if f, ok := store.Interpreters[key]; ok && isFile(f.Executable) {
		return &f, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, in.Path, "-E", "-c", probeCode)
	cmd.Dir = in.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	var f pythonFacts
	if err := json.Unmarshal(bytes.TrimSpace(out), &f); err != nil {
		return nil, fmt.Errorf("%s does not answer like a Python interpreter: %w", in.Path, err)
	}
	store.Interpreters[key] = f
	store.save(cache)
	return &f, nil
}

// key identifies an interpreter in the cache by everything that decides what it is.
func (in *Interpreter) key() string {
	parts := []string{in.Path, stamp(in.Path)}
	if in.Venv != "" {
		parts = append(parts, stamp(filepath.Join(in.Venv, "pyvenv.cfg")))
	}
	if isScript(in.Path) {
		parts = append(parts, in.pyenvVersion())
	}
	return strings.Join(parts, "|")
}

// stamp changes when a file does.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

// isScript reports whether a program is a script: the shims of version managers are.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [2]byte
	_, err = f.Read(head[:])
	return err == nil && string(head[:]) == "#!"
}

// pyenvVersion is which version pyenv would choose, as far as files and variables
// decide it.
func (in *Interpreter) pyenvVersion() string {
	if v := in.getenv("PYENV_VERSION"); v != "" {
		return v
	}
	for dir := in.dir; ; dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, ".python-version")); err == nil {
			return strings.Join(strings.Fields(string(data)), ":")
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	data, _ := os.ReadFile(filepath.Join(in.pyenvRoot(), "version"))
	return strings.Join(strings.Fields(string(data)), ":")
}

// pyenvRoot is where the shims of an interpreter belong to.
func (in *Interpreter) pyenvRoot() string {
	if root := in.getenv("PYENV_ROOT"); root != "" {
		return root
	}
	return filepath.Dir(filepath.Dir(in.Path)) // <root>/shims/python3
}

// packageDirs are the directories of installed packages: exact if the interpreter
// was asked before, else where they usually are. It starts no process.
func (in *Interpreter) packageDirs(store *store) []string {
	if in.facts == nil {
		if f, ok := store.Interpreters[in.key()]; ok {
			in.facts = &f
		}
	}
	if in.facts != nil {
		return slices.DeleteFunc(slices.Clone(in.facts.Paths), func(p string) bool {
			return p == in.facts.Stdlib || strings.HasPrefix(p, filepath.Join(in.facts.Stdlib, "lib-dynload"))
		})
	}
	if in.Venv != "" {
		return sitePackages(in.Venv)
	}
	real := in.Path
	if isScript(real) {
		first, _, _ := strings.Cut(in.pyenvVersion(), ":")
		if first == "" || first == "system" {
			return nil
		}
		real = filepath.Join(in.pyenvRoot(), "versions", first, "bin", "python3")
	}
	real, err := filepath.EvalSymlinks(real)
	if err != nil {
		return nil
	}
	dirs := sitePackages(filepath.Dir(filepath.Dir(real)))
	if version, ok := strings.CutPrefix(filepath.Base(real), "python3."); ok {
		name := "python3." + version
		dirs = append(dirs, "/usr/lib/python3/dist-packages", filepath.Join("/usr/local/lib", name, "dist-packages"))
		if home := in.getenv("HOME"); home != "" {
			dirs = append(dirs, filepath.Join(home, ".local", "lib", name, "site-packages"))
		}
	}
	return dirs
}

// sitePackages are the package directories below the prefix of an interpreter.
func sitePackages(prefix string) []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(prefix, "Lib", "site-packages")}
	}
	dirs, _ := filepath.Glob(filepath.Join(prefix, "lib", "python3.*", "site-packages"))
	return dirs
}

// Installed lists the extensions of installed packages. It starts no process: it
// reads the metadata of packages, and remembers what it read for as long as the
// directories do not change.
func (in *Interpreter) Installed(cache string) []Extension {
	store := openStore(cache)
	changed := false
	var out []distribution
	seen := map[string]bool{}
	for _, dir := range in.packageDirs(store) {
		info, err := os.Stat(dir)
		if err != nil || seen[dir] {
			continue
		}
		seen[dir] = true
		now := info.ModTime().UnixNano()
		s, ok := store.Scans[dir]
		if !ok || s.Modified != now {
			s = packageScan{now, scanPackages(dir, false)}
			// A directory that was changed just now may change again within the
			// resolution of its time.
			if time.Since(info.ModTime()) > 2*time.Second {
				store.Scans[dir] = s
				changed = true
			}
		}
		out = append(out, s.Found...)
	}
	if changed {
		if _, err := os.Stat(cache); !errors.Is(err, fs.ErrNotExist) { // Nothing is created just to look.
			store.save(cache)
		}
	}
	return extensions(out)
}

// store is what is remembered between runs.
type store struct {
	Interpreters map[string]pythonFacts `json:"interpreters"`
	Scans        map[string]packageScan `json:"scans"`
}

type packageScan struct {
	Modified int64          `json:"modified"`
	Found    []distribution `json:"found"`
}

// maxRemembered keeps the store small.
const maxRemembered = 50

func storeFile(cache string) string { return filepath.Join(cache, "python.json") }

func openStore(cache string) *store {
	s := &store{}
	if data, err := os.ReadFile(storeFile(cache)); err == nil {
		_ = json.Unmarshal(data, s) // A damaged store is an empty one.
	}
	if s.Interpreters == nil || len(s.Interpreters) > maxRemembered {
		s.Interpreters = map[string]pythonFacts{}
	}
	if s.Scans == nil || len(s.Scans) > maxRemembered {
		s.Scans = map[string]packageScan{}
	}
	return s
}

// save writes the store. That it cannot is no problem: it only saves time.
func (s *store) save(cache string) {
	data, err := json.Marshal(s)
	if err != nil || os.MkdirAll(cache, 0o755) != nil {
		return
	}
	_ = atomicfile.WriteCache(storeFile(cache), data, 0o600)
}
