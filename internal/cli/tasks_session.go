package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/tasks"
	"github.com/idelchi/aura/internal/tool"
)

// loadTasks reads the tasks of the configuration that the options name. Nothing else
// is started.
func loadTasks(o app.Options) ([]tasks.Task, error) { return taskFiles(o).Read() }

// taskFiles are the files that loadTasks reads, for reading them again.
func taskFiles(o app.Options) *tasks.Files {
	return &tasks.Files{Find: func() (config.Homes, error) { return config.FindHomes(o.Homes) }}
}

// planTask makes a task ready to run; s comes without what the options say.
func planTask(o app.Options, t *tasks.Task, s tasks.Start) (*tasks.Plan, error) {
	workdir, env, err := o.Environment()
	if err != nil {
		return nil, err
	}
	s.Workdir, s.Env, s.Vars = workdir, env, o.Vars
	return t.Plan(s)
}

// taskSession is the session of one run of a task.
type taskSession struct {
	*app.App
	choice app.Choice // What the command line says.
	Stderr io.Writer  // Gets what shell lines that go well write there; nil drops it.

	plan *tasks.Plan

	mu   sync.Mutex
	said string // Latest answer, or output of a command.
}

// openTask opens a session for a run of a task. What the command line says about
// agent and mode wins over the task.
func openTask(
	ctx context.Context,
	o app.Options,
	t *tasks.Task,
	plan *tasks.Plan,
	face app.Face,
) (*taskSession, error) {
	r := &taskSession{plan: plan, choice: o.Choice}
	o.Task = app.TaskOptions{Workdir: plan.Workdir, Env: plan.Env, Tools: tool.Filter(t.Tools), Features: t.Features}
	o.Vars = plan.Vars
	observe, print := face.Observe, face.Print
	face.Observe = func(e agent.Event) {
		if e.Kind == agent.Answered && e.Agent == "" {
			r.say(e.Text)
		}
		if observe != nil {
			observe(e)
		}
	}
	face.Print = func(text string) {
		r.say(text)
		if print != nil {
			print(text)
		}
	}
	var err error
	if r.App, err = app.Open(ctx, o, face); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *taskSession) say(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = text
}

// Begin starts the session: the one that the task names, or a new one. Then the agent
// of the task takes over.
func (r *taskSession) Begin(ctx context.Context) error {
	key, err := r.key()
	if err != nil {
		return err
	}
	if err := r.Start(ctx, key); err != nil {
		return err
	}
	if name := r.plan.Session; name != "" && key == "" {
		if err := r.Agent().SetName(name); err != nil {
			return err
		}
	}
	choice := r.choice
	if choice.Agent == "" && r.plan.Agent != "" {
		return r.Agent().Switch(ctx, r.plan.Agent, cmp.Or(choice.Mode, r.plan.Mode), "task")
	}
	if choice.Mode == "" && r.plan.Mode != "" {
		return r.Agent().SetMode(r.plan.Mode)
	}
	return nil
}

// key is the session that the task continues; empty for a new one.
func (r *taskSession) key() (string, error) {
	name := r.plan.Session
	if name == "" {
		return "", nil
	}
	if r.Commands().Store == nil {
		return "", fmt.Errorf(
			"session %q: no sessions are kept: there is neither a project home nor a global one",
			name,
		)
	}
	list, err := r.Commands().Store.List()
	if err != nil {
		return "", err
	}
	for _, s := range list {
		if strings.EqualFold(s.Name, name) || strings.EqualFold(s.ID, name) {
			return s.ID, nil
		}
	}
	return "", nil
}

// Submit implements tasks.Session.
func (r *taskSession) Submit(ctx context.Context, line string) (string, error) {
	r.say("")
	err := r.App.Submit(ctx, line)
	r.mu.Lock()
	said := r.said
	r.mu.Unlock()
	switch {
	case errors.Is(err, commands.ErrExit):
		err = tasks.ErrStop
	case errors.Is(err, agent.ErrMaxSteps):
		err = &tasks.MaxStepsError{Err: err}
	}
	return said, err
}

// Shell implements tasks.Session.
func (r *taskSession) Shell(ctx context.Context, script string) (string, error) {
	out, err := r.Run(ctx, script)
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return string(out.Stdout), ctx.Err()
	case out.ExitCode != 0:
		err = fmt.Errorf("exit code %d%s", out.ExitCode, lastWords(string(out.Combined)))
	case r.Stderr != nil:
		_, err = r.Stderr.Write(out.Stderr)
	}
	return string(out.Stdout), err
}

// lastWords are the last lines of the output of a command that failed.
func lastWords(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-3):], "\n")
}
