package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/pyext"
)

func newExtensions(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "extensions",
		Short: "List, inspect and begin Python extensions",
		Long: `Python extensions are files and packages in .agent/extensions, in
~/.aar/extensions, and installed packages; see docs/extensions.md.`,
		Args: arguments(noSubcommand),
		RunE: func(*cobra.Command, []string) error { return listExtensions(e, asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		newExtensionsList(e, &asJSON),
		newExtensionsInspect(e, &asJSON),
		newExtensionsNew(e),
	)
	return cmd
}

// activeNames are the names of the extensions that run.
func activeNames(list []pyext.Extension) (names []string) {
	for _, x := range pyext.Active(list) {
		names = append(names, x.Name)
	}
	return names
}

// completeExtensions offers the names of extensions to the shell.
func completeExtensions(f *rootFlags) cobra.CompletionFunc {
	return offerAll(func(context.Context) ([]string, error) {
		p, err := findPython(f.options())
		return activeNames(p.Found), err
	})
}

// findPython looks for the Python extensions that a session would have, and what runs them.
func findPython(o app.Options) (pyext.Source, error) {
	w, err := app.Read(o)
	if err != nil {
		return pyext.Source{}, err
	}
	return w.Python()
}
