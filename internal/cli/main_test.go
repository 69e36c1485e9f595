package cli_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idelchi/aura/internal/cli"
	"github.com/idelchi/aura/internal/mcp/mcptest"
)

// TestMain makes this test binary answer to the name aura, so that the scripts
// drive the real program.
func TestMain(m *testing.M) {
	aura := func() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(suite{m}, map[string]func(){
		"aura":      aura,
		"aar":       aura,
		"mcpserver": func() { os.Exit(mcptest.Main(os.Args)) },
	})
}

// suite runs the tests of the package.
type suite struct{ m *testing.M }

// Run runs more tests side by side than there are processors: they mostly wait, for
// processes, timeouts and the disk.
func (s suite) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	// With the race detector every program would sleep for a second at its end.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	return s.m.Run()
}

// environment is the environment of a program whose user has the home dir/home.
func environment(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"),
		"GORACE=" + os.Getenv("GORACE"),
		"TERM=xterm",
		"NO_COLOR=1",
	}
}

// cachedFile is a file of a cache.
type cachedFile struct {
	name     string
	data     []byte
	modified time.Time // Python compares it with the time in the compiled file.
}

// pythonCache is what the first start of a Python extension leaves in the cache: facts
// about the interpreter, the package that extensions import, its compiled form. It is
// empty without Python.
var pythonCache = sync.OnceValues(func() (files []cachedFile, err error) {
	dir, err := os.MkdirTemp("", "aura-cache-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	extension := filepath.Join(dir, ".agent", "extensions", "first.py")
	if err := os.MkdirAll(filepath.Dir(extension), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(extension, []byte("def register(api): pass\n"), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("aura", "extensions", "inspect", "first")
	cmd.Dir, cmd.Env = dir, environment(dir)
	if cmd.Run() != nil {
		return nil, nil
	}
	cache := os.DirFS(cacheOf(filepath.Join(dir, "home")))
	err = fs.WalkDir(cache, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(cache, name)
		files = append(files, cachedFile{name: name, data: data, modified: info.ModTime()})
		return err
	})
	return files, err
})

func cacheOf(home string) string { return filepath.Join(home, ".aura", "cache") }

// fillPythonCache gives a home a filled cache if there are extensions in the project, so
// that not every test pays for a first start.
func fillPythonCache(project, home string) error {
	for _, pattern := range []string{"*.py", ".agent/extensions/*"} {
		found, err := filepath.Glob(filepath.Join(project, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		files, err := pythonCache()
		if err != nil {
			return err
		}
		for _, f := range files {
			path := filepath.Join(cacheOf(home), filepath.FromSlash(f.name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, f.data, 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(path, f.modified, f.modified); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}
