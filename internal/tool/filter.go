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

// Closest is the candidate that name was probably meant to be, empty if none is
// near. The first of equally near ones wins.
func Closest(name string, candidates []string) string {
	const longest = 200 // Nothing a person mistyped is longer.
	best, distance := "", max(1, len(name)/3)+1
	if len(name) > longest {
		return ""
	}
	for _, c := range candidates {
		if len(c) > longest {
			continue
		}
		if strings.EqualFold(c, name) {
			return c
		}
		if d := edits(strings.ToLower(name), strings.ToLower(c), distance); d < distance && d < len(name) {
			best, distance = c, d
		}
	}
	return best
}

// edits is how many characters must be put in, left out, changed or swapped with
// their neighbour to get from a to b; limit when there are as many or more.
func edits(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d >= limit || -d >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range x {
		cur[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j]+cost, prev[j+1]+1, cur[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				cur[j+1] = min(cur[j+1], before[j-1]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(y)], limit)
}
