package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newSkills(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List and show the skills that the model can fetch",
		Long: `Skills are Markdown files in .aura/skills, in the global home, and in
.claude/skills and .agents/skills of the project and of your home directory.`,
		Args: arguments(noSubcommand),
		RunE: func(*cobra.Command, []string) error { return listSkills(e, asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		newSkillsList(e, &asJSON),
		newSkillsShow(e, &asJSON),
	)
	return cmd
}

// completeSkills offers the names of skills to the shell.
func completeSkills(f *rootFlags) cobra.CompletionFunc {
	return offerAll(func(context.Context) ([]string, error) {
		list, _, err := f.options().Skills()
		names := make([]string, len(list))
		for i, s := range list {
			names[i] = s.Name
		}
		return names, err
	})
}
