package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plain"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/sdk"
)

//go:embed demo
var demoFiles embed.FS

// demoPrompt is what the demonstration asks.
const demoPrompt = "The test in test.sh fails. Find out why and fix it."

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
		RunE: func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), e, keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the project afterwards")
	return cmd
}

func demo(ctx context.Context, e *env, keep bool) (err error) {
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
	home, err := writeDemo(dir)
	if err != nil {
		return err
	}
	printer := plain.NewPrinter(plain.PrinterOptions{Out: e.out, Err: e.err, Verbose: true})
	none := ""
	a, err := app.Open(ctx, app.Options{
		Homes: config.HomeOptions{Home: &none, Config: []string{home}, Workdir: dir},
		Watch: narrate(printer.Note),
	}, app.Face{Observe: printer.Observe, Print: printer.Print})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.err, "> %s\n", demoPrompt)
	if err = a.Start(ctx, ""); err == nil {
		err = a.Submit(ctx, demoPrompt)
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

// writeDemo writes the project and its configuration.
func writeDemo(dir string) (home string, err error) {
	home = filepath.Join(dir, config.Dir)
	files := map[string]string{
		"demo/greet.sh":      filepath.Join(dir, "greet.sh"),
		"demo/test.sh":       filepath.Join(dir, "test.sh"),
		"demo/script.yaml":   filepath.Join(home, "script.yaml"),
		"demo/hooks.yaml":    filepath.Join(home, "config", "hooks", "demo.yaml"),
		"demo/tested.go.txt": filepath.Join(home, "plugins", "tested", "main.go"),
	}
	if _, err := pyext.FindInterpreter(dir, "", os.Getenv); err == nil {
		files["demo/tally.py"] = filepath.Join(dir, ".agent", "extensions", "tally.py")
	}
	texts := map[string][]byte{
		filepath.Join(home, "config", "providers", "demo.yaml"): []byte(
			"demo: {type: script, script: ../../script.yaml}\n",
		),
		// A directory with a go.mod cannot be embedded.
		filepath.Join(home, "plugins", "tested", "go.mod"): []byte(
			"module tested\n\ngo 1.25\n\nrequire github.com/idelchi/aura/sdk v0.0.0\n",
		),
		filepath.Join(home, "plugins", "tested", "plugin.yaml"): []byte("description: What was changed is tested\n"),
	}
	for from, to := range files {
		if texts[to], err = demoFiles.ReadFile(from); err != nil {
			return "", err
		}
	}
	for file, text := range texts {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return "", err
		}
	}
	return home, nil
}

// narrate shows every moment of the lifecycle as it passes.
func narrate(note func(string)) []lifecycle.Binding {
	var list []lifecycle.Binding
	for _, row := range lifecycle.Moments() {
		if row.Moment == lifecycle.StreamChunk || row.Moment == lifecycle.TransformMessages {
			continue // Too many to read.
		}
		list = append(list, lifecycle.Binding{
			Source: lifecycle.Source{Kind: lifecycle.Guard, Name: "demo"}, Moment: row.Moment,
			Handler: lifecycle.HandlerFunc(func(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				detail := ""
				switch d := ev.Data.(type) {
				case *sdk.BeforeToolContext:
					detail = " " + d.ToolName
				case *sdk.AfterToolContext:
					detail = " " + d.ToolName
				}
				note("  · " + string(ev.Moment) + detail)
				return lifecycle.Reply{}, nil
			}),
		})
	}
	return list
}
