// Package tasks is work that is written down in YAML and done without a user:
// prompts, slash commands and shell lines with a setting of their own, run when asked
// for or on a schedule. It holds no conversation itself: sessions come from whoever
// runs a task.
package tasks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/schedule"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/wording"
)

// DefaultTimeout is how long a task may take where its file does not say.
const DefaultTimeout = 5 * time.Minute

// Task is a task as its file says it. The zero value of every key is its default,
// except where a comment says otherwise.
type Task struct {
	Name     string            `yaml:"-"` // Key in the file. Compared without regard to case.
	Source   config.Source     `yaml:"-"`
	Schedule schedule.Schedule `yaml:"-"`

	Description string   `yaml:"description"`
	Inherit     []string `yaml:"inherit"`  // Tasks whose keys apply where this one writes none.
	Disabled    bool     `yaml:"disabled"` // Never runs. Not inherited.
	Timing      any      `yaml:"schedule"` // What Schedule is made of.

	Setting `yaml:",inline"`
	Lines   `yaml:",inline"`
	Foreach *Foreach `yaml:"foreach"` // Repeats Commands; nil runs them once.
}

// Setting is what holds around the lines of a task.
type Setting struct {
	Agent   string `yaml:"agent"`   // Empty: the default one.
	Mode    string `yaml:"mode"`    // Empty: the agent's; "none": no mode.
	Workdir string `yaml:"workdir"` // Empty: that of the program. Template.
	// Name of the session to continue; it is made if there is none. Template.
	Session  string            `yaml:"session"`
	Env      map[string]string `yaml:"env"`      // Wins over EnvFile. Templates.
	EnvFile  config.Lines      `yaml:"env_file"` // Later ones win; all must exist. Templates.
	Vars     map[string]string `yaml:"vars"`     // For templates.
	Tools    config.Filter     `yaml:"tools"`
	Features config.Layers     `yaml:"features"`
	// Of a run, finally apart; DefaultTimeout if it is not written, 0 is no limit.
	Timeout time.Duration `yaml:"timeout"`
}

// Lines are what a task does. A line that begins with "!" is for the shell, one that
// begins with "/" a slash command, every other one a prompt. All are templates.
type Lines struct {
	Pre      config.Lines `yaml:"pre"`      // Before Commands; a failure ends the task.
	Commands config.Lines `yaml:"commands"` // The first failure ends the task.
	Post     config.Lines `yaml:"post"`     // After Commands that went well.
	Finally  config.Lines `yaml:"finally"`  // Whatever happened.
	// After a prompt that used up its model calls, which then is no failure.
	OnMaxSteps config.Lines `yaml:"on_max_steps"`
}

// Foreach says for what Commands are repeated; exactly one field is set.
type Foreach struct {
	Items config.Lines `yaml:"items"` // Templates.
	Files string       `yaml:"files"` // Glob, from the working directory. Template.
	Shell string       `yaml:"shell"` // Each line that it prints. Template.
}

// Load reads the tasks of a configuration, sorted by name. All mistakes are reported
// together as config.Errors.
func Load(c *config.Config) ([]Task, error) {
	list, err := config.LoadDefinitions[Task](c, "task")
	for i := range list {
		list[i].Schedule, _ = schedule.Parse(list[i].Timing) // Checked by Check.
	}
	return list, err
}

// Find returns the task of that name.
func Find(list []Task, name string) (Task, error) {
	names := make([]string, len(list))
	for i, t := range list {
		if strings.EqualFold(t.Name, name) {
			return t, nil
		}
		names[i] = t.Name
	}
	hint := wording.Hint(name, "tasks", names)
	if len(names) == 0 {
		hint = " (there are none: write one into .aura/config/tasks)"
	}
	return Task{}, fmt.Errorf("no task %q%s", name, hint)
}

// Parents implements config.Definition.
func (t *Task) Parents() []string { return t.Inherit }

// Adopt implements config.Definition.
func (t *Task) Adopt(name string, source config.Source) {
	if t.Name == "" {
		t.Timeout = DefaultTimeout
	}
	t.Name, t.Source, t.Inherit, t.Disabled = name, source, nil, false
}

