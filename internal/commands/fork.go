package commands

import (
	"context"
	"errors"
)

const forkDetails = `The session stays as it is on disk; what you say from now on is only in the copy.`

func fork(ctx context.Context, s *Session) error {
	log := s.Agent.Log()
	if log == nil || s.Store == nil {
		return errNoStore
	}
	if !log.Saved() {
		return errors.New("nothing to fork: nothing has been said in this session yet")
	}
	if err := s.Agent.Save(); err != nil {
		return err
	}
	id, err := s.Store.Fork(log.ID(), 0)
	if err != nil {
		return err
	}
	return enter(ctx, s, id, "forked into")
}
