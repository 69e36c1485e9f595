package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/tasks"
)

func newTasksRun(e *env) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "run [NAME...]",
		Short: "Run tasks and exit",
		Long: `Runs the named tasks, or all that are not disabled. A task with a schedule waits for
its next time; --now runs it at once. Each run is a session of its own.

Answers go to standard output, everything else to standard error. The exit code is
1 if any task failed. Nobody is asked anything: what needs approval is refused,
unless --auto is given.`,
		Example: `  aura tasks run --now nightly
  aura tasks run review --set branch=main --append "/export review.md"
  aura tasks run --concurrency 4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.timeoutSet = cmd.Flags().Changed("timeout")
			return runTasks(cmd.Context(), e, f, args)
		},
		ValidArgsFunction: completeTasks(&e.flags),
	}
	cmd.Flags().BoolVar(&f.now, "now", false, "do not wait for schedules")
	cmd.Flags().
		StringArrayVar(&f.prepend, "prepend", nil, "run this line before the commands of each task (repeatable)")
	cmd.Flags().StringArrayVar(&f.append, "append", nil, "run this line after the commands of each task (repeatable)")
	cmd.Flags().IntVar(&f.start, "start", 1, "begin with this item of foreach or, without foreach, with this command")
	f.register(cmd, 1)
	return cmd
}

// runTasks runs tasks, as many side by side as the flags say.
func runTasks(ctx context.Context, e *env, f taskFlags, names []string) error {
	if err := f.check(&e.flags); err != nil {
		return err
	}
	all, err := loadTasks(e.flags.options())
	if err != nil {
		return err
	}
	list, err := chooseTasks(all, names)
	if err != nil {
		return err
	}
	if f.start > 1 && len(list) != 1 {
		return &usageError{fmt.Errorf("--start: it is for one task, not for %d", len(list))}
	}
	if e.flags.dry == "render" {
		return renderTasks(e, f, list)
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	r := newTaskRunner(e, f)
	r.work(ctx, r.queue(ctx, list), min(f.concurrency, len(list)))
	if err := r.finish(list); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.failed > 0:
		return codeError(exitError)
	}
	return nil
}

// renderTasks prints what tasks would do.
func renderTasks(e *env, f taskFlags, list []tasks.Task) error {
	for _, t := range list {
		plan, err := planTask(e.flags.options(), &t, f.runOptions())
		if err != nil {
			return fmt.Errorf("task %s: %w", t.Name, err)
		}
		lines := plan.Lines()
		fmt.Fprintln(e.out, t.Name)
		printLines(e.out, &lines)
	}
	return nil
}

// queue sends tasks when they are due: those that need not wait at once and in their
// order, the others at their times.
func (r *taskRunner) queue(ctx context.Context, list []tasks.Task) <-chan tasks.Task {
	ready := make(chan tasks.Task, len(list))
	var waiting sync.WaitGroup
	for _, t := range list {
		if r.flags.now || t.Schedule.IsZero() {
			ready <- t
			continue
		}
		next, err := t.Schedule.Next(time.Now())
		if err != nil {
			r.end(t.Name, taskReport{}, fmt.Errorf("%s: %w (--now runs it)", t.Schedule, err), time.Now())
			continue
		}
		r.say(t.Name, fmt.Sprintf("waits until %s (%s; --now runs it at once)", next.Format(time.DateTime), t.Schedule))
		waiting.Go(func() {
			if waitUntil(ctx, next) {
				ready <- t
			}
		})
	}
	go func() { waiting.Wait(); close(ready) }()
	return ready
}

// waitUntil waits by the wall clock, which goes on while a computer sleeps. It reports
// false if ctx ends first.
func waitUntil(ctx context.Context, at time.Time) bool {
	at = at.Round(0)
	for {
		left := time.Until(at)
		if left <= 0 {
			return ctx.Err() == nil
		}
		timer := time.NewTimer(min(left, time.Minute))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// work runs what is ready, n side by side.
func (r *taskRunner) work(ctx context.Context, ready <-chan tasks.Task, n int) {
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			for t := range ready {
				if ctx.Err() == nil {
					r.run(ctx, t)
				}
			}
		})
	}
	group.Wait()
}
