package internal_test

import (
	"slices"
	"strings"
	"testing"
)

// The figures of the structure. What a package can reach is what a reader must have in
// mind, so both are kept small.
const (
	maxImports = 3.0 // Imports of packages of this repository, on average over all of its packages.
	maxChain   = 8   // Packages on the longest way of imports down from main, the SDK included.
)

// The packages are loosely connected: they import few others, and chains of imports are
// short. The interpreter in third_party does not count.
func TestFigures(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{}
	ours := func(path string) (string, bool) {
		name, ok := local(path)
		return name, ok && !strings.HasPrefix(name, "third_party/")
	}
	edges := 0
	widest := []string{}
	for _, p := range goList(t, "./...", "./sdk/...") {
		name, ok := ours(p.ImportPath)
		if !ok {
			continue
		}
		imports[name] = []string{}
		for _, imp := range p.Imports {
			if target, ok := ours(imp); ok {
				imports[name] = append(imports[name], target)
			}
		}
		n := len(imports[name])
		if edges += n; n > 2*maxImports {
			widest = append(widest, name)
		}
	}
	average := float64(edges) / float64(len(imports))
	chain := longest(imports, ".", map[string][]string{})
	slices.Sort(widest)
	t.Logf("%d packages with %d imports of each other: %.2f on average", len(imports), edges, average)
	t.Logf("more than %v: %s", 2*maxImports, strings.Join(widest, ", "))
	t.Logf("longest chain, %d packages: %s", len(chain), strings.Join(chain, " -> "))
	if average > maxImports {
		t.Errorf("%.2f imports per package, want at most %v", average, maxImports)
	}
	if len(chain) > maxChain {
		t.Errorf("a chain of %d packages, want at most %d: %s", len(chain), maxChain, strings.Join(chain, " -> "))
	}
}

// longest is the longest way of imports that begins with a package; known are those that
// have been found.
func longest(imports map[string][]string, name string, known map[string][]string) []string {
	if way, ok := known[name]; ok {
		return way
	}
	var best []string
	for _, next := range imports[name] {
		if way := longest(imports, next, known); len(way) > len(best) {
			best = way
		}
	}
	known[name] = append([]string{name}, best...)
	return known[name]
}
