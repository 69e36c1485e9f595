package config

import (
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/wording"
)

// suggest is " (did you mean ...?)", or nothing when no candidate is near.
func suggest(name string, candidates []string) string {
	if c := wording.Closest(name, candidates); c != "" {
		return fmt.Sprintf(" (did you mean %q?)", c)
	}
	return ""
}

// hint is what follows an unknown name: a suggestion, else the choices, else nothing.
func hint(name, what string, candidates []string) string {
	if s := suggest(name, candidates); s != "" {
		return s
	}
	if len(candidates) == 0 || len(candidates) > 20 {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", what, strings.Join(candidates, ", "))
}
