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
	packages := []string{"container/heap", "errors", "hash", "path"}
	out, err := tables(packages, []string{"unsafe"}) // All at once: they share what they import.
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(out), "\nvar t_")[1:]
	if len(parts) != len(packages) {
		t.Errorf("%d tables for %d packages", len(parts), len(packages))
	}
	for _, table := range parts {
		if !strings.Contains(string(text), "\nvar t_"+strings.TrimSpace(table)) {
			t.Errorf("std.go is out of date:\n%s", table)
		}
	}
}
