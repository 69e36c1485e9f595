package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shipped are the directories of plugins in the repository, and where the plugins
// are below them.
var shipped = map[string]string{"../../.aura/plugins": "*/*", "../../examples/plugins": "*"}

// Every plugin of the repository is described by a README and tried out by a script.
func TestPluginsAreRun(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for root := range shipped {
		readme, err := os.ReadFile(filepath.Join(root, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range pluginsIn(t, root) {
			name := filepath.Base(dir)
			if !regexp.MustCompile(`(?m)^plugin (.* )?` + name + `$`).MatchString(all.String()) {
				t.Errorf("no script tries %s", name)
			}
			if link := "](" + dir + "/main.go)"; !strings.Contains(string(readme), link) {
				t.Errorf("%s/README.md does not mention %s", root, dir)
			}
		}
	}
}

// Plugins are interpreted, but the compiler has to accept them as well, or editors
// and tests of their authors do not. IN-22
func TestPluginsCompile(t *testing.T) {
	t.Parallel()
	for root := range shipped {
		var dirs []string
		for _, dir := range pluginsIn(t, root) {
			dirs = append(dirs, "./"+dir)
		}
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet"}, dirs...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=", "GOPROXY=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", root, err, out)
		}
	}
}

// pluginsIn lists the plugins of a directory, relative to it.
func pluginsIn(t *testing.T, root string) (dirs []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, shipped[root], "plugin.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", root, files, err)
	}
	for _, file := range files {
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.ToSlash(dir))
	}
	return dirs
}
