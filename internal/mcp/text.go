package mcp

import (
	"context"
	"fmt"

	"github.com/idelchi/aura/internal/wording"
)

// Table lists the servers; the nil Hub has none.
func (h *Hub) Table() string {
	var list []Status
	if h != nil {
		list = h.Status()
	}
	if len(list) == 0 {
		return "there are no MCP servers (describe one in .aura/config/mcp)"
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		rows[i] = []string{s.Server.Name, s.Server.Type, string(s.State), counts(s)}
	}
	return wording.Columns("", rows)
}

func counts(s Status) string {
	if s.Error != "" {
		return wording.Line(s.Error, 200)
	}
	if s.State != Connected {
		return wording.Line(s.Server.Target(), 80)
	}
	text := wording.Count(len(s.Tools), "tool")
	if len(s.Prompts) > 0 {
		text += ", " + wording.Count(len(s.Prompts), "prompt")
	}
	if s.Server.Deferred {
		text += ", deferred"
	}
	if len(s.Skipped) > 0 {
		text += fmt.Sprintf(", %d left out", len(s.Skipped))
	}
	return text
}

// Describe is all about one server, resources included, which are asked for now.
func (h *Hub) Describe(ctx context.Context, name string) (string, error) {
	s, err := h.Inspect(ctx, name)
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// String is all about one server.
func (s Status) String() string {
	rows := [][]string{
		{"server", s.Server.Name}, {"state", string(s.State)}, {"type", s.Server.Type}, {"target", s.Server.Target()},
		{"file", fmt.Sprintf("%s:%d", s.Server.File, s.Server.Line)},
	}
	for _, row := range [][]string{
		{"error", s.Error}, {"program", s.Program}, {"protocol", s.Protocol}, {"condition", s.Server.Condition},
		{"instructions", wording.Line(s.Instructions, 500)},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	text := wording.Columns("", rows)
	section := func(title string, rows [][]string) {
		if len(rows) > 0 {
			text += "\n\n" + title + "\n" + wording.Columns("  ", rows)
		}
	}
	var tools, prompts, resources, skipped [][]string
	for _, t := range s.Tools {
		tools = append(tools, []string{t.Name, wording.Line(t.Description, 80)})
	}
	for _, p := range s.Prompts {
		name := "/" + p.Name
		for _, a := range p.Arguments {
			if a.Required {
				name += " <" + a.Name + ">"
			} else {
				name += " [" + a.Name + "]"
			}
		}
		prompts = append(prompts, []string{name, wording.Line(p.Description, 80)})
	}
	for _, r := range s.Resources {
		resources = append(resources, []string{wording.Line(r.URI, 80), wording.Line(r.Name+" "+r.Description, 80)})
	}
	for _, x := range s.Skipped {
		skipped = append(skipped, []string{x})
	}
	section("Tools", tools)
	section("Prompts", prompts)
	section("Resources", resources)
	section("Left out", skipped)
	return text
}
