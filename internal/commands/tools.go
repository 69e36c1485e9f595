package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

const toolsDetails = `Marks: serial (never runs beside other calls), approval (a user must agree),
opt-in (hidden unless a filter names it), deferred (must be loaded first). A tool
that the current agent and mode do not offer is "(not available)".`

func listTools(_ context.Context, s *Session) error {
	p, available := s.Agent.Profile(), s.Agent.Snapshot().AvailableTools
	all := s.Tools()
	for _, t := range slices.Concat(p.Tools, p.Deferred) {
		if !slices.ContainsFunc(all, func(x tool.Tool) bool { return x.Name == t.Name }) {
			all = append(slices.Clip(all), t)
		}
	}
	if len(all) == 0 {
		s.Print("there are no tools")
		return nil
	}
	rows := make([][]string, len(all))
	for i, t := range all {
		deferred := slices.ContainsFunc(p.Deferred, func(x tool.Tool) bool { return x.Name == t.Name })
		rows[i] = []string{
			t.Name,
			origin(t.Source),
			toolMarks(t, deferred),
			toolLine(t, slices.Contains(available, t.Name) || deferred),
		}
	}
	s.Print(wording.Columns("", rows))
	return nil
}

// toolMarks says in words what is special about a tool.
func toolMarks(t tool.Tool, deferred bool) string {
	var marks []string
	for _, m := range []struct {
		set  bool
		word string
	}{{t.Serial, "serial"}, {t.Confirm, "approval"}, {t.OptIn, "opt-in"}, {deferred, "deferred"}} {
		if m.set {
			marks = append(marks, m.word)
		}
	}
	return strings.Join(marks, ", ")
}

// toolLine is the first line of a tool's description, after whether it can be
// called at all.
func toolLine(t tool.Tool, available bool) string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	line = clip(line, 80)
	if available {
		return line
	}
	return strings.TrimSpace("(not available) " + line)
}

// origin names the source of a tool.
func origin(s tool.Source) string {
	switch {
	case s.Kind == "":
		return "builtin"
	case s.Name == "":
		return s.Kind
	}
	return s.Kind + " " + s.Name
}
