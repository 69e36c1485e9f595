package pyext

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// AX-74: authors are told how distributions are called, and the example follows it.
func TestNamingConvention(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "extensions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"`aar-ext-<slug>`", `name = "aar-ext-`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/extensions.md does not say %s", want)
		}
	}
}
