package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

// define lays the tool definitions of the configuration over the tools.
func (p *Profiles) define(list []tool.Tool) []tool.Tool {
	for i := range list {
		t := &list[i]
		d, ok := p.opts.Config.Definitions[t.Name]
		if !ok {
			continue
		}
		for _, text := range []struct{ from, to *string }{
			{d.Description, &t.Description}, {d.Usage, &t.Usage}, {d.Examples.Text, &t.Examples},
		} {
			if text.from != nil {
				*text.to = strings.TrimSpace(*text.from)
			}
		}
		if d.Parallel != nil {
			t.Serial = !*d.Parallel
		}
		if d.Condition.Expr != nil {
			t.Condition = d.Condition.Expr
		}
	}
	return list
}

// offer splits the tools that the filters leave into those that are offered at once
// and those that must be loaded, with the tool that loads them. A filter that names
// a tool lifts its condition; nothing lifts `disabled` of a definition.
func (p *Profiles) offer(list []tool.Tool, layers []tool.Filter, deferred []string) (now, later []tool.Tool) {
	for _, t := range list {
		switch {
		case p.opts.Config.Definitions[t.Name].Disabled:
			continue
		case tool.Named(layers, t.Name):
			t.Condition = nil
		}
		if (tool.Filter{Disabled: deferred}).Allows(t.Name) || t.Name == "Done" {
			now = append(now, t)
		} else {
			later = append(later, t)
		}
	}
	if len(later) == 0 {
		return now, nil
	}
	load := p.define([]tool.Tool{p.opts.LoadTools(later)})[0]
	refused := slices.ContainsFunc(
		layers,
		func(f tool.Filter) bool { return !(tool.Filter{Disabled: f.Disabled}).Allows(load.Name) },
	)
	if !refused && !p.opts.Config.Definitions[load.Name].Disabled {
		now = append(now, load)
	}
	return now, later
}

// Later are the tools of ours that are there only when they are needed.
func Later() []string { return []string{"LoadTools", "Skill"} }

// Names names every tool, and those of ours that are there only when they are needed.
func (p *Profiles) Names() []string {
	names := Later()
	for _, t := range p.Tools() {
		names = append(names, t.Name)
	}
	return names
}

// Undefined says which tool definitions of the configuration are about tools that do not
// exist.
func (p *Profiles) Undefined() []string {
	names := p.Names()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.opts.Config.Definitions)) {
		if slices.Contains(names, name) || pending(name, names) {
			continue
		}
		hint := tool.NameHint(name, names, "it may come from an extension that is off")
		s := p.opts.Config.Definitions[name].Source
		list = append(list, fmt.Sprintf("%s:%d: there is no tool %q (%s)", s.File, s.Line, name, hint))
	}
	return list
}

// pending reports whether a tool may come later, from an MCP server of which nothing
// is here yet.
func pending(name string, names []string) bool {
	parts := strings.SplitN(name, "__", 3)
	if len(parts) < 3 || parts[0] != "mcp" {
		return false
	}
	server := strings.Join(parts[:2], "__") + "__"
	return !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, server) })
}
