package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
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
	store, err := e.flags.openStore()
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
		fmt.Fprintf(e.out, "\n%s\n", messageText(m))
	}
	return nil
}

// messageText renders one message of a conversation for reading.
func messageText(m message.Message) string {
	who := m.Role
	if m.Role == message.Tool {
		who = "result of " + m.ToolName
	}
	if m.Source != "" {
		who += ", " + m.Source
	}
	text := "[" + who + "]"
	if m.Content != "" {
		text += " " + m.Content
	}
	for _, c := range m.ToolCalls {
		text += fmt.Sprintf("\n  → %s %s", c.Name, tool.ArgsJSON(c.Arguments))
	}
	return text
}
