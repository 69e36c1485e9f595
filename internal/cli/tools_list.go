package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

func listTools(e *env, all []tool.Tool, asJSON bool) error {
	if asJSON {
		list := make([]toolJSON, len(all))
		for i := range all {
			list[i] = newToolJSON(&all[i])
		}
		return e.printJSON(list)
	}
	w := newTable(e.out)
	for _, t := range all {
		line, _, _ := strings.Cut(t.Description, "\n")
		line, _, _ = strings.Cut(line, ". ")
		source := t.Source.Kind
		if t.Source.Name != "" {
			source += " " + t.Source.Name
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name, source, line)
	}
	return w.Flush()
}

func describeTool(e *env, t *tool.Tool, asJSON bool) error {
	if asJSON {
		return e.printJSON(newToolJSON(t))
	}
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(e.out, "%s:\n  %s\n\n", title, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	section("Name", t.Name)
	section("Description", t.Description)
	section("Usage", t.Usage)
	section("Examples", t.Examples)
	fmt.Fprintln(e.out, "Parameters:")
	w := newTable(e.out)
	for _, p := range t.Schema.Params() {
		need := "optional"
		if p.Required {
			need = "required"
		}
		text := p.Description
		if len(p.Enum) > 0 {
			text = strings.TrimSpace(fmt.Sprintf("%s (one of %s)", text, strings.Trim(fmt.Sprint(p.Enum), "[]")))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", p.Name, p.Type, need, strings.ReplaceAll(text, "\n", " "))
	}
	if len(t.Schema.Params()) == 0 {
		fmt.Fprintln(w, "  none")
	}
	return w.Flush()
}

// toolJSON is a tool for scripts.
type toolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Usage       string          `json:"usage,omitempty"`
	Examples    string          `json:"examples,omitempty"`
	Source      string          `json:"source"`
	Parameters  json.RawMessage `json:"parameters"`
}

func newToolJSON(t *tool.Tool) toolJSON {
	return toolJSON{
		Name:        t.Name,
		Description: t.Description,
		Usage:       t.Usage,
		Examples:    t.Examples,
		Source:      strings.TrimSpace(t.Source.Kind + " " + t.Source.Name),
		Parameters:  t.Schema.Raw(),
	}
}
