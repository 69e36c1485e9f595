package internal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown is how ARCHITECTURE.md writes the name of a package.
func shown(name string) string {
	if name == "." {
		return "main"
	}
	return strings.TrimPrefix(name, "internal/")
}

// layersTable is the table of layers for readers.
func layersTable() string {
	var b strings.Builder
	b.WriteString("| layer | packages |\n|---|---|\n")
	for i, row := range layers {
		names := make([]string, len(row))
		for j, name := range row {
			names[j] = shown(name)
		}
		fmt.Fprintf(&b, "| %d | %s |\n", i, strings.Join(names, ", "))
	}
	return b.String()
}

// ARCHITECTURE.md has the layers as they are, and names every package in its tree.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "ARCHITECTURE.md")
	text := generated(t, file, "layers", layersTable())
	for _, row := range layers {
		for _, name := range row {
			if name == "." || strings.HasPrefix(name, "sdk") || strings.HasSuffix(name, "/*") {
				continue
			}
			if !strings.Contains(text, "\n  "+shown(name)+" ") {
				t.Errorf("%s: the tree lacks %s", file, shown(name))
			}
		}
	}
}

// HO-65: every page for users can be found from the README.
func TestReadmeListsPages(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); !strings.Contains(string(readme), "(docs/"+name+") |") {
			t.Errorf("the table of README.md lacks docs/%s", name)
		}
	}
	for _, m := range regexp.MustCompile(`\((docs/[^)#]+)`).FindAllSubmatch(readme, -1) {
		if _, err := os.Stat(filepath.Join("..", string(m[1]))); err != nil {
			t.Errorf("README.md: %v", err)
		}
	}
}
