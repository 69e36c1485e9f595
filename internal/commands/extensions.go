package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/extension"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/wording"
)

const extensionsDetails = `Everything that extends the session, kind by kind: for each its name, where it is from
and how it is, and below it what it brings. One that is "off" could not be loaded or was
ended; /reload starts it again. One that is shadowed does not run, because a later place
has one of the same name.`

func listExtensions(_ context.Context, s *Session) error {
	failures := failuresBySource(s.Agent.Pipeline().Records())
	var parts []string
	for _, l := range s.Extensions.List() {
		text := listKind(l, failures)
		if text == "" && l.Kind.Name == "extensions" {
			text = `there are no Python extensions ("aura extensions new NAME" begins one)`
		}
		if text != "" {
			parts = append(parts, l.Kind.Title+":\n"+text)
		}
	}
	if problems := s.Extensions.Problems(); len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = strings.TrimSpace(p.Kind+" "+p.Name) + ": " + p.Text
		}
		parts = append(parts, wording.Count(len(problems), "warning")+":\n"+strings.Join(lines, "\n"))
	}
	s.Print(strings.Join(parts, "\n\n"))
	return nil
}

// listKind is the listing of one kind; empty if there is nothing of it.
func listKind(l extension.Listing, failures map[lifecycle.Source][]lifecycle.Record) string {
	switch {
	case len(l.Items) == 0 && l.Err != nil:
		return l.Kind.Title + " do not run: " + l.Err.Error()
	case len(l.Items) == 0:
		return ""
	}
	rows := make([][]string, len(l.Items))
	for i, x := range l.Items {
		rows[i] = []string{x.Name, x.Origin, x.Status, x.Path}
	}
	var lines []string
	for i, head := range strings.Split(wording.Columns("", withoutEmpty(rows)), "\n") {
		lines = append(lines, head)
		source := lifecycle.Source{Kind: l.Kind.Handlers, Name: l.Items[i].Name}
		if text := brings(l.Items[i], failures[source]); text != "" {
			lines = append(lines, text)
		}
	}
	if l.Err != nil {
		lines = append(lines, "They do not run: "+l.Err.Error())
	}
	return strings.Join(lines, "\n")
}

// withoutEmpty removes columns that are empty in all rows.
func withoutEmpty(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for column := range rows[0] {
		used := false
		for _, row := range rows {
			used = used || row[column] != ""
		}
		for i, row := range rows {
			if used {
				out[i] = append(out[i], row[column])
			}
		}
	}
	return out
}

// brings is the lines below an extension: what it brings and what went wrong.
func brings(x extension.Item, failures []lifecycle.Record) string {
	if strings.HasPrefix(x.Status, "shadowed") {
		return ""
	}
	tools := slices.Clone(x.Tools)
	for i, name := range tools {
		if slices.Contains(x.Confirm, name) {
			tools[i] += " (needs approval)"
		}
	}
	commands := make([]string, len(x.Commands))
	for i, c := range x.Commands {
		commands[i] = "/" + c
	}
	prompt, failed := "", ""
	if x.Prompts > 0 {
		prompt = wording.Count(x.Prompts, "paragraph")
	}
	if n := len(failures); n > 0 && x.Problem == "" {
		last := failures[n-1]
		failed = fmt.Sprintf("%s, last at %s: %s", wording.Count(n, "time"), last.Moment, clip(last.Detail, 200))
	}
	var rows [][]string
	for _, row := range [][]string{
		{"about", clip(x.Description, 120)}, {"error", clip(x.Problem, 300)}, {"events", strings.Join(x.Moments, ", ")},
		{"tools", strings.Join(tools, ", ")}, {"commands", strings.Join(commands, ", ")}, {"prompt", prompt},
		{"failed", failed},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	return wording.Columns("  ", rows)
}

// failuresBySource are the runs of handlers that failed.
func failuresBySource(records []lifecycle.Record) map[lifecycle.Source][]lifecycle.Record {
	out := map[lifecycle.Source][]lifecycle.Record{}
	for _, r := range records {
		switch r.Verdict {
		case lifecycle.Failed, lifecycle.Panicked, lifecycle.TimedOut:
			key := lifecycle.Source{Kind: r.Source.Kind, Name: r.Source.Name}
			out[key] = append(out[key], r)
		}
	}
	return out
}
