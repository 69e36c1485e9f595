package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func newSessionsDelete(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "delete ID...",
		Short:             "Delete sessions",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: e.flags.offer(sessionNames),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := e.flags.openStore()
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
