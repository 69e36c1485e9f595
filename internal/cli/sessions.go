package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/tool"
)

func newSessions(e *env) *cobra.Command {
	var asJSON bool
	sessions := e.offer(e.sessionNames)
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, fork and delete saved sessions",
		Args:  arguments(noSubcommand),
		RunE:  func(*cobra.Command, []string) error { return e.listSessions(asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List sessions, newest first", Args: arguments(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error { return e.listSessions(asJSON) },
		},
		&cobra.Command{
			Use: "show ID", Short: "Print the conversation of a session", Args: arguments(cobra.ExactArgs(1)),
			ValidArgsFunction: sessions,
			RunE:              func(_ *cobra.Command, args []string) error { return e.showSession(args[0], asJSON) },
		},
		&cobra.Command{
			Use: "fork ID", Short: "Copy a session under a new ID", Args: arguments(cobra.ExactArgs(1)),
			ValidArgsFunction: sessions,
			RunE: func(_ *cobra.Command, args []string) error {
				return e.withStore(func(s *session.Store) error {
					id, err := s.Fork(args[0], -1)
					if err == nil {
						fmt.Fprintln(e.out, id)
					}
					return err
				})
			},
		},
		&cobra.Command{
			Use: "delete ID...", Short: "Delete sessions", Args: arguments(cobra.MinimumNArgs(1)),
			ValidArgsFunction: sessions,
			RunE: func(_ *cobra.Command, args []string) error {
				return e.withStore(func(s *session.Store) error {
					var errs []error
					for _, id := range args {
						errs = append(errs, s.Delete(id))
					}
					return errors.Join(errs...)
				})
			},
		},
	)
	return cmd
}

// noSubcommand rejects words after a command that only has subcommands.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("no subcommand %q: there are %s", args[0], strings.Join(names, ", "))
}

// withStore opens the store that a session would use.
func (e *env) withStore(do func(*session.Store) error) error {
	homes, err := config.FindHomes(e.flags.options().Homes)
	if err != nil {
		return err
	}
	workdir, err := filepath.Abs(e.flags.workdir)
	if err != nil {
		return fmt.Errorf("workdir: %w", err)
	}
	store := app.Sessions(homes, workdir)
	if store == nil {
		return errors.New("no sessions are kept: there is neither a project home nor a global one")
	}
	return do(store)
}

func (e *env) listSessions(asJSON bool) error {
	return e.withStore(func(s *session.Store) error {
		list, err := s.List()
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
		w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tUPDATED\tMESSAGES\tAGENT\tTITLE")
		for _, i := range list {
			title := i.Title
			if i.Name != "" {
				title = "[" + i.Name + "] " + title
			}
			fmt.Fprintf(
				w,
				"%.8s\t%s\t%d\t%s\t%s\n",
				i.ID,
				i.Updated.Local().Format(time.DateTime),
				i.Messages,
				i.Agent,
				title,
			)
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
	})
}

func (e *env) showSession(key string, asJSON bool) error {
	return e.withStore(func(s *session.Store) error {
		state, notices, err := s.Read(key)
		if err != nil {
			return err
		}
		for _, n := range notices {
			fmt.Fprintf(e.err, "! %s\n", n)
		}
		if asJSON {
			return e.printJSON(state)
		}
		fmt.Fprintf(
			e.out,
			"# %s\n%s · agent %s · %d messages\n",
			state.Meta.Title,
			state.ID,
			state.Meta.Agent,
			len(state.Messages),
		)
		for _, m := range state.Messages {
			fmt.Fprintf(e.out, "\n%s\n", conversationText(m))
		}
		return nil
	})
}

// conversationText renders one message for reading.
func conversationText(m message.Message) string {
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

// printJSON prints v for scripts.
func (e *env) printJSON(v any) error {
	enc := jsontext.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
