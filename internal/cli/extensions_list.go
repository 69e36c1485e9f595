package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/pyext"
)

func newExtensionsList(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List extensions, where they are from and which of them run",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return listExtensions(e, *asJSON) },
	}
}

func listExtensions(e *env, asJSON bool) error {
	p, err := findPython(e.flags.options())
	if err != nil {
		return err
	}
	if asJSON {
		if p.Found == nil {
			p.Found = []pyext.Extension{}
		}
		return e.printJSON(p.Found)
	}
	if len(p.Found) == 0 {
		fmt.Fprintln(e.err, "no extensions yet (aura extensions new NAME begins one)")
		return nil
	}
	w := newTable(e.out)
	fmt.Fprintln(w, "NAME\tSOURCE\tPATH")
	for _, x := range p.Found {
		path := x.Path
		if x.EntryPoint != "" {
			path += " (" + x.EntryPoint + ")"
		}
		if x.ShadowedBy != "" {
			path += " [shadowed by " + string(x.ShadowedBy) + "]"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", x.Name, x.Tier, path)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if p.Err != nil {
		e.warn(fmt.Sprintf("they do not run: %v", p.Err))
	}
	return nil
}
