package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/session"
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

// openStore opens the store that a session would use.
func (f *rootFlags) openStore() (*session.Store, error) {
	homes, err := config.FindHomes(f.options().Homes)
	if err != nil {
		return nil, err
	}
	workdir, err := filepath.Abs(f.workdir)
	if err != nil {
		return nil, fmt.Errorf("workdir: %w", err)
	}
	store := app.Sessions(homes, workdir)
	if store == nil {
		return nil, errors.New("no sessions are kept: there is neither a project home nor a global one")
	}
	return store, nil
}
