package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/session"
	"github.com/idelchi/aura/internal/wording"
)

// errNoStore says that sessions are not kept at all.
var errNoStore = errors.New("no sessions are kept: there is neither a project home nor a global one (see aura init)")

// listed is how many sessions a list shows unless all are asked for.
const listed = 20

func listSessions(_ context.Context, s *Session, args string) error {
	if args != "" && !strings.EqualFold(args, "all") {
		return fmt.Errorf(
			"sessions: %q is not one of all (to continue one: /resume %s)",
			clip(args, 40),
			clip(args, 40),
		)
	}
	return printSessions(s, args != "")
}

func printSessions(s *Session, all bool) error {
	if s.Store == nil {
		return errNoStore
	}
	list, err := s.Store.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		s.Print("there are no saved sessions")
		return nil
	}
	more := 0
	if !all && len(list) > listed {
		list, more = list[:listed], len(list)-listed
	}
	s.Print(sessionTable(s, list))
	if more > 0 {
		s.Print(fmt.Sprintf("%d more: /sessions all", more))
	}
	return nil
}

func sessionTable(s *Session, list []session.Info) string {
	active := ""
	if log := s.Agent.Log(); log != nil {
		active = log.ID()
	}
	rows := make([][]string, len(list))
	for i, info := range list {
		title := clip(info.Title, 60)
		if info.Name != "" {
			title = info.Name + ": " + title
		}
		rows[i] = []string{
			mark(info.ID == active) + " " + shortID(info.ID), info.Updated.Local().Format("2006-01-02 15:04"),
			fmt.Sprintf("%d messages", info.Messages), title,
		}
	}
	return wording.Columns("", rows)
}

// shortID is the beginning of an ID, which is enough to resume the session.
func shortID(id string) string { return id[:min(8, len(id))] }
