package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/doctor"
	"github.com/idelchi/aura/internal/terminal"
)

func newDoctor(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong, and say how to mend it",
		Long: `Looks at everything a session is made of: configuration files, agents, providers,
tasks, hooks, plugins, extensions, skills, MCP servers, the sandbox, the programs
they need, and where sessions are saved. Plugins and extensions are loaded for it,
MCP servers are started, and the provider of the agent is asked for its models; no
model is called. The flags count as they do for a session.

Each line says ok, warn or fail. The exit code is 1 if anything fails.`,
		Example: `  aura doctor
  aura doctor --agent review
  aura doctor --json | jq '.[] | select(.level != "ok")'`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), e, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examine reports what is wrong; if anything fails, the exit code is 1.
func examine(ctx context.Context, e *env, asJSON bool) error {
	ctx, stop := e.interruptible(ctx)
	defer stop()
	o := e.flags.options()
	list, err := doctor.Examine(ctx, doctor.Options{
		Homes: o.Homes, Terminal: e.out, Bare: o.BareKinds(),
		Read: func() (doctor.Place, error) { return app.Read(o) },
		Tasks: func() (int, error) {
			list, err := loadTasks(o)
			return len(list), err
		},
	})
	if err != nil {
		return err
	}
	failed, warned := 0, 0
	for _, f := range list {
		switch f.Level {
		case doctor.Fail:
			failed++
		case doctor.Warn:
			warned++
		}
	}
	if asJSON {
		if err := e.printJSON(list); err != nil {
			return err
		}
	} else {
		printFindings(e.out, list)
		fmt.Fprintf(e.err, "%d looked at: %d failed, %d to think about\n", len(list), failed, warned)
	}
	if failed > 0 {
		return codeError(exitError)
	}
	return nil
}

func printFindings(out *os.File, list []doctor.Finding) {
	colors := map[doctor.Level]string{doctor.OK: "32", doctor.Warn: "33", doctor.Fail: "31"}
	color := terminal.Color(out, os.Getenv)
	for _, f := range list {
		line := f.String()
		if n := len(f.Level); color {
			line = "\x1b[" + colors[f.Level] + "m" + line[:n] + "\x1b[0m" + line[n:]
		}
		fmt.Fprintln(out, line)
	}
}
