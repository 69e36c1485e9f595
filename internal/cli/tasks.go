package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/tasks"
)

func newTasks(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List, run and schedule tasks",
		Long: `Tasks are prompts, slash commands and shell lines in .aura/config/tasks/*.yaml that
run without anybody: now and then by "aura tasks run", or on their schedules by
"aura tasks serve".`,
		Args: arguments(noSubcommand),
		RunE: func(*cobra.Command, []string) error { return listTasks(e, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		newTasksList(e),
		newTasksShow(e),
		newTasksRun(e),
		newTasksServe(e),
	)
	return cmd
}

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

// runOptions is what the flags say about a run that begins now.
func (f *taskFlags) runOptions() tasks.Start {
	s := tasks.Start{Now: time.Now(), Prepend: f.prepend, Append: f.append, First: f.start}
	if f.timeoutSet {
		s.Timeout = &f.timeout
	}
	return s
}

// completeTasks offers the names of tasks to the shell.
func completeTasks(f *rootFlags) cobra.CompletionFunc {
	return offerAll(func(context.Context) ([]string, error) {
		list, err := loadTasks(f.options())
		names := make([]string, len(list))
		for i, t := range list {
			names[i] = t.Name
		}
		return names, err
	})
}

// chooseTasks picks the named tasks, or those that are not disabled without names. None
// is an error.
func chooseTasks(all []tasks.Task, names []string) ([]tasks.Task, error) {
	list, err := tasks.Choose(all, names)
	if err == nil && len(list) == 0 {
		err = errors.New("no task to run (write one into .aura/config/tasks)")
		if len(all) > 0 {
			err = errors.New("no task to run: all are disabled or have no commands")
		}
	}
	return list, err
}

// printLines prints the lines of a task by their keys.
func printLines(out io.Writer, l *tasks.Lines) {
	for _, b := range l.Blocks() {
		if len(*b.Lines) == 0 {
			continue
		}
		fmt.Fprintf(out, "%s:\n", b.Key)
		for i, line := range *b.Lines {
			fmt.Fprintf(out, "  %d. %s\n", i+1, strings.ReplaceAll(strings.TrimSpace(line), "\n", "\n     "))
		}
	}
}
