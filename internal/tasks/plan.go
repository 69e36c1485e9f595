package tasks

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/config"
)

// Start is the world in which a task starts, and what the command line changes.
type Start struct {
	Workdir string            // Absolute.
	Env     []string          // KEY=value.
	Vars    map[string]string // Win over those of the task.
	Now     time.Time

	Prepend []string // Lines before the commands.
	Append  []string // Lines after them.
	First   int      // Item of foreach, or else command, to begin with; 0 and 1 are the first.
	Timeout *time.Duration
}

// Plan is a task that is ready to run: everything that {{ }} decides is decided.
type Plan struct {
	Task    string
	Agent   string
	Mode    string
	Workdir string // Absolute.
	Session string
	Env     map[string]string // Of the files, and over them that of the task.
	Vars    map[string]string
	Timeout time.Duration // 0 is no limit.

	lines   Lines
	foreach *Foreach
	first   int
}

// Plan makes a task ready to run. Its errors name the key.
func (t *Task) Plan(s Start) (*Plan, error) {
	p := &Plan{
		Task:    t.Name,
		Agent:   t.Agent,
		Mode:    t.Mode,
		Workdir: s.Workdir,
		Env:     map[string]string{},
		Vars:    map[string]string{},
		Timeout: t.Timeout,
		first:   max(s.First, 1),
	}
	if s.Timeout != nil {
		p.Timeout = *s.Timeout
	}
	maps.Copy(p.Vars, t.Vars)
	maps.Copy(p.Vars, s.Vars)
	x := &expander{data: startData{Vars: p.Vars, Workdir: s.Workdir, Date: date{s.Now}, Env: environment(s.Env)}}
	if dir := x.expand("workdir", t.Workdir); dir != "" {
		p.Workdir = absolute(s.Workdir, dir)
	}
	x.data.Workdir = p.Workdir
	if err := p.environment(t, x); err != nil {
		return nil, err
	}
	p.Session = x.expand("session", t.Session)
	p.lines = t.Lines
	p.lines.Commands = append(append(append(config.Lines{}, s.Prepend...), t.Commands...), s.Append...)
	for _, b := range p.lines.Blocks() {
		*b.Lines = x.expandAll(b.Key, *b.Lines, expandLine)
	}
	if f := t.Foreach; f != nil {
		p.foreach = &Foreach{
			Items: x.expandAll("foreach.items", f.Items, expandStart),
			Files: x.expand("foreach.files", f.Files), Shell: x.expand("foreach.shell", f.Shell),
		}
	}
	if x.err != nil {
		return nil, x.err
	}
	if n := len(p.lines.Commands); p.foreach == nil && n > 0 && p.first > n {
		return nil, fmt.Errorf("cannot start with command %d: there are %d", p.first, n)
	}
	return p, nil
}

// environment collects the variables of the task. They can refer to those around it;
// what is expanded later sees them too.
func (p *Plan) environment(t *Task, x *expander) error {
	own := map[string]string{}
	for name, value := range t.Env {
		own[name] = x.expand("env."+name, value)
	}
	for i, file := range t.EnvFile {
		path := absolute(p.Workdir, x.expand(fmt.Sprintf("env_file[%d]", i), file))
		if x.err != nil {
			break
		}
		values, err := config.LoadEnvFile(path, true)
		if err != nil {
			return fmt.Errorf("env_file: %w", err)
		}
		maps.Copy(p.Env, values)
	}
	maps.Copy(p.Env, own)
	maps.Copy(x.data.Env, p.Env)
	return x.err
}

// Empty reports whether the plan has nothing to do.
func (p *Plan) Empty() bool { return len(p.lines.Commands) == 0 }

// Lines are the lines of the plan; $[[ ]] in them is expanded when they run.
func (p *Plan) Lines() Lines { return p.lines }

// expander expands texts and remembers the first mistake.
type expander struct {
	data startData
	err  error
}

func (x *expander) expand(key, text string) string {
	out, err := expandStart(text, x.data)
	x.keep(key, err)
	return out
}

func (x *expander) expandAll(key string, texts []string, how func(string, startData) (string, error)) config.Lines {
	var out config.Lines
	for i, text := range texts {
		expanded, err := how(text, x.data)
		x.keep(fmt.Sprintf("%s[%d]", key, i), err)
		out = append(out, expanded)
	}
	return out
}

func (x *expander) keep(key string, err error) {
	if err != nil && x.err == nil {
		x.err = fmt.Errorf("%s: %w", key, err)
	}
}

func environment(list []string) map[string]string {
	out := make(map[string]string, len(list))
	for _, kv := range list {
		if name, value, ok := strings.Cut(kv, "="); ok {
			out[name] = value
		}
	}
	return out
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
