package atomicfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/idelchi/aura/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	for _, text := range []string{"one", "", "two"} {
		if err := atomicfile.Write(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	// What cannot be replaced stays, and nothing is left beside it.
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteCache(taken, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if err := atomicfile.Write(filepath.Join(dir, "none", "a"), nil, 0o600); err == nil {
		t.Error("a file without a directory was written")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v", entries, err)
	}
}
