package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/wording"
)

const pluginsDetails = `Each line names a plugin and the function that is called, in running order. A
plugin that is "off" did not stop when its time was up; /reload starts it again.`

// pluginColumn is where the status stands at the earliest.
const pluginColumn = 31

func listPlugins(_ context.Context, s *Session) error {
	var parts []string
	for _, row := range lifecycle.Moments() {
		if text := pluginHooks(s.Agent.Pipeline(), row); text != "" {
			parts = append(parts, text)
		}
	}
	var tools, commands [][]string
	for _, t := range s.Tools() {
		if t.Source.Kind == "plugin" {
			tools = append(tools, []string{t.Name, t.Source.Name, clip(t.Description, 80)})
		}
	}
	for _, c := range s.Commands() {
		if name, ok := strings.CutPrefix(c.Source, "plugin "); ok {
			commands = append(commands, []string{signature(c), name, clip(c.Description, 80)})
		}
	}
	if len(tools) > 0 {
		parts = append(parts, "Plugin Tools:\n"+wording.Columns("  ", tools))
	}
	if len(commands) > 0 {
		parts = append(parts, "Plugin Commands:\n"+wording.Columns("  ", commands))
	}
	if len(parts) == 0 {
		parts = []string{"No plugins loaded."}
	}
	s.Print(strings.Join(parts, "\n\n"))
	return nil
}

// pluginHooks is the list of the plugins that are called at a moment; empty if
// there are none.
func pluginHooks(p *lifecycle.Pipeline, row lifecycle.Row) string {
	list := slices.DeleteFunc(
		p.Bindings(row.Moment),
		func(b lifecycle.Binding) bool { return b.Source.Kind != lifecycle.Plugin },
	)
	if len(list) == 0 {
		return ""
	}
	width := pluginColumn
	for _, b := range list {
		width = max(width, utf8.RuneCountInString(b.Source.Name+"/"+row.Function)+2)
	}
	lines := []string{row.Function + ":"}
	for _, b := range list {
		name := b.Source.Name + "/" + row.Function
		lines = append(lines, "  "+name+strings.Repeat(" ", width-utf8.RuneCountInString(name))+pluginStatus(p, b))
	}
	return strings.Join(lines, "\n")
}

// pluginStatus says how it stands with one hook.
func pluginStatus(p *lifecycle.Pipeline, b lifecycle.Binding) string {
	status := "enabled"
	if b.Off() {
		status = "off"
	}
	var extra []string
	if b.Condition != nil {
		extra = append(extra, fmt.Sprintf("condition=%q", b.Condition))
	}
	if b.Once {
		extra = append(extra, "once=true")
		if p.Fired(b.Source, b.Moment) {
			extra = append(extra, "(fired)")
		}
	}
	if n := p.Panics(b.Source, b.Moment); n > 0 {
		extra = append(extra, fmt.Sprintf("panics=%d", n))
	}
	if len(extra) > 0 {
		status += "  " + strings.Join(extra, " ")
	}
	return status
}
