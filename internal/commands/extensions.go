package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/wording"
)

const extensionsDetails = `For each extension its name, where it is from and how it is, and below it what it
registered. One that is "off" could not be loaded or was ended; /reload starts it again.
One that is shadowed does not run, because a later place has one of the same name.`

func listExtensions(_ context.Context, s *Session) error {
	var list []pyext.Loaded
	var err error
	if s.Extensions != nil {
		list, err = s.Extensions()
	}
	switch {
	case len(list) == 0 && err != nil:
		s.Print("Python extensions do not run: " + err.Error())
		return nil
	case len(list) == 0:
		s.Print(`there are no Python extensions ("aura extensions new NAME" begins one)`)
		return nil
	}
	rows := make([][]string, len(list))
	for i, x := range list {
		path := x.Path
		if x.EntryPoint != "" {
			path += " (" + x.EntryPoint + ")"
		}
		rows[i] = []string{x.Name, string(x.Tier), extensionStatus(x, err), path}
	}
	failures := extensionFailures(s.Agent.Pipeline().Records())
	var lines []string
	for i, head := range strings.Split(columns("", rows), "\n") {
		lines = append(lines, head)
		if text := registered(list[i], failures[list[i].Name]); text != "" {
			lines = append(lines, text)
		}
	}
	if err != nil {
		lines = append(lines, "They do not run: "+err.Error())
	}
	s.Print(strings.Join(lines, "\n"))
	return nil
}

// extensionStatus says how it stands with an extension; err is why none runs.
func extensionStatus(x pyext.Loaded, err error) string {
	switch {
	case x.ShadowedBy != "":
		return "shadowed by " + string(x.ShadowedBy)
	case x.Error != "" || err != nil:
		return "off"
	case x.Events == nil:
		return "starting"
	}
	return "running"
}

// registered is the lines below an extension: what it registered and what went wrong.
func registered(x pyext.Loaded, failures []lifecycle.Record) string {
	if x.ShadowedBy != "" {
		return ""
	}
	var tools, commands []string
	for _, t := range x.Tools {
		name := t.Name
		if t.Approval {
			name += " (needs approval)"
		}
		tools = append(tools, name)
	}
	for _, c := range x.Commands {
		commands = append(commands, "/"+c.Name)
	}
	prompt := ""
	if len(x.Prompts) > 0 {
		prompt = wording.Count(len(x.Prompts), "paragraph")
	}
	failed := ""
	if n := len(failures); n > 0 && x.Error == "" {
		last := failures[n-1]
		failed = fmt.Sprintf("%s, last at %s: %s", wording.Count(n, "time"), last.Moment, clip(last.Detail, 200))
	}
	var rows [][]string
	for _, row := range [][]string{
		{"error", clip(x.Error, 300)}, {"events", strings.Join(x.Events, ", ")}, {"tools", strings.Join(tools, ", ")},
		{"commands", strings.Join(commands, ", ")}, {"prompt", prompt}, {"failed", failed},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	return columns("  ", rows)
}

// extensionFailures are the runs of handlers that failed, by extension.
func extensionFailures(records []lifecycle.Record) map[string][]lifecycle.Record {
	out := map[string][]lifecycle.Record{}
	for _, r := range records {
		switch r.Verdict {
		case lifecycle.Failed, lifecycle.Panicked, lifecycle.TimedOut:
			if r.Source.Kind == lifecycle.Extension {
				out[r.Source.Name] = append(out[r.Source.Name], r)
			}
		}
	}
	return out
}
