package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/tui"
)

// newChat is the conversation by name. Only the help of aar lists it.
func newChat(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "chat",
		Short:  "Hold a conversation, as without a subcommand",
		Hidden: e.program == "aura",
		Args:   arguments(cobra.NoArgs),
		RunE:   func(cmd *cobra.Command, _ []string) error { return chat(cmd.Context(), e) },
	}
}

// chat holds a conversation: on the whole screen if there is one, else line by line.
func chat(ctx context.Context, e *env) error {
	if !e.flags.plain && terminal.Is(e.in) && terminal.Is(e.out) && os.Getenv("TERM") != "dumb" {
		return chatOnScreen(ctx, e)
	}
	return chatInLines(ctx, e)
}

// chatOnScreen holds a conversation on the whole screen until the user ends it.
func chatOnScreen(ctx context.Context, e *env) error {
	workdir, err := filepath.Abs(e.flags.workdir)
	if err != nil {
		return fmt.Errorf("workdir: %w", err)
	}
	ui := tui.New(tui.Options{
		In: e.in, Out: e.out, Workdir: workdir, Version: version,
		History: historyFile(&e.flags),
	})
	opening, opened := e.interruptible(ctx)
	defer opened()
	a, err := app.Open(opening, e.flags.options(), app.Face{
		Observe: ui.Observe, Print: ui.Print, Approve: ui.Approve, Ask: ui.Ask, Begin: ui.Begin, Trace: ui.Trace,
	})
	if err != nil {
		return err
	}
	opened() // From now on the interface handles signals.
	key, err := e.flags.sessionKey(a)
	if err != nil {
		return errors.Join(err, a.Close("error"))
	}
	err = ui.Run(ctx, a, key)
	reason := "exit"
	if s, ok := errors.AsType[*tui.SignalError](err); ok {
		reason, err = "cancelled", codeError(endedBy(s.Signal).code)
	}
	err = errors.Join(err, a.Close(reason))
	if log := a.Agent().Log(); log != nil && log.Saved() {
		fmt.Fprintf(e.err, "to go on with this session: aura --resume %s\n", log.ID())
	}
	return err
}

// historyFile is where typed lines are remembered; empty for nowhere.
func historyFile(f *rootFlags) string {
	homes, err := config.FindHomes(f.options().Homes)
	if err != nil || homes.Global == "" || os.MkdirAll(homes.Global, 0o700) != nil {
		return ""
	}
	return filepath.Join(homes.Global, "history")
}
