package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/tasks"
)

// board runs tasks and shows how they go.
type board struct {
	e       *env
	flags   taskFlags
	serving bool // Lines have the time; JSON is written run by run.

	mu      sync.Mutex
	failed  int
	reports map[string]taskReport
	err     error // Of standard output.
}

// taskReport is a run of a task in --output json. Its form is a contract: docs/tasks.md.
type taskReport struct {
	Task       string       `json:"task"`
	Status     string       `json:"status"` // ok, failed, cancelled or empty.
	DurationMS int64        `json:"duration_ms"`
	Steps      []stepReport `json:"steps"`
	plain.Report
}

// stepReport is one line of a task.
type stepReport struct {
	Phase      string  `json:"phase"`
	Line       string  `json:"line"`
	Item       string  `json:"item,omitempty"`
	Output     string  `json:"output"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"duration_ms"`
}

func (e *env) newBoard(f taskFlags) *board {
	return &board{e: e, flags: f, reports: map[string]taskReport{}}
}

// line writes a line about the tasks.
func (b *board) line(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.serving {
		text = time.Now().Format(time.DateTime) + " " + text
	}
	fmt.Fprintln(b.e.err, printable(text))
}

// say writes a line about one task.
func (b *board) say(task, text string) { b.line("task " + task + ": " + text) }

// printable is a text that cannot drive a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, text)
}

// queue hands over tasks when they are due: those that need not wait in their order,
// the others at their times.
func (b *board) queue(ctx context.Context, list []tasks.Task) <-chan tasks.Task {
	ready := make(chan tasks.Task, len(list))
	var waiting sync.WaitGroup
	for _, t := range list {
		if b.flags.now || t.Schedule.IsZero() {
			ready <- t
			continue
		}
		next, err := t.Schedule.Next(time.Now())
		if err != nil {
			b.end(t.Name, taskReport{}, fmt.Errorf("%s: %w (--now runs it)", t.Schedule, err), time.Now())
			continue
		}
		b.say(t.Name, fmt.Sprintf("waits until %s (%s; --now runs it at once)", next.Format(time.DateTime), t.Schedule))
		waiting.Go(func() {
			if waitUntil(ctx, next) {
				ready <- t
			}
		})
	}
	go func() { waiting.Wait(); close(ready) }()
	return ready
}

// waitUntil waits by the clock on the wall, which goes on while a computer sleeps. It
// reports false if ctx ends before.
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
func (b *board) work(ctx context.Context, ready <-chan tasks.Task, n int) {
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			for t := range ready {
				if ctx.Err() == nil {
					b.run(ctx, t)
				}
			}
		})
	}
	group.Wait()
}

// announce tells what is served.
func (b *board) announce(list []tasks.Task) error {
	served := 0
	for _, t := range list {
		if t.Schedule.IsZero() {
			continue
		}
		served++
		if next, err := t.Schedule.Next(time.Now()); err == nil {
			b.say(t.Name, fmt.Sprintf("%s, next at %s", t.Schedule, next.Format(time.DateTime)))
		}
	}
	if served == 0 {
		return errors.New("no task has a schedule (write schedule: {daily: 03:00} into one)")
	}
	return nil
}

// look reads the served tasks anew when their files change, and warns of mistakes in
// them, once each.
func (b *board) look(files *tasks.Files, names []string) func() ([]tasks.Task, bool) {
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
			b.line("tasks: " + text + " (what was read before goes on)")
		}
		warned = text
		return tasks.Still(all, names), true
	}
}

// changed tells what a look changed, in one line.
func (b *board) changed(c tasks.Change) {
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
	b.line("tasks: " + strings.Join(parts, ", "))
}

// run runs one task and tells how it went. It does not panic.
func (b *board) run(ctx context.Context, t tasks.Task) {
	begun := time.Now()
	var r taskReport
	defer func() {
		if v := recover(); v != nil {
			b.end(t.Name, r, fmt.Errorf("internal error: %v\n%s", v, debug.Stack()), begun)
		}
	}()
	start := b.flags.begin()
	plan, err := app.PlanTask(b.e.flags.options(), &t, start)
	if err != nil {
		b.end(t.Name, r, err, begun)
		return
	}
	if plan.Empty() {
		b.say(t.Name, "nothing to do: it has no commands")
		r.Status = "empty"
		b.report(t.Name, r)
		return
	}
	b.say(t.Name, "started")
	if plan.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, plan.Timeout, fmt.Errorf("timed out after %s", plan.Timeout))
		defer cancel()
	}
	v := b.newView()
	err = b.session(ctx, &t, plan, v, &r)
	v.flush(b)
	b.end(t.Name, r, err, begun)
}

