package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tables in the repository are those of the installed standard library, as far
// as a few packages tell; `go generate ./internal/plugin/symbols` writes them anew.
func TestTables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "plugin", "symbols", "std.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range []string{"errors", "path", "hash", "container/heap"} {
		out, err := tables([]string{pkg}, []string{"unsafe"})
		if err != nil {
			t.Fatal(err)
		}
		_, table, ok := strings.Cut(string(out), "\nvar t_")
		if !ok || !strings.Contains(string(text), "\nvar t_"+strings.TrimSpace(table)) {
			t.Errorf("%s: std.go is out of date:\n%s", pkg, out)
		}
	}
}
