package catalogue

import (
	"slices"
	"testing"
)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range catalogue {
		if seen[e.prefix] || canonical(e.prefix) != e.prefix || e.family == "" {
			t.Errorf("%q is there twice, has no family, or can never match", e.prefix)
		}
		seen[e.prefix] = true
		for i := range len(e.caps) {
			if !slices.ContainsFunc(capLetters, func(c struct {
				letter byte
				name   string
			}) bool {
				return c.letter == e.caps[i]
			}) {
				t.Errorf("%q: unknown capability %c", e.prefix, e.caps[i])
			}
		}
	}
}
