package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/tasks"
)

// taskFlags are the flags of `aura tasks run` and `aura tasks serve`.
type taskFlags struct {
	now         bool
	concurrency int
	timeout     time.Duration
	prepend     []string
	append      []string
	start       int
	output      string

	timeoutSet bool
}

func newTasks(e *env) *cobra.Command {
	var asJSON bool
	list := func(*cobra.Command, []string) error { return e.listTasks(asJSON) }
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List, run and schedule tasks",
		Long: `Tasks are prompts, slash commands and shell lines in .aura/config/tasks/*.yaml that
run without anybody: now and then by "aura tasks run", or on their schedules by
"aura tasks serve".`,
		Args: arguments(noSubcommand),
		RunE: list,
	}
	look := []*cobra.Command{
		{Use: "list", Short: "List the tasks and when they run next", Args: arguments(cobra.NoArgs), RunE: list},
		{
			Use: "show NAME", Short: "Show a task with everything it inherits", Args: arguments(cobra.ExactArgs(1)),
			RunE:              func(_ *cobra.Command, args []string) error { return e.showTask(args[0], asJSON) },
			ValidArgsFunction: e.completeTasks,
		},
	}
	for _, c := range append(look, cmd) {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(append(look, newTasksRun(e), newTasksServe(e))...)
	return cmd
}

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
			return e.runTasks(cmd.Context(), f, args)
		},
		ValidArgsFunction: e.completeTasks,
	}
	cmd.Flags().BoolVar(&f.now, "now", false, "do not wait for schedules")
	cmd.Flags().
		StringArrayVar(&f.prepend, "prepend", nil, "run this line before the commands of each task (repeatable)")
	cmd.Flags().StringArrayVar(&f.append, "append", nil, "run this line after the commands of each task (repeatable)")
	cmd.Flags().IntVar(&f.start, "start", 1, "begin with this item of foreach or, without foreach, with this command")
	f.register(cmd, 1)
	return cmd
}

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
			return e.serveTasks(cmd.Context(), f, args)
		},
		ValidArgsFunction: e.completeTasks,
	}
	f.register(cmd, 4)
	return cmd
}

// register declares the flags that run and serve share.
func (f *taskFlags) register(cmd *cobra.Command, concurrency int) {
	cmd.Flags().IntVar(&f.concurrency, "concurrency", concurrency, "most tasks at the same time")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "longest run of each task, instead of its own; 0 for no limit")
	cmd.Flags().StringVar(&f.output, "output", "text", "text or json")
	_ = cmd.RegisterFlagCompletionFunc(
		"output",
		cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp),
	)
}

// check finds mistakes in the flags.
func (f *taskFlags) check(root *rootFlags) error {
	var errs []error
	if f.output != "text" && f.output != "json" {
		errs = append(errs, fmt.Errorf("--output: %q is not one of text, json", f.output))
	}
	if f.concurrency < 1 {
		errs = append(errs, fmt.Errorf("--concurrency: %d is less than 1", f.concurrency))
	}
	if f.start < 0 {
		errs = append(errs, fmt.Errorf("--start: %d is negative", f.start))
	}
	if f.timeout < 0 {
		errs = append(errs, fmt.Errorf("--timeout: %s is negative", f.timeout))
	}
	if root.resume != "" || root.latest {
		errs = append(
			errs,
			errors.New("--resume and --continue are not for tasks (a task names its session with the key session)"),
		)
	}
	for _, list := range [][]string{f.prepend, f.append} {
		for _, line := range list {
			if strings.TrimSpace(line) == "" {
				errs = append(errs, errors.New("--prepend, --append: the line is empty"))
			}
		}
	}
	if len(errs) > 0 {
		return &usageError{errors.Join(errs...)}
	}
	return nil
}

func (e *env) completeTasks(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	list, err := app.LoadTasks(e.flags.options())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// taskJSON is a task for scripts.
type taskJSON struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	File        string            `json:"file"`
	Disabled    bool              `json:"disabled"`
	Schedule    string            `json:"schedule"`
	Next        *time.Time        `json:"next"`
	Agent       string            `json:"agent,omitempty"`
	Mode        string            `json:"mode,omitempty"`
	Timeout     string            `json:"timeout"`
	Workdir     string            `json:"workdir,omitempty"`
	Session     string            `json:"session,omitempty"`
	Env         []string          `json:"env"` // Names only: values may be secret.
	Vars        map[string]string `json:"vars,omitempty"`
	Foreach     string            `json:"foreach,omitempty"`
	Lines       map[string]any    `json:"lines"`
}

func describeTask(t tasks.Task, now time.Time) taskJSON {
	out := taskJSON{
		Name:        t.Name,
		Description: t.Description,
		File:        fmt.Sprintf("%s:%d", t.Source.File, t.Source.Line),
		Disabled:    t.Disabled,
		Schedule:    t.Schedule.String(),
		Agent:       t.Agent,
		Mode:        t.Mode,
		Timeout:     t.Timeout.String(),
		Workdir:     t.Workdir,
		Session:     t.Session,
		Env:         append([]string{}, slices.Sorted(maps.Keys(t.Env))...),
		Vars:        t.Vars,
		Lines:       map[string]any{},
	}
	if next, err := t.Schedule.Next(now); err == nil && !t.Schedule.IsZero() && !t.Disabled {
		out.Next = &next
	}
	if f := t.Foreach; f != nil {
		switch {
		case f.Files != "":
			out.Foreach = "files: " + f.Files
		case f.Shell != "":
			out.Foreach = "shell: " + f.Shell
		default:
			out.Foreach = "items: " + strings.Join(f.Items, ", ")
		}
	}
	for _, b := range t.Blocks() {
		if len(*b.Lines) > 0 {
			out.Lines[b.Key] = *b.Lines
		}
	}
	return out
}

