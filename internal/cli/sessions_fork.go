package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newSessionsFork(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "fork ID",
		Short:             "Copy a session under a new ID",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: e.flags.offer(sessionNames),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := app.OpenSessions(e.flags.options())
			if err != nil {
				return err
			}
			id, err := store.Fork(args[0], -1)
			if err == nil {
				fmt.Fprintln(e.out, id)
			}
			return err
		},
	}
}
