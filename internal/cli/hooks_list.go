package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/hooks"
)

func newHooksList(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hooks in running order",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return listHooks(cmd.Context(), e, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listHooks(ctx context.Context, e *env, asJSON bool) error {
	return withHooks(ctx, e, nil, func(_ context.Context, s hookSession) error {
		p := s.app.Agent().Profile()
		running := s.set.Running(p.Agent, p.Mode)
		idle, why := s.set.Idle()
		if asJSON {
			return e.printJSON(hooksJSON(running, idle, why))
		}
		if len(s.set.Hooks()) == 0 {
			fmt.Fprintln(e.err, "there are no hooks (write them to .aura/config/hooks/*.yaml)")
			return nil
		}
		w := newTable(e.out)
		fmt.Fprintln(w, "EVENT\tNAME\tMATCHER\tFILES\tTIMEOUT\tDESCRIPTION")
		row := func(h config.Hook, note string) {
			line, _, _ := strings.Cut(cmp.Or(h.Description, strings.TrimSpace(h.Command)), "\n")
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", h.Event, h.Name, cmp.Or(h.Matcher, "*"), cmp.Or(h.Files, "*"),
				cmp.Or(h.Timeout, hooks.DefaultTimeout), strings.TrimSpace(note+line))
		}
		for _, h := range running {
			row(h, "")
		}
		for i, h := range idle {
			row(h, "("+why[i]+") ")
		}
		return w.Flush()
	})
}

// hookJSON is a hook for scripts.
type hookJSON struct {
	Name        string   `json:"name"`
	Event       string   `json:"event"`
	State       string   `json:"state"`
	Description string   `json:"description,omitempty"`
	Matcher     string   `json:"matcher,omitempty"`
	Files       string   `json:"files,omitempty"`
	Command     string   `json:"command"`
	Timeout     float64  `json:"timeout"` // Seconds.
	Depends     []string `json:"depends,omitempty"`
	Silent      bool     `json:"silent,omitempty"`
	OnFailure   string   `json:"on_failure,omitempty"`
	File        string   `json:"file"`
	Line        int      `json:"line,omitempty"`
}

func newHookJSON(h config.Hook, state string) hookJSON {
	return hookJSON{
		Name:        h.Name,
		Event:       h.Event,
		State:       state,
		Description: h.Description,
		Matcher:     h.Matcher,
		Files:       h.Files,
		Command:     h.Command,
		Timeout:     cmp.Or(h.Timeout, hooks.DefaultTimeout).Seconds(),
		Depends:     h.Depends,
		Silent:      h.Silent,
		OnFailure:   h.OnFailure,
		File:        h.Source.File,
		Line:        h.Source.Line,
	}
}

// hooksJSON lists hooks for scripts. why says for each idle one why it does not run.
func hooksJSON(running, idle []config.Hook, why []string) []hookJSON {
	list := []hookJSON{}
	for _, h := range running {
		list = append(list, newHookJSON(h, "active"))
	}
	for i, h := range idle {
		list = append(list, newHookJSON(h, why[i]))
	}
	return list
}
