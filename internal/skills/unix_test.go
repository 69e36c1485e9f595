//go:build unix

package skills_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/idelchi/aura/internal/skills"
)

// A pipe in place of a skill holds nothing up.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "x", "SKILL.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, problems := skills.Find([]skills.Place{{Name: "p", Dir: dir}})
	if len(list) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "not a regular file") {
		t.Errorf("%v %v", list, problems)
	}
}