// Check implements config.Definition.
func (t *Task) Check(report config.Report) {
	for _, b := range t.Blocks() {
		for i, line := range *b.Lines {
			if err := checkLine(line); err != nil {
				report(fmt.Sprintf("%s[%d]", b.Key, i), "%v", err)
			}
		}
	}
	for name, value := range t.Env {
		if !variableName(name) {
			report("env."+name, "bad variable name (letters, digits and _ only)")
		}
		checkText(report, "env."+name, value)
	}
	for i, file := range t.EnvFile {
		checkText(report, fmt.Sprintf("env_file[%d]", i), file)
	}
	checkText(report, "workdir", t.Workdir)
	checkText(report, "session", t.Session)
	if t.Foreach != nil {
		t.Foreach.check(report)
	}
	if _, err := schedule.Parse(t.Timing); err != nil {
		report("schedule", "%v", err)
	}
}

// Block is one list of lines with its key.
type Block struct {
	Key   string
	Lines *config.Lines
}

// Blocks are the lines by key, in the order in which they run.
func (l *Lines) Blocks() []Block {
	return []Block{
		{"pre", &l.Pre},
		{"commands", &l.Commands},
		{"on_max_steps", &l.OnMaxSteps},
		{"post", &l.Post},
		{"finally", &l.Finally},
	}
}

func (f *Foreach) check(report config.Report) {
	set := 0
	for _, is := range []bool{f.Items != nil, f.Files != "", f.Shell != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		report("foreach", "needs exactly one of items, files, shell")
	}
	for i, item := range f.Items {
		checkText(report, fmt.Sprintf("foreach.items[%d]", i), item)
	}
	checkText(report, "foreach.files", f.Files)
	if !strings.Contains(f.Files, "{{") && !doublestar.ValidatePattern(f.Files) {
		report("foreach.files", "%q is not a valid glob", f.Files)
	}
	checkText(report, "foreach.shell", f.Shell)
	if err := checkScript(f.Shell); err != nil {
		report("foreach.shell", "%v", err)
	}
}

// checkLine finds mistakes in a line of a task.
func checkLine(line string) error {
	if err := errors.Join(checkStart(line), checkStep(line)); err != nil {
		return err
	}
	script, ok := strings.CutPrefix(line, "!")
	switch {
	case !ok:
		return nil
	case strings.TrimSpace(script) == "":
		return errors.New("no shell command after the !")
	}
	return checkScript(script)
}

// checkScript finds mistakes in a shell script, unless a template decides about it.
func checkScript(script string) error {
	if strings.Contains(script, "{{") || strings.Contains(script, openStep) {
		return nil
	}
	return sh.Parse(script)
}

// checkText finds mistakes in a text that is expanded when the task starts.
func checkText(report config.Report, key, text string) {
	if err := checkStart(text); err != nil {
		report(key, "%v", err)
	}
	if strings.Contains(text, openStep) {
		report(key, "%s ]] is expanded before each command, not here (write {{ }})", openStep)
	}
}

func variableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// Empty reports whether the task has nothing to do.
func (t *Task) Empty() bool { return len(t.Commands) == 0 }

// Choose returns the named tasks, each once, in the order of the names; without names
// all that are not disabled and have something to do. A disabled task cannot be chosen.
func Choose(list []Task, names []string) ([]Task, error) {
	var out []Task
	if len(names) == 0 {
		for _, t := range list {
			if !t.Disabled && !t.Empty() {
				out = append(out, t)
			}
		}
		return out, nil
	}
	var errs []error
	for _, name := range names {
		t, err := Find(list, name)
		if err == nil && t.Disabled {
			err = fmt.Errorf("task %q is disabled (%s:%d)", t.Name, t.Source.File, t.Source.Line)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !slices.ContainsFunc(out, func(x Task) bool { return x.Name == t.Name }) {
			out = append(out, t)
		}
	}
	return out, errors.Join(errs...)
}

// Still is Choose for names that were chosen before: those that are gone or disabled
// by now are left out.
func Still(list []Task, names []string) []Task {
	var left []string
	for _, name := range names {
		if t, err := Find(list, name); err == nil && !t.Disabled {
			left = append(left, name)
		}
	}
	if len(names) > 0 && len(left) == 0 {
		return nil
	}
	out, _ := Choose(list, left)
	return out
}
