package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/hooks"
)

func newHooks(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "List, show, try out and validate shell hooks",
		Long: `Shell hooks are written in .aura/config/hooks/*.yaml; see docs/hooks.md. What is
listed and tried out is what holds for --agent and --mode.`,
		Args: arguments(noSubcommand),
		RunE: func(cmd *cobra.Command, _ []string) error { return listHooks(cmd.Context(), e, false) },
	}
	cmd.AddCommand(
		newHooksList(e),
		newHooksShow(e),
		newHooksValidate(e),
		newHooksTest(e),
	)
	return cmd
}

// hookSession is a session that was opened for its hooks.
type hookSession struct {
	app    *app.App
	set    *hooks.Set
	report []string // What an import left out.
}

// withHooks opens a session for its hooks. onRun, unless it is nil, is called after each
// run of a hook.
func withHooks(ctx context.Context, e *env, onRun func(hooks.Run), do func(context.Context, hookSession) error) error {
	return e.withApp(ctx, func(ctx context.Context, a *app.App) error {
		set, report, err := a.Hooks(onRun)
		if err != nil {
			return err
		}
		return do(ctx, hookSession{app: a, set: set, report: report})
	})
}