func (e *env) listTasks(asJSON bool) error {
	list, err := app.LoadTasks(e.flags.options())
	if err != nil {
		return err
	}
	now := time.Now()
	all := make([]taskJSON, len(list))
	for i, t := range list {
		all[i] = describeTask(t, now)
	}
	switch {
	case asJSON:
		return e.printJSON(all)
	case len(all) == 0:
		fmt.Fprintln(e.err, "no tasks yet (write one into .aura/config/tasks)")
		return nil
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSCHEDULE\tNEXT\tDESCRIPTION")
	for i, t := range all {
		next, when := "-", cmp.Or(t.Schedule, "-")
		switch {
		case t.Disabled:
			next = "disabled"
		case t.Next != nil:
			next = t.Next.Format("2006-01-02 15:04")
		case list[i].Empty():
			next = "nothing to do"
		case t.Schedule != "":
			next = "passed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, when, next, strings.Join(strings.Fields(t.Description), " "))
	}
	return w.Flush()
}

func (e *env) showTask(name string, asJSON bool) error {
	list, err := app.LoadTasks(e.flags.options())
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
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"description", d.Description}, {"schedule", d.Schedule}, {"next", next}, {"agent", d.Agent}, {"mode", d.Mode}, {"timeout", d.Timeout},
		{"workdir", d.Workdir}, {"session", d.Session}, {"env", strings.Join(d.Env, ", ")}, {"env_file", strings.Join(t.EnvFile, ", ")},
		{"vars", strings.Join(vars, ", ")}, {"tools", strings.Join(t.Tools.Enabled, ", ")}, {"not tools", strings.Join(t.Tools.Disabled, ", ")}, {"foreach", d.Foreach},
	} {
		if row[1] != "" {
			fmt.Fprintf(w, "  %s\t%s\n", row[0], row[1])
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	e.printLines(&t.Lines)
	if t.Empty() {
		fmt.Fprintln(e.out, "nothing to do: it has no commands")
	}
	return nil
}

// printLines prints the lines of a task by their keys.
func (e *env) printLines(l *tasks.Lines) {
	for _, b := range l.Blocks() {
		if len(*b.Lines) == 0 {
			continue
		}
		fmt.Fprintf(e.out, "%s:\n", b.Key)
		for i, line := range *b.Lines {
			fmt.Fprintf(e.out, "  %d. %s\n", i+1, strings.ReplaceAll(strings.TrimSpace(line), "\n", "\n     "))
		}
	}
}

// runTasks runs tasks, as many side by side as the flags say.
func (e *env) runTasks(ctx context.Context, f taskFlags, names []string) error {
	if err := f.check(&e.flags); err != nil {
		return err
	}
	list, err := e.chooseTasks(names)
	if err != nil {
		return err
	}
	if f.start > 1 && len(list) != 1 {
		return &usageError{fmt.Errorf("--start: it is for one task, not for %d", len(list))}
	}
	if e.flags.dry == "render" {
		return e.renderTasks(f, list)
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	b := e.newBoard(f)
	ready := b.queue(ctx, list)
	b.work(ctx, ready, min(f.concurrency, len(list)))
	if err := b.finish(list); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case b.failed > 0:
		return codeError(exitError)
	}
	return nil
}

// chooseTasks finds the tasks that are named.
func (e *env) chooseTasks(names []string) ([]tasks.Task, error) {
	all, err := app.LoadTasks(e.flags.options())
	if err != nil {
		return nil, err
	}
	return chooseAmong(all, names)
}

func chooseAmong(all []tasks.Task, names []string) ([]tasks.Task, error) {
	list, err := tasks.Choose(all, names)
	if err == nil && len(list) == 0 {
		err = errors.New("no task to run (write one into .aura/config/tasks)")
		if len(all) > 0 {
			err = errors.New("no task to run: all are disabled or have no commands")
		}
	}
	return list, err
}

// renderTasks prints what tasks would do.
func (e *env) renderTasks(f taskFlags, list []tasks.Task) error {
	for _, t := range list {
		plan, err := app.PlanTask(e.flags.options(), &t, f.begin())
		if err != nil {
			return fmt.Errorf("task %s: %w", t.Name, err)
		}
		lines := plan.Lines()
		fmt.Fprintln(e.out, t.Name)
		e.printLines(&lines)
	}
	return nil
}

// begin is what the flags say about a run.
func (f *taskFlags) begin() tasks.Start {
	s := tasks.Start{Now: time.Now(), Prepend: f.prepend, Append: f.append, First: f.start}
	if f.timeoutSet {
		s.Timeout = &f.timeout
	}
	return s
}

// serveTasks runs tasks on their schedules.
func (e *env) serveTasks(ctx context.Context, f taskFlags, names []string) error {
	if err := f.check(&e.flags); err != nil {
		return err
	}
	files := app.TaskFiles(e.flags.options())
	all, err := files.Read()
	if err != nil {
		return err
	}
	list, err := chooseAmong(all, names)
	if err != nil {
		return err
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	b := e.newBoard(f)
	b.serving = true
	if err := b.announce(list); err != nil {
		return err
	}
	slots := make(chan struct{}, f.concurrency)
	err = tasks.Serve(ctx, list, tasks.Service{
		Run: func(ctx context.Context, t tasks.Task) {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				b.run(ctx, t)
			case <-ctx.Done():
			}
		},
		Skip:    func(t tasks.Task, err error) { b.say(t.Name, "does not run: "+err.Error()) },
		Look:    b.look(files, names),
		Changed: b.changed,
	})
	b.line("tasks: stopped")
	return errors.Join(err, b.finish(nil))
}
