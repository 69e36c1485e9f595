package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"

	"github.com/idelchi/aura/internal/commands"
)

func newSessionsShow(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Print the conversation of a session",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: e.flags.offer(sessionNames),
		RunE:              func(_ *cobra.Command, args []string) error { return showSession(e, args[0], *asJSON) },
	}
}

func showSession(e *env, key string, asJSON bool) error {
	store, err := app.OpenSessions(e.flags.options())
	if err != nil {
		return err
	}
	state, notices, err := store.Read(key)
	if err != nil {
		return err
	}
	e.warnAll(notices)
	if asJSON {
		return e.printJSON(state)
	}
	m := state.Meta
	fmt.Fprintf(e.out, "# %s\n%s · agent %s · %d messages\n", m.Title, state.ID, m.Agent, len(state.Messages))
	for _, m := range state.Messages {
		fmt.Fprintf(e.out, "\n%s\n", commands.MessageText(&m))
	}
	return nil
}
