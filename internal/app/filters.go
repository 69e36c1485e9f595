package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

// checkFilters finds names on the command line that no tool has: who leaves out "Bsh"
// must not believe that Bash is left out. Tools of MCP servers are not known yet.
func (a *App) checkFilters() error {
	if len(a.opts.Tools.Enabled)+len(a.opts.Tools.Disabled) == 0 {
		return nil
	}
	names := a.ToolNames()
	for _, f := range []struct {
		flag     string
		patterns []string
	}{{"--include-tools", a.opts.Tools.Enabled}, {"--exclude-tools", a.opts.Tools.Disabled}} {
		for _, p := range f.patterns {
			known := slices.ContainsFunc(names, func(name string) bool { return tool.Match(p, name) })
			if known || pending(p, names) || strings.Contains(p, "*") && len(a.servers.Servers()) > 0 {
				continue
			}
			hint := cmp.Or(wording.DidYouMean(p, names), `"aura tools" lists them`)
			return fmt.Errorf("%s: there is no tool %q (%s)", f.flag, p, hint)
		}
	}
	return nil
}
