package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
)

func newSessionsList(e *env, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List sessions, newest first",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return listSessions(e, *asJSON) },
	}
}

func listSessions(e *env, asJSON bool) error {
	store, err := app.OpenSessions(e.flags.options())
	if err != nil {
		return err
	}
	list, err := store.List()
	if err != nil {
		return err
	}
	if asJSON {
		return e.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.err, "no sessions yet")
		return nil
	}
	w := newTable(e.out)
	fmt.Fprintln(w, "ID\tUPDATED\tMESSAGES\tAGENT\tTITLE")
	for _, i := range list {
		title := i.Title
		if i.Name != "" {
			title = "[" + i.Name + "] " + title
		}
		updated := i.Updated.Local().Format(time.DateTime)
		fmt.Fprintf(w, "%.8s\t%s\t%d\t%s\t%s\n", i.ID, updated, i.Messages, i.Agent, title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, i := range list {
		if i.Error != "" {
			e.warn(fmt.Sprintf("session %.8s: %s (aura sessions delete %s removes it)", i.ID, i.Error, i.ID))
		}
	}
	return nil
}
