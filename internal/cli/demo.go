package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/demo"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/pyext"
)

func newDemo(e *env) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See aura work in a temporary project, without key or network",
		Long: `Lets a scripted model fix a bug in a small temporary project. Everything but the
model is real: the loop, the tools, the files, the shell, and those who step in. Of
two shell hooks, one refuses a call and one tidies up after another; a Go plugin
does not let the model stop too early; where there is a Python, an extension counts
along. The dim lines show the moments of the lifecycle at which they can do so.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return demonstrate(cmd.Context(), e, keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the project afterwards")
	return cmd
}

func demonstrate(ctx context.Context, e *env, keep bool) (err error) {
	ctx, stop := e.interruptible(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "aura-demo-")
	if err != nil {
		return err
	}
	if keep {
		defer fmt.Fprintf(e.err, "the project is in %s\n", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	_, noPython := pyext.FindInterpreter(dir, "", os.Getenv)
	home := filepath.Join(dir, config.Dir)
	if err := demo.Write(dir, home, noPython == nil); err != nil {
		return err
	}
	printer := plain.NewPrinter(plain.PrinterOptions{Out: e.out, Err: e.err, Verbose: true})
	none := ""
	a, err := app.Open(ctx, app.Options{
		Homes: config.HomeOptions{Home: &none, Config: []string{home}, Workdir: dir},
		Watch: demo.Narrate(printer.Note),
	}, app.Face{Observe: printer.Observe, Print: printer.Print})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.err, "> %s\n", demo.Prompt)
	if err = a.Start(ctx, ""); err == nil {
		err = a.Submit(ctx, demo.Prompt)
	}
	err = errors.Join(err, a.Close("exit"), printer.Finish(plain.Outcome{}))
	if err == nil {
		stats := a.Agent().Snapshot().Stats
		fmt.Fprintf(
			e.err,
			"\n%d model calls, %d tool calls, %d of them failed on purpose. Next: aura init, or aura --help.\n",
			stats.Iterations,
			stats.ToolCalls,
			stats.ToolErrors,
		)
	}
	return err
}
