package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/hooks"
	"github.com/idelchi/aura/internal/wording"
)

func newHooksShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "show [NAME...]",
		Short:             "Show all about hooks, inheritance applied",
		Args:              arguments(cobra.ArbitraryArgs),
		ValidArgsFunction: e.flags.offer(configNames(hookNames)),
		RunE:              func(cmd *cobra.Command, args []string) error { return showHooks(cmd.Context(), e, args) },
	}
}

func showHooks(ctx context.Context, e *env, names []string) error {
	return withHooks(ctx, e, nil, func(_ context.Context, s hookSession) error {
		if len(names) == 0 {
			p := s.app.Agent().Profile()
			fmt.Fprintln(e.out, s.set.Listing(p.Agent, p.Mode))
			return nil
		}
		for _, name := range names {
			h, ok := s.set.Hooks()[name]
			if !ok {
				return noHook(name, slices.Sorted(maps.Keys(s.set.Hooks())))
			}
			fmt.Fprintf(e.out, "%s:%d\n%s", h.Source.File, h.Source.Line, hooks.Describe(h))
		}
		return nil
	})
}

// noHook is the error for a name that no hook has.
func noHook(name string, names []string) error {
	hint := cmp.Or(wording.DidYouMean(name, names), `"aura hooks list" lists them`)
	return fmt.Errorf("no hook %q (%s)", name, hint)
}
