package tool

import (
	"slices"

	"github.com/idelchi/aura/internal/filter"
)

// Filter is one layer that decides which tools there are: the configuration, the
// agent, the mode or the task. The zero value lets everything through.
type Filter = filter.Filter

// Match reports whether name is what pattern describes, see filter.Match.
func Match(pattern, name string) bool { return filter.Match(pattern, name) }

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
		hidden := (t.OptIn || filter.MatchAny(optIn, t.Name)) && !Named(layers, t.Name)
		if !refused && !hidden {
			out = append(out, t)
		}
	}
	return out
}
