package internal_test

import (
	"bytes"
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"

	sdk "github.com/idelchi/aura/sdk/version"
)

// goMod returns the parsed go.mod of the repository.
func goMod(t *testing.T) *modfile.File {
	t.Helper()
	file := filepath.Join("..", "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// What is generated is as `make generate` would write it now, in a clean copy.
func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"make", "bash", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("make generate cannot run: %v", err)
		}
	}
	if have, want := version.Lang(runtime.Version()), version.Lang("go"+goMod(t).Go.Version); have != want {
		t.Skipf("the tables are those of %s, and this is %s", want, have)
	}
	dir := t.TempDir()
	before := copyTree(t, dir)
	cmd := exec.CommandContext(t.Context(), "make", "generate")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make generate: %v\n%s", err, out)
	}
	for name, text := range before {
		if now, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%s differs after `make generate` (%v)", name, err)
		}
	}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if before[name] == nil {
			t.Errorf("%s is new after `make generate`", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copyTree copies the repository without its tests and what git ignores into dir and
// returns the files.
func copyTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	copied := map[string][]byte{}
	skip := []string{".git", "testdata", "aura", "bin", "dist", "__pycache__", "sessions"}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel("..", file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skip, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		case !d.Type().IsRegular() || slices.Contains(skip, name):
			return nil
		}
		if copied[name], err = os.ReadFile(file); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), copied[name], 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// `go install` of the program works: go.mod replaces nothing. Inside the repository
// go.work puts ./sdk in the place of the version that go.mod asks for, which is the one
// that the SDK says it is.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	mod := goMod(t)
	if len(mod.Replace)+len(mod.Exclude) > 0 {
		t.Errorf("go.mod replaces or excludes modules: `go install` of a version would refuse it")
	}
	var asked string
	for _, r := range mod.Require {
		if r.Mod.Path == module+"/sdk" {
			asked = r.Mod.Version
		}
	}
	if want := "v" + sdk.Version; asked != want {
		t.Errorf("go.mod asks for the SDK %q; it is %s", asked, want)
	}
	text, err := os.ReadFile(filepath.Join("..", "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(work.Replace) != 1 || work.Replace[0].Old.Version != asked || work.Replace[0].New.Path != "./sdk" {
		t.Errorf("go.work: want `replace %s/sdk %s => ./sdk`", module, asked)
	}
}
