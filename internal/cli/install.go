package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
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
		RunE: func(cmd *cobra.Command, args []string) error { return e.install(cmd.Context(), args, venv) },
	}
	cmd.Flags().BoolVar(&venv, "venv", false, "install into .venv, which is made if it does not exist")
	return cmd
}

func (e *env) install(ctx context.Context, targets []string, venv bool) error {
	p, err := app.FindPython(e.flags.options())
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
	dir := filepath.Join(p.Workdir, ".venv")
	if venv && p.Interpreter.Venv != dir {
		if err := in.MakeVenv(ctx, dir); err != nil {
			return err
		}
	}
	got, err := in.Install(ctx, targets)
	if errors.Is(err, pyext.ErrManaged) {
		if !e.confirm(
			fmt.Sprintf(
				"%s is managed by the operating system. Make a virtual environment in .venv and install there? [Y/n] ",
				p.Interpreter.Path,
			),
		) {
			return fmt.Errorf(
				"%s is managed by the operating system: nothing can be installed into it (aura install --venv "+
					"%s makes a virtual environment in .venv and installs there)",
				p.Interpreter.Path,
				strings.Join(targets, " "),
			)
		}
		if err := in.MakeVenv(ctx, dir); err != nil {
			return err
		}
		got, err = in.Install(ctx, targets)
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

// confirm asks a question that Enter answers with yes. Where nobody can be asked
// the answer is no.
func (e *env) confirm(question string) bool {
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

// programName is the name under which the program was called: aura, or aar, as
// which it also answers.
func programName(args []string) string {
	if len(args) > 0 && strings.EqualFold(strings.TrimSuffix(filepath.Base(args[0]), ".exe"), "aar") {
		return "aar"
	}
	return "aura"
}

// newChat is the conversation by name.
func newChat(e *env, hidden bool) *cobra.Command {
	return &cobra.Command{
		Use:    "chat",
		Short:  "Hold a conversation, as without a subcommand",
		Hidden: hidden,
		Args:   arguments(cobra.NoArgs),
		RunE:   func(cmd *cobra.Command, _ []string) error { return e.chat(cmd.Context()) },
	}
}
