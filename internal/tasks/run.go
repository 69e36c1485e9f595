package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/idelchi/aura/internal/wording"
)

// finallyTime is how long the lines of finally get, whatever happened before.
const finallyTime = time.Minute

// maxItems bounds what a foreach repeats its commands for.
const maxItems = 10_000

// ErrStop ends a task early and well; /exit does.
var ErrStop = errors.New("the task ended itself")

// MaxStepsError is the error of a prompt that used up its model calls.
type MaxStepsError struct{ Err error }

func (e *MaxStepsError) Error() string { return e.Err.Error() }
func (e *MaxStepsError) Unwrap() error { return e.Err }

// Session is where the lines of a task run. Both methods return what the line gave: the
// answer of the model, or what was printed.
type Session interface {
	// Submit takes a prompt or a slash command.
	Submit(ctx context.Context, line string) (string, error)
	// Shell runs a script; one that fails is an error.
	Shell(ctx context.Context, script string) (string, error)
}

// Step is one line of a task that runs.
type Step struct {
	Phase  string // Key of the list the line is from.
	Number int    // In it, from 1.
	Of     int
	Line   string // As it runs: templates expanded.
	Item   string // Of foreach.
	Index  int    // Of the item, from 1; 0 without foreach.
	Total  int

	Output   string // What is here and below is known when it has ended.
	Err      error
	Duration time.Duration
}

// Watch sees the steps of a run; both fields are optional.
type Watch struct {
	Begin func(Step)
	End   func(Step)
}

// Run does what the plan says, until the first line that fails or the end of ctx:
// pre, the commands, and post if they went well. finally runs in any case, with a
// minute of its own. The error is that of the line, or the cause of the end of ctx.
func (p *Plan) Run(ctx context.Context, s Session, w Watch) error {
	r := &runner{plan: p, session: s, watch: w}
	err := r.work(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, ErrStop) {
		err = nil
	}
	if len(p.lines.Finally) == 0 {
		return err
	}
	last, cancel := context.WithTimeoutCause(
		context.WithoutCancel(ctx),
		finallyTime,
		fmt.Errorf("finally took longer than %s", finallyTime),
	)
	defer cancel()
	end := r.lines(last, "finally", p.lines.Finally, 1, Step{})
	if end != nil && last.Err() != nil {
		end = context.Cause(last)
	}
	if errors.Is(end, ErrStop) {
		end = nil
	}
	return errors.Join(err, end)
}

// runner is the state of one run.
type runner struct {
	plan    *Plan
	session Session
	watch   Watch
	last    string
}

func (r *runner) work(ctx context.Context) error {
	p := r.plan
	if err := r.lines(ctx, "pre", p.lines.Pre, 1, Step{}); err != nil {
		return err
	}
	if p.foreach == nil {
		if err := r.lines(ctx, "commands", p.lines.Commands, p.first, Step{}); err != nil {
			return err
		}
		return r.lines(ctx, "post", p.lines.Post, 1, Step{})
	}
	items, err := r.items(ctx)
	if err != nil {
		return fmt.Errorf("foreach: %w", err)
	}
	if n := len(items); n > 0 && p.first > n {
		return fmt.Errorf("cannot start with item %d: there are %d", p.first, n)
	}
	for i, item := range items {
		if i+1 < p.first {
			continue
		}
		if err := r.lines(
			ctx,
			"commands",
			p.lines.Commands,
			1,
			Step{Item: item, Index: i + 1, Total: len(items)},
		); err != nil {
			return fmt.Errorf("item %d (%s): %w", i+1, wording.Short(item), err)
		}
	}
	return r.lines(ctx, "post", p.lines.Post, 1, Step{})
}

// lines runs the lines of a phase from the given one on.
func (r *runner) lines(ctx context.Context, phase string, lines []string, first int, step Step) error {
	step.Phase, step.Of = phase, len(lines)
	for i, line := range lines {
		if i+1 < first {
			continue
		}
		step.Number = i + 1
		err := r.line(ctx, line, step)
		if full, ok := errors.AsType[*MaxStepsError](
			err,
		); ok && phase != "on_max_steps" && len(r.plan.lines.OnMaxSteps) > 0 &&
			ctx.Err() == nil {
			err = r.lines(
				ctx,
				"on_max_steps",
				r.plan.lines.OnMaxSteps,
				1,
				Step{Item: step.Item, Index: step.Index, Total: step.Total},
			)
			if err != nil {
				err = fmt.Errorf("%w, after: %w", err, full)
			}
		}
		if err != nil && !errors.Is(err, ErrStop) && phase != "on_max_steps" {
			return fmt.Errorf("%s %d (%s): %w", label[phase], i+1, title(line), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// label is what one line of a phase is called.
var label = map[string]string{
	"pre":          "pre",
	"commands":     "command",
	"post":         "post",
	"finally":      "finally",
	"on_max_steps": "on_max_steps",
}

// line runs one line.
func (r *runner) line(ctx context.Context, line string, step Step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	begun := time.Now()
	data := stepData{Item: step.Item, Index: max(step.Index, 1), Total: max(step.Total, 1), Last: r.last}
	text, err := expandStep(line, data)
	step.Line = line
	if err == nil {
		step.Line = text
	}
	if r.watch.Begin != nil {
		r.watch.Begin(step)
	}
	switch script, shell := strings.CutPrefix(text, "!"); {
	case err != nil:
	case shell:
		step.Output, err = r.session.Shell(ctx, script)
	case strings.TrimSpace(text) == "":
		err = errors.New("the line is empty once its template is expanded")
	default:
		step.Output, err = r.session.Submit(ctx, text)
	}
	r.last = step.Output
	step.Err, step.Duration = err, time.Since(begun)
	if r.watch.End != nil {
		r.watch.End(step)
	}
	return err
}

// title is the first line of a text, short enough for a message.
func title(line string) string {
	first, _, more := strings.Cut(strings.TrimSpace(line), "\n")
	if out := wording.Short(first); out != first || !more {
		return out
	}
	return first + " ..."
}

// items are what the commands are repeated for.
func (r *runner) items(ctx context.Context) ([]string, error) {
	f := r.plan.foreach
	var items []string
	switch {
	case f.Files != "":
		var err error
		if items, err = glob(r.plan.Workdir, f.Files); err != nil {
			return nil, err
		}
	case f.Shell != "":
		out, err := r.session.Shell(ctx, f.Shell)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
				items = append(items, line)
			}
		}
	default:
		items = f.Items
	}
	if len(items) > maxItems {
		return nil, fmt.Errorf("%d items are too many (at most %d)", len(items), maxItems)
	}
	return items, nil
}

// glob lists the files that a pattern means, sorted, as paths from dir. Wildcards do
// not stand for names that begin with a dot.
func glob(dir, pattern string) ([]string, error) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	base = absolute(dir, filepath.FromSlash(base))
	found, err := doublestar.Glob(
		os.DirFS(base),
		rest,
		doublestar.WithFilesOnly(),
		doublestar.WithNoFollow(),
		doublestar.WithNoHidden(),
	)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", wording.Short(pattern), err)
	}
	for i, name := range found {
		path := filepath.Join(base, filepath.FromSlash(name))
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = rel
		}
		found[i] = path
	}
	slices.Sort(found)
	return found, nil
}
