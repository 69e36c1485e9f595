package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/tasks"
)

func newTasksShow(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show a task with everything it inherits",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeTasks(&e.flags),
		RunE:              func(_ *cobra.Command, args []string) error { return showTask(e, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showTask(e *env, name string, asJSON bool) error {
	list, err := loadTasks(e.flags.options())
	if err != nil {
		return err
	}
	t, err := tasks.Find(list, name)
	if err != nil {
		return err
	}
	d := describeTask(t, time.Now())
	if asJSON {
		return e.printJSON(d)
	}
	fmt.Fprintf(e.out, "%s (%s)\n", d.Name, d.File)
	if d.Disabled {
		fmt.Fprintln(e.out, "disabled")
	}
	next := ""
	if d.Next != nil {
		next = d.Next.Format(time.DateTime)
	}
	var vars []string
	for _, name := range slices.Sorted(maps.Keys(d.Vars)) {
		vars = append(vars, name+"="+d.Vars[name])
	}
	w := newTable(e.out)
	for _, row := range [][2]string{
		{"description", d.Description},
		{"schedule", d.Schedule},
		{"next", next},
		{"agent", d.Agent},
		{"mode", d.Mode},
		{"timeout", d.Timeout},
		{"workdir", d.Workdir},
		{"session", d.Session},
		{"env", strings.Join(d.Env, ", ")},
		{"env_file", strings.Join(t.EnvFile, ", ")},
		{"vars", strings.Join(vars, ", ")},
		{"tools", strings.Join(t.Tools.Enabled, ", ")},
		{"not tools", strings.Join(t.Tools.Disabled, ", ")},
		{"foreach", d.Foreach},
	} {
		if row[1] != "" {
			fmt.Fprintf(w, "  %s\t%s\n", row[0], row[1])
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	printLines(e.out, &t.Lines)
	if t.Empty() {
		fmt.Fprintln(e.out, "nothing to do: it has no commands")
	}
	return nil
}
