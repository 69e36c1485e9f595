package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/pyext"
)

func newExtensionsNew(e *env) *cobra.Command {
	var user bool
	var from string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a new extension to begin with",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE:  func(_ *cobra.Command, args []string) error { return createExtension(e, args[0], from, user) },
	}
	shipped := strings.Join(pyext.Contrib(), ", ")
	cmd.Flags().BoolVar(&user, "user", false, "for all projects, in ~/.aar/extensions")
	cmd.Flags().StringVar(&from, "from", "", "copy an extension that ships with aura: "+shipped)
	return cmd
}

// createExtension writes a new extension, into the home of the user if user is set.
func createExtension(e *env, name, from string, user bool) error {
	p, err := findPython(e.flags.options())
	if err != nil {
		return err
	}
	dir := filepath.Join(p.Workdir, ".agent", "extensions")
	if user {
		if len(p.Dirs.User) == 0 {
			return fmt.Errorf("there is no home directory to put it into")
		}
		dir = p.Dirs.User[0]
	}
	path, err := pyext.Create(dir, name, from)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(p.Workdir, path); err == nil && !strings.HasPrefix(rel, "..") {
		path = rel
	}
	fmt.Fprintln(e.out, path)
	fmt.Fprintf(
		e.err,
		"It runs from the next session on (or after /reload). What it registers: %s extensions inspect %s\n",
		e.program,
		name,
	)
	return nil
}
