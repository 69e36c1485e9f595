package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

// CheckFilters finds names on the command line that no tool has: who leaves out "Bsh"
// must not believe that Bash is left out. Tools of MCP servers are not known yet.
func (p *Profiles) CheckFilters() error {
	if len(p.opts.ToolFilter.Enabled)+len(p.opts.ToolFilter.Disabled) == 0 {
		return nil
	}
	names := p.Names()
	servers := 0
	if p.opts.Servers != nil {
		servers = p.opts.Servers().Count()
	}
	for _, f := range []struct {
		flag     string
		patterns []string
	}{{"--include-tools", p.opts.ToolFilter.Enabled}, {"--exclude-tools", p.opts.ToolFilter.Disabled}} {
		for _, pattern := range f.patterns {
			known := slices.ContainsFunc(names, func(name string) bool { return tool.Match(pattern, name) })
			if known || pending(pattern, names) || strings.Contains(pattern, "*") && servers > 0 {
				continue
			}
			hint := tool.NameHint(pattern, names, `"aura tools" lists them`)
			return fmt.Errorf("%s: there is no tool %q (%s)", f.flag, pattern, hint)
		}
	}
	return nil
}
