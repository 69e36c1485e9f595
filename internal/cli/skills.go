package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/skills"
)

func newSkills(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List and show the skills that the model can fetch",
		Long: `Skills are Markdown files in .aura/skills, in the global home, and in
.claude/skills and .agents/skills of the project and of your home directory.`,
		Args: arguments(noSubcommand),
		RunE: func(*cobra.Command, []string) error { return e.listSkills(asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{
			Use:   "list",
			Short: "List skills, where they are from and what is wrong with any",
			Args:  arguments(cobra.NoArgs),
			RunE:  func(*cobra.Command, []string) error { return e.listSkills(asJSON) },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Print a skill as the model reads it", Args: arguments(cobra.ExactArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error { return e.showSkill(args[0], asJSON) },
			ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				list, _, err := e.skills()
				if err != nil {
					return nil, cobra.ShellCompDirectiveError
				}
				names := make([]string, len(list))
				for i, s := range list {
					names[i] = s.Name
				}
				return names, cobra.ShellCompDirectiveNoFileComp
			},
		},
	)
	return cmd
}

// skills finds the skills that a session would have.
func (e *env) skills() ([]skills.Skill, []skills.Problem, error) {
	o := e.flags.options().Homes
	homes, err := config.FindHomes(o)
	if err != nil {
		return nil, nil, err
	}
	workdir, err := filepath.Abs(o.Workdir)
	if err != nil {
		return nil, nil, err
	}
	list, problems := skills.Find(app.SkillPlaces(homes, workdir))
	return list, problems, nil
}

// listSkills prints a table; skills that cannot be used make the exit code 1.
func (e *env) listSkills(asJSON bool) error {
	list, problems, err := e.skills()
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
		if list == nil {
			list = []skills.Skill{}
		}
		errs = append([]error{e.printJSON(list)}, errs...)
	case len(list) == 0 && len(problems) == 0:
		fmt.Fprintln(e.err, "no skills yet (put one into .aura/skills)")
	default:
		w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tFROM\tDESCRIPTION")
		for _, s := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Source, strings.Join(strings.Fields(s.Description), " "))
		}
		errs = append([]error{w.Flush()}, errs...)
	}
	return errors.Join(errs...)
}

func (e *env) showSkill(name string, asJSON bool) error {
	list, _, err := e.skills()
	if err != nil {
		return err
	}
	s, err := skills.Get(list, name)
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
