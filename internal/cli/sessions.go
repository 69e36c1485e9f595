package cli

import (
	"github.com/spf13/cobra"
)

func newSessions(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, fork and delete saved sessions",
		Args:  arguments(noSubcommand),
		RunE:  func(*cobra.Command, []string) error { return listSessions(e, asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		newSessionsList(e, &asJSON),
		newSessionsShow(e, &asJSON),
		newSessionsFork(e),
		newSessionsDelete(e),
	)
	return cmd
}
