package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newSkillsList(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List skills, where they are from and what is wrong with any",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return listSkills(e, *asJSON) },
	}
}

// listSkills prints a table; skills that cannot be used make the exit code 1.
func listSkills(e *env, asJSON bool) error {
	list, problems, err := e.flags.options().Skills()
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Body = ""
	}
	var errs []error
	for _, p := range problems {
		errs = append(errs, p)
	}
	switch {
	case asJSON:
		errs = append([]error{e.printJSON(list)}, errs...)
	case len(list) == 0 && len(problems) == 0:
		fmt.Fprintln(e.err, "no skills yet (put one into .aura/skills)")
	default:
		w := newTable(e.out)
		fmt.Fprintln(w, "NAME\tFROM\tDESCRIPTION")
		for _, s := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Source, strings.Join(strings.Fields(s.Description), " "))
		}
		errs = append([]error{w.Flush()}, errs...)
	}
	return errors.Join(errs...)
}
