package commands

import (
	"context"
	"fmt"
	"strings"
)

func name(_ context.Context, s *Session, args string) error {
	log := s.Agent.Log()
	if log == nil || s.Store == nil {
		return errNoStore
	}
	want := strings.Join(strings.Fields(args), " ")
	if want == "" {
		s.Print("name: " + orNone(log.Meta().Name))
		return nil
	}
	list, err := s.Store.List()
	if err != nil {
		return err
	}
	for _, other := range list {
		if other.ID != log.ID() && (strings.EqualFold(other.Name, want) || strings.EqualFold(other.ID, want)) {
			return fmt.Errorf("name %q belongs to session %s already", want, shortID(other.ID))
		}
	}
	if err := s.Agent.SetName(want); err != nil {
		return err
	}
	s.Print("name: " + want)
	return nil
}
