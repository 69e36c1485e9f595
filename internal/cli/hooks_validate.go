package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func newHooksValidate(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Check all hooks and report every mistake",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return validateHooks(cmd.Context(), e) },
	}
}

// validateHooks says that there are no mistakes; if there are, the session does not open.
func validateHooks(ctx context.Context, e *env) error {
	return withHooks(ctx, e, nil, func(_ context.Context, s hookSession) error {
		for _, line := range s.report {
			fmt.Fprintf(e.out, "import: %s\n", line)
		}
		idle, _ := s.set.Idle()
		fmt.Fprintf(e.out, "%d hooks, %d of them disabled or pruned: no mistakes\n", len(s.set.Hooks()), len(idle))
		return nil
	})
}
