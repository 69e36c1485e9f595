package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/tasks"
)

// taskRunner runs tasks and shows how they go.
type taskRunner struct {
	e       *env
	flags   taskFlags
	serving bool // Lines begin with the time; reports are written run by run.

	mu      sync.Mutex
	failed  int
	reports map[string]taskReport
	err     error // The first failed write to standard output.
}

func newTaskRunner(e *env, f taskFlags) *taskRunner {
	return &taskRunner{e: e, flags: f, reports: map[string]taskReport{}}
}

// run runs one task and tells how it went. A panic is an error of the task.
func (r *taskRunner) run(ctx context.Context, t tasks.Task) {
	begun := time.Now()
	var rep taskReport
	defer func() {
		if v := recover(); v != nil {
			r.end(t.Name, rep, fmt.Errorf("internal error: %v\n%s", v, debug.Stack()), begun)
		}
	}()
	plan, err := planTask(r.e.flags.options(), &t, r.flags.runOptions())
	if err != nil {
		r.end(t.Name, rep, err, begun)
		return
	}
	if plan.Empty() {
		r.say(t.Name, "nothing to do: it has no commands")
		rep.Status = "empty"
		r.report(t.Name, rep)
		return
	}
	r.say(t.Name, "started")
	if plan.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, plan.Timeout, fmt.Errorf("timed out after %s", plan.Timeout))
		defer cancel()
	}
	v := r.newView()
	err = r.session(ctx, &t, plan, v, &rep)
	v.flush(r)
	r.end(t.Name, rep, err, begun)
}

// session is a run of a task from opening to closing its session.
func (r *taskRunner) session(ctx context.Context, t *tasks.Task, plan *tasks.Plan, v *taskView, rep *taskReport) error {
	a, err := openTask(ctx, r.e.flags.options(), t, plan, app.Face{Observe: v.out.Observe, Print: v.print})
	if err != nil {
		return causeOf(ctx, err)
	}
	a.Stderr = v.err
	if err = causeOf(ctx, a.Begin(ctx)); err == nil {
		err = plan.Run(ctx, a, tasks.Watch{Begin: v.begin, End: func(s tasks.Step) {
			v.end(s)
			rep.Steps = append(rep.Steps, newStepReport(s))
		}})
	}
	reason := "exit"
	switch {
	case errors.Is(err, context.Canceled):
		reason = "cancelled"
	case err != nil:
		reason = "error"
	}
	o := plain.Outcome{Agent: a.Agent().Profile().Agent, Model: a.Agent().Profile().Model.Name}
	if log := a.Agent().Log(); log != nil {
		o.SessionID = log.ID()
	}
	err = errors.Join(err, a.Close(reason))
	return errors.Join(err, v.finish(o, rep))
}

// end tells how a run went.
func (r *taskRunner) end(name string, rep taskReport, err error, begun time.Time) {
	took := time.Since(begun)
	rep.Status, rep.DurationMS = "ok", took.Milliseconds()
	text := fmt.Sprintf("done in %s", took.Round(time.Millisecond))
	switch {
	case errors.Is(err, context.Canceled):
		rep.Status, text = "cancelled", fmt.Sprintf("cancelled after %s", took.Round(time.Millisecond))
	case err != nil:
		rep.Status, text = "failed", fmt.Sprintf("failed after %s: %v", took.Round(time.Millisecond), err)
	}
	if err != nil {
		why := err.Error()
		rep.Error = &why
		r.mu.Lock()
		r.failed++
		r.mu.Unlock()
	}
	r.say(name, text)
	r.report(name, rep)
}

// line writes a line about the tasks.
func (r *taskRunner) line(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.serving {
		text = time.Now().Format(time.DateTime) + " " + text
	}
	fmt.Fprintln(r.e.err, printable(text))
}

// say writes a line about one task.
func (r *taskRunner) say(task, text string) { r.line("task " + task + ": " + text) }

// printable replaces control characters, which a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text)
}