// session is a run of a task from opening to closing its session.
func (b *board) session(ctx context.Context, t *tasks.Task, plan *tasks.Plan, v *taskView, r *taskReport) error {
	a, err := app.OpenTask(ctx, b.e.flags.options(), t, plan, app.Face{Observe: v.out.Observe, Print: v.print})
	if err != nil {
		return err
	}
	a.Stderr = v.err
	if err = a.Begin(ctx); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = plan.Run(ctx, a, tasks.Watch{Begin: v.begin, End: func(s tasks.Step) {
			v.end(s)
			r.Steps = append(r.Steps, newStepReport(s))
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
	return errors.Join(err, v.finish(o, r))
}

func newStepReport(s tasks.Step) stepReport {
	out := stepReport{
		Phase:      s.Phase,
		Line:       s.Line,
		Item:       s.Item,
		Output:     s.Output,
		DurationMS: s.Duration.Milliseconds(),
	}
	if s.Err != nil {
		text := s.Err.Error()
		out.Error = &text
	}
	return out
}

// end tells how a run went.
func (b *board) end(name string, r taskReport, err error, begun time.Time) {
	took := time.Since(begun)
	r.Status, r.DurationMS = "ok", took.Milliseconds()
	text := fmt.Sprintf("done in %s", took.Round(time.Millisecond))
	switch {
	case errors.Is(err, context.Canceled):
		r.Status, text = "cancelled", fmt.Sprintf("cancelled after %s", took.Round(time.Millisecond))
	case err != nil:
		r.Status, text = "failed", fmt.Sprintf("failed after %s: %v", took.Round(time.Millisecond), err)
	}
	if err != nil {
		why := err.Error()
		r.Error = &why
		b.mu.Lock()
		b.failed++
		b.mu.Unlock()
	}
	b.say(name, text)
	b.report(name, r)
}

// report keeps the report of a run, or writes it where runs do not end.
func (b *board) report(name string, r taskReport) {
	if b.flags.output != "json" {
		return
	}
	r.Task = name
	if r.Steps == nil {
		r.Steps = []stepReport{}
	}
	if r.Turns == nil { // It did not come to a session.
		r.Turns, r.ToolCalls, r.Notices = []plain.TurnReport{}, []plain.CallReport{}, []plain.NoticeReport{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.serving {
		b.reports[name] = r
		return
	}
	if err := jsontext.NewEncoder(b.e.out).Encode(r); err != nil && b.err == nil {
		b.err = err
	}
}

// finish writes what is left, in the order of the tasks. One that never came to run,
// because the program was interrupted, is not in it.
func (b *board) finish(list []tasks.Task) error {
	if b.flags.output != "json" || b.serving {
		return b.err
	}
	out := []taskReport{}
	for _, t := range list {
		if r, ok := b.reports[t.Name]; ok {
			out = append(out, r)
		}
	}
	return b.e.printJSON(out)
}

// taskView shows one run. Where several run side by side, what it shows is held back
// until the end.
type taskView struct {
	out     plain.Output
	printer *plain.Printer // nil for JSON.
	err     io.Writer

	held    [2]bytes.Buffer // Output and error output.
	holding bool
	json    bytes.Buffer
}

func (b *board) newView() *taskView {
	v := &taskView{err: b.e.err, holding: b.flags.concurrency > 1}
	if b.flags.output == "json" {
		v.out = plain.NewJSON(&v.json)
		return v
	}
	o := plain.PrinterOptions{Out: b.e.out, Err: b.e.err, Verbose: b.e.flags.verbose}
	if v.holding {
		o.Out, o.Err, v.err = &v.held[0], &v.held[1], &v.held[1]
	}
	v.printer = plain.NewPrinter(o)
	v.out = v.printer
	return v
}

// print shows the output of a slash command.
func (v *taskView) print(text string) {
	if v.printer != nil {
		v.printer.Print(strings.TrimRight(text, "\n"))
	}
}

// begin shows which line runs.
func (v *taskView) begin(s tasks.Step) {
	if v.printer == nil {
		return
	}
	where := fmt.Sprintf("%d/%d", s.Number, s.Of)
	if s.Phase != "commands" {
		where = s.Phase + " " + where
	}
	if s.Index > 0 {
		where = fmt.Sprintf("item %d/%d %s, %s", s.Index, s.Total, s.Item, where)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(s.Line), "\n")
	if r := []rune(line); len(r) > 100 {
		line = string(r[:100]) + "..."
	}
	v.printer.Note(printable("[" + where + "] " + line))
}

// end shows what a shell line printed; answers and commands have been shown.
func (v *taskView) end(s tasks.Step) {
	if strings.HasPrefix(s.Line, "!") && s.Output != "" {
		v.print(s.Output)
	}
}

// finish completes the view and the report.
func (v *taskView) finish(o plain.Outcome, r *taskReport) error {
	err := v.out.Finish(o)
	if v.printer == nil && err == nil {
		err = json.Unmarshal(v.json.Bytes(), &r.Report)
	}
	return err
}

// flush writes what was held back.
func (v *taskView) flush(b *board) {
	if !v.holding {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.e.err.Write(v.held[1].Bytes())
	if err == nil {
		_, err = b.e.out.Write(v.held[0].Bytes())
	}
	if err != nil && b.err == nil {
		b.err = err
	}
}
