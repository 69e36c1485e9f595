package tool

import (
	"slices"
	"strings"
)

// Filter is one layer that decides which tools there are: the configuration, the
// agent, the mode or the task. The zero value lets everything through.
type Filter struct {
	Enabled  []string // Patterns; empty means all.
	Disabled []string // Patterns; wins over Enabled.
}

// Allows reports whether the layer lets a tool through.
func (f Filter) Allows(name string) bool {
	if matchAny(f.Disabled, name) {
		return false
	}
	return len(f.Enabled) == 0 || matchAny(f.Enabled, name)
}

// Names reports whether the layer enables the tool by its name or by a pattern
// that says more than "everything".
func (f Filter) Names(name string) bool {
	return slices.ContainsFunc(f.Enabled, func(pattern string) bool {
		return strings.Trim(pattern, "*") != "" && Match(pattern, name)
	})
}

// Named reports whether any of the layers names the tool: what lifts opt-in and
// the condition of a tool definition.
func Named(layers []Filter, name string) bool {
	return slices.ContainsFunc(layers, func(f Filter) bool { return f.Names(name) })
}

// Available is the tools that every layer allows, in their order. A tool that is
// opt-in, by itself or because a pattern of optIn matches it, must also be named
// by a layer.
func Available(tools []Tool, layers []Filter, optIn ...string) []Tool {
	var out []Tool
	for _, t := range tools {
		refused := slices.ContainsFunc(layers, func(f Filter) bool { return !f.Allows(t.Name) })
		hidden := (t.OptIn || matchAny(optIn, t.Name)) && !Named(layers, t.Name)
		if !refused && !hidden {
			out = append(out, t)
		}
	}
	return out
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

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}
