package commands

import (
	"context"
	"strings"
)

func save(_ context.Context, s *Session, args string) error {
	log := s.Agent.Log()
	if log == nil {
		return errNoStore
	}
	if title := strings.Join(strings.Fields(args), " "); title != "" {
		if err := s.Agent.SetTitle(title); err != nil {
			return err
		}
	}
	if err := s.Agent.Save(); err != nil {
		return err
	}
	if !log.Saved() {
		s.Print("session " + log.ID() + " will be saved with your first message")
		return nil
	}
	s.Print("saved: " + log.ID())
	return nil
}
