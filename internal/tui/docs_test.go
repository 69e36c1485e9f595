//go:build unix

package tui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/tui"
)

// The page shows screens as they are, and every key.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/tui.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"answer", "tools", "subagent", "touched", "plugin-panic", "approval-diff", "menu", "help",
	} {
		screen, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		capture := regexp.MustCompile(`\n{3,}`).ReplaceAllString(strings.TrimRight(string(screen), "\n"), "\n\n")
		if !strings.Contains(string(page), "```text\n"+capture+"\n```") {
			t.Errorf("docs/tui.md has another screen than testdata/%s.txt", name)
		}
	}
	for _, k := range tui.Keys() {
		if row := "| " + k[0] + " | " + k[1] + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/tui.md lacks %s", row)
		}
	}
}
