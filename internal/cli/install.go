package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/internal/terminal"
)

func newInstall(e *env) *cobra.Command {
	var venv bool
	cmd := &cobra.Command{
		Use:   "install NAME|PATH...",
		Short: "Install packages with Python extensions",
		Long: `Installs packages with pip into the interpreter that runs extensions: that of the
active virtual environment, of .venv, or python3. A package that declares no
extension is installed all the same, with a warning.`,
		Example: `  aura install aar-ext-permission-gate
  aura install ./my-extension/
  aura install --venv aar-ext-permission-gate   make .venv first, if there is none`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return install(cmd.Context(), e, args, venv) },
	}
	cmd.Flags().BoolVar(&venv, "venv", false, "install into .venv, which is made if it does not exist")
	return cmd
}

func install(ctx context.Context, e *env, targets []string, venv bool) error {
	p, err := findPython(e.flags.options())
	if err != nil {
		return err
	}
	if p.Err != nil {
		return p.Err
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	in := &pyext.Installer{
		Interpreter: p.Interpreter,
		Cache:       p.Cache,
		Workdir:     p.Workdir,
		Env:         p.Env,
		Out:         e.err,
		Err:         e.err,
	}
	if dir := venvDir(&p); venv && p.Interpreter.Venv != dir {
		if err := in.MakeVenv(ctx, dir); err != nil {
			return err
		}
	}
	got, err := in.Install(ctx, targets)
	if errors.Is(err, pyext.ErrManaged) {
		got, err = installIntoVenv(ctx, e, &p, in, targets)
	}
	if errors.Is(err, pyext.ErrNoPip) {
		return fmt.Errorf(
			"%w (aura install --venv makes a virtual environment that has one, or run `%s -m ensurepip`)",
			err,
			p.Interpreter.Path,
		)
	}
	if err != nil {
		return err
	}
	for _, x := range got.Extensions {
		fmt.Fprintf(e.out, "extension %s (%s)\n", x.Name, x.EntryPoint)
	}
	for _, name := range got.Plain {
		fmt.Fprintf(
			e.err,
			"\nWARNING: %s declares no entry point in the group %q.\n"+
				"WARNING: It is installed, but it is not an extension and will do nothing here.\n\n",
			name,
			pyext.Group,
		)
	}
	return nil
}

// venvDir is the virtual environment that --venv makes.
func venvDir(p *pyext.Source) string { return filepath.Join(p.Workdir, ".venv") }

// installIntoVenv installs into a new virtual environment instead of an interpreter that
// the operating system manages, if the user agrees.
func installIntoVenv(
	ctx context.Context,
	e *env,
	p *pyext.Source,
	in *pyext.Installer,
	targets []string,
) (pyext.Installed, error) {
	managed := p.Interpreter.Path + " is managed by the operating system"
	if !confirm(e, managed+". Make a virtual environment in .venv and install there? [Y/n] ") {
		return pyext.Installed{}, fmt.Errorf(
			"%s: nothing can be installed into it (aura install --venv %s makes a virtual environment in .venv and "+
				"installs there)",
			managed,
			strings.Join(targets, " "),
		)
	}
	if err := in.MakeVenv(ctx, venvDir(p)); err != nil {
		return pyext.Installed{}, err
	}
	return in.Install(ctx, targets)
}

// confirm asks a question that Enter answers with yes. If there is no terminal to ask at,
// the answer is no.
func confirm(e *env, question string) bool {
	if !terminal.Is(e.in) || !terminal.Is(e.err) {
		return false
	}
	fmt.Fprint(e.err, question)
	var answer string
	if _, err := fmt.Fscanln(e.in, &answer); err != nil && answer != "" {
		return false
	}
	answer = strings.ToLower(answer)
	return answer == "" || answer == "y" || answer == "yes"
}
