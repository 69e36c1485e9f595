package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/environ"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/tasks"
	"github.com/idelchi/aura/internal/tool"
)

// LoadTasks reads the tasks of the configuration that the options name. Nothing else
// is started.
func LoadTasks(o Options) ([]tasks.Task, error) { return TaskFiles(o).Read() }

// TaskFiles are the files that LoadTasks reads, for reading them again.
func TaskFiles(o Options) *tasks.Files {
	return &tasks.Files{Find: func() (config.Homes, error) { return config.FindHomes(o.Homes) }}
}

// PlanTask makes a task ready to run; s comes without what the options say.
func PlanTask(o Options, t *tasks.Task, s tasks.Start) (*tasks.Plan, error) {
	workdir, err := filepath.Abs(o.Homes.Workdir)
	if err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	}
	env, err := environ.Load(o.EnvFile, workdir)
	if err != nil {
		return nil, err
	}
	s.Workdir, s.Env, s.Vars = workdir, env.List(), o.Vars
	return t.Plan(s)
}

// TaskRun is the session of one run of a task.
type TaskRun struct {
	*App
	Stderr io.Writer // Gets what shell lines that go well write there; nil drops it.

	plan *tasks.Plan

	mu   sync.Mutex
	said string // Latest answer, or output of a command.
}

// OpenTask opens a session for a run of a task. What the command line says about
// agent and mode wins over the task.
func OpenTask(ctx context.Context, o Options, t *tasks.Task, plan *tasks.Plan, face Face) (*TaskRun, error) {
	r := &TaskRun{plan: plan}
	o.Task = TaskOptions{Workdir: plan.Workdir, Env: plan.Env, Tools: tool.Filter(t.Tools), Features: t.Features}
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
	if r.App, err = Open(ctx, o, face); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *TaskRun) say(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = text
}

// Begin starts the session: the one that the task names, or a new one. Then the agent
// of the task takes over.
func (r *TaskRun) Begin(ctx context.Context) error {
	key, err := r.key()
	if err != nil {
		return err
	}
	if err := r.Start(ctx, key); err != nil {
		return err
	}
	if name := r.plan.Session; name != "" && key == "" {
		if err := r.agent.SetName(name); err != nil {
			return err
		}
	}
	choice := r.opts.Choice
	if choice.Agent == "" && r.plan.Agent != "" {
		return r.agent.Switch(ctx, r.plan.Agent, cmp.Or(choice.Mode, r.plan.Mode), "task")
	}
	if choice.Mode == "" && r.plan.Mode != "" {
		return r.agent.SetMode(r.plan.Mode)
	}
	return nil
}

// key is the session that the task continues; empty for a new one.
func (r *TaskRun) key() (string, error) {
	name := r.plan.Session
	if name == "" {
		return "", nil
	}
	if r.commands.Store == nil {
		return "", fmt.Errorf(
			"session %q: no sessions are kept: there is neither a project home nor a global one",
			name,
		)
	}
	list, err := r.commands.Store.List()
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
func (r *TaskRun) Submit(ctx context.Context, line string) (string, error) {
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
func (r *TaskRun) Shell(ctx context.Context, script string) (string, error) {
	out, err := sh.Run(ctx, sh.Command{Script: script, Dir: r.workdir, Env: r.env.List()})
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
