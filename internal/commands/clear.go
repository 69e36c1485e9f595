package commands

import (
	"context"

	"github.com/idelchi/aura/internal/session"
)

const clearDetails = `Conversation and todo list begin anew, in a new session if the current one is on
disk already: it stays there and can be resumed.`

func clearAll(ctx context.Context, s *Session) error {
	log := s.Agent.Log()
	if log == nil || s.Store == nil || !log.Saved() {
		if err := s.Agent.Clear(); err != nil {
			return err
		}
		s.Print("a new conversation begins")
		return nil
	}
	old, fresh := log.ID(), session.Meta{Workdir: s.Agent.Snapshot().Workdir}
	next, err := s.Store.Create(fresh)
	if err != nil {
		return err
	}
	s.Agent.Leave(ctx)
	if err := s.Agent.Begin(next); err != nil {
		return err
	}
	s.Agent.Start(ctx, false)
	s.Print("a new conversation begins; the previous one: /resume " + shortID(old))
	return s.Agent.Save()
}
