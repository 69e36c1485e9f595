package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newSessionsDelete(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "delete ID...",
		Short:             "Delete sessions",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: e.flags.offer(sessionNames),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := app.OpenSessions(e.flags.options())
			if err != nil {
				return err
			}
			var errs []error
			for _, id := range args {
				errs = append(errs, store.Delete(id))
			}
			return errors.Join(errs...)
		},
	}
}
