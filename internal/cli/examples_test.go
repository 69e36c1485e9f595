package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every example of a skill, a command, a tool definition or a task is used by a script.
func TestExamplesAreRun(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/examples_*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var all strings.Builder
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, kind := range []string{"skills", "commands", "tools", "tasks"} {
		root := filepath.Join("..", "..", "examples")
		err := filepath.WalkDir(filepath.Join(root, kind), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if name := "$EXAMPLES/" + filepath.ToSlash(rel); !strings.Contains(all.String(), name) {
				t.Errorf("no script uses %s", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
