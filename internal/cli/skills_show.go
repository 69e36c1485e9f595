package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newSkillsShow(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print a skill as the model reads it",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeSkills(&e.flags),
		RunE:              func(_ *cobra.Command, args []string) error { return showSkill(e, args[0], *asJSON) },
	}
}

func showSkill(e *env, name string, asJSON bool) error {
	s, err := e.flags.options().Skill(name)
	if err != nil {
		return err
	}
	if asJSON {
		return e.printJSON(s)
	}
	fmt.Fprintf(e.err, "%s\n", s.File)
	_, err = fmt.Fprintln(e.out, s.Text())
	return err
}
