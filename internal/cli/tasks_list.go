package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/tasks"
)

func newTasksList(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tasks and when they run next",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return listTasks(e, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listTasks(e *env, asJSON bool) error {
	list, err := loadTasks(e.flags.options())
	if err != nil {
		return err
	}
	now := time.Now()
	all := make([]taskJSON, len(list))
	for i, t := range list {
		all[i] = describeTask(t, now)
	}
	switch {
	case asJSON:
		return e.printJSON(all)
	case len(all) == 0:
		fmt.Fprintln(e.err, "no tasks yet (write one into .aura/config/tasks)")
		return nil
	}
	w := newTable(e.out)
	fmt.Fprintln(w, "NAME\tSCHEDULE\tNEXT\tDESCRIPTION")
	for i, t := range all {
		next, when := "-", cmp.Or(t.Schedule, "-")
		switch {
		case t.Disabled:
			next = "disabled"
		case t.Next != nil:
			next = t.Next.Format("2006-01-02 15:04")
		case list[i].Empty():
			next = "nothing to do"
		case t.Schedule != "":
			next = "passed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, when, next, strings.Join(strings.Fields(t.Description), " "))
	}
	return w.Flush()
}

// taskJSON is a task for scripts.
type taskJSON struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	File        string            `json:"file"`
	Disabled    bool              `json:"disabled"`
	Schedule    string            `json:"schedule"`
	Next        *time.Time        `json:"next"`
	Agent       string            `json:"agent,omitempty"`
	Mode        string            `json:"mode,omitempty"`
	Timeout     string            `json:"timeout"`
	Workdir     string            `json:"workdir,omitempty"`
	Session     string            `json:"session,omitempty"`
	Env         []string          `json:"env"` // Names only: values may be secret.
	Vars        map[string]string `json:"vars,omitempty"`
	Foreach     string            `json:"foreach,omitempty"`
	Lines       map[string]any    `json:"lines"`
}

func describeTask(t tasks.Task, now time.Time) taskJSON {
	out := taskJSON{
		Name:        t.Name,
		Description: t.Description,
		File:        fmt.Sprintf("%s:%d", t.Source.File, t.Source.Line),
		Disabled:    t.Disabled,
		Schedule:    t.Schedule.String(),
		Agent:       t.Agent,
		Mode:        t.Mode,
		Timeout:     t.Timeout.String(),
		Workdir:     t.Workdir,
		Session:     t.Session,
		Env:         append([]string{}, slices.Sorted(maps.Keys(t.Env))...),
		Vars:        t.Vars,
		Lines:       map[string]any{},
	}
	if next, err := t.Schedule.Next(now); err == nil && !t.Schedule.IsZero() && !t.Disabled {
		out.Next = &next
	}
	if f := t.Foreach; f != nil {
		switch {
		case f.Files != "":
			out.Foreach = "files: " + f.Files
		case f.Shell != "":
			out.Foreach = "shell: " + f.Shell
		default:
			out.Foreach = "items: " + strings.Join(f.Items, ", ")
		}
	}
	for _, b := range t.Blocks() {
		if len(*b.Lines) > 0 {
			out.Lines[b.Key] = *b.Lines
		}
	}
	return out
}
