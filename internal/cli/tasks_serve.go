package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/tasks"
)

func newTasksServe(e *env) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "serve [NAME...]",
		Short: "Run tasks on their schedules until interrupted",
		Long: `Stays and runs the named tasks, or all that are not disabled, whenever their schedules
say, each at most once at a time. A task that fails is reported and runs again at its
next time. Task files that are written, added or removed meanwhile are read anew; a run
goes on as it began. Ctrl+C cancels what is running, waits for it and ends.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.timeoutSet = cmd.Flags().Changed("timeout")
			return serveTasks(cmd.Context(), e, f, args)
		},
		ValidArgsFunction: completeTasks(&e.flags),
	}
	f.register(cmd, 4)
	return cmd
}

// serveTasks runs tasks on their schedules.
func serveTasks(ctx context.Context, e *env, f taskFlags, names []string) error {
	if err := f.check(&e.flags); err != nil {
		return err
	}
	files := taskFiles(e.flags.options())
	all, err := files.Read()
	if err != nil {
		return err
	}
	list, err := chooseTasks(all, names)
	if err != nil {
		return err
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	r := newTaskRunner(e, f)
	r.serving = true
	if err := r.announce(list); err != nil {
		return err
	}
	slots := make(chan struct{}, f.concurrency)
	err = tasks.Serve(ctx, list, tasks.Service{
		Run: func(ctx context.Context, t tasks.Task) {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				r.run(ctx, t)
			case <-ctx.Done():
			}
		},
		Skip:    func(t tasks.Task, err error) { r.say(t.Name, "does not run: "+err.Error()) },
		Look:    r.reload(files, names),
		Changed: r.changed,
	})
	r.line("tasks: stopped")
	return errors.Join(err, r.finish(nil))
}

// announce tells what is served.
func (r *taskRunner) announce(list []tasks.Task) error {
	served := 0
	for _, t := range list {
		if t.Schedule.IsZero() {
			continue
		}
		served++
		if next, err := t.Schedule.Next(time.Now()); err == nil {
			r.say(t.Name, fmt.Sprintf("%s, next at %s", t.Schedule, next.Format(time.DateTime)))
		}
	}
	if served == 0 {
		return errors.New("no task has a schedule (write schedule: {daily: 03:00} into one)")
	}
	return nil
}

// reload returns a function that reads the served tasks again when their files have
// changed. It warns of mistakes in them, once each.
func (r *taskRunner) reload(files *tasks.Files, names []string) func() ([]tasks.Task, bool) {
	warned := ""
	return func() ([]tasks.Task, bool) {
		all, read, err := files.Look()
		if !read {
			return nil, false
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != warned && text != "" {
			r.line("tasks: " + text + " (what was read before goes on)")
		}
		warned = text
		return tasks.Still(all, names), true
	}
}

// changed tells in one line what changed when the files were read again.
func (r *taskRunner) changed(c tasks.Change) {
	var parts []string
	for _, group := range []struct {
		what string
		list []tasks.Task
	}{{"added", c.Added}, {"changed", c.Changed}, {"removed", c.Removed}} {
		for _, t := range group.list {
			part := group.what + " " + t.Name
			if group.what != "removed" {
				part += " (" + t.Schedule.String() + ")"
			}
			parts = append(parts, part)
		}
	}
	r.line("tasks: " + strings.Join(parts, ", "))
}
