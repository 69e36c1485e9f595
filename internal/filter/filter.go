// Package filter chooses names by patterns: of tools, plugins, servers and models.
package filter

import (
	"slices"
	"strings"
)

// Filter is one layer that decides which names there are: the configuration, the
// agent, the mode or the task. The zero value lets everything through.
type Filter struct {
	Enabled  []string // Patterns; empty means all.
	Disabled []string // Patterns; wins over Enabled.
}

// Allows reports whether the layer lets a name through.
func (f Filter) Allows(name string) bool {
	if MatchAny(f.Disabled, name) {
		return false
	}
	return len(f.Enabled) == 0 || MatchAny(f.Enabled, name)
}

// Names reports whether the layer enables the name by itself or by a pattern
// that says more than "everything".
func (f Filter) Names(name string) bool {
	return slices.ContainsFunc(f.Enabled, func(pattern string) bool {
		return strings.Trim(pattern, "*") != "" && Match(pattern, name)
	})
}

// Match reports whether name is what pattern describes. `*` stands for any text,
// also none; every other character for itself. Case matters.
func Match(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], next
	}
}

// MatchAny reports whether name is what one of the patterns describes.
func MatchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}
