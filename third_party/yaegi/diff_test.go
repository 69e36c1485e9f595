package yaegi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// published identifies the files of the version that diff.sh names, as far as they are here.
const published = "339b0a7691cd4e3ef915728e361feaf08c6bb745602c1f6ff199fbb1b3014387"

// Without the patches, the files are those of the published version: a change that is
// not in a patch is found without the network.
func TestPatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"internal", "interp", "stdlib"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(name)); err != nil {
			t.Fatal(err)
		}
	}
	patches, err := filepath.Glob("patches/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatal(patches, err)
	}
	for _, patch := range slices.Backward(patches) {
		file, err := filepath.Abs(patch)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "git", "apply", "--reverse", file)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_DIR="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s cannot be taken back: %v\n%s", patch, err, out)
		}
	}
	h := sha256.New()
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %x\n", filepath.ToSlash(strings.TrimPrefix(file, dir)), sha256.Sum256(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != published {
		t.Errorf("the files without the patches are %s, the published ones %s: run ./diff.sh check", got, published)
	}
}
