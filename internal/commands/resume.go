package commands

import (
	"context"
	"errors"
	"fmt"
)

const resumeDetails = `The session is named by its ID, its name, or the beginning of either. Agent,
mode, model, switches, todo list and conversation are as they were.`

func resume(ctx context.Context, s *Session, args string) error {
	if args == "" {
		return printSessions(s, false)
	}
	if s.Store == nil {
		return errNoStore
	}
	id, err := s.Store.Find(args)
	if err != nil {
		return err
	}
	if log := s.Agent.Log(); log != nil && log.ID() == id {
		return fmt.Errorf("session %s is the current one", shortID(id))
	}
	return enter(ctx, s, id, "resumed")
}

// Resume makes the agent continue the session that key names, as Store.Resume
// understands it, and shows what the user must know about the state it is in.
// ready is called once the session is found, before the old one is left, its agent takes
// over and handlers hear of that. They are not told that the session starts; that is Agent.Start.
func Resume(ctx context.Context, s *Session, key string, ready func()) error {
	if s.Store == nil {
		return errNoStore
	}
	log, state, notices, err := s.Store.Resume(key)
	if err != nil {
		return err
	}
	ready()
	// The old one is saved before anything is as it was in the new one.
	if err := s.Agent.Detach(); err != nil {
		return errors.Join(err, log.Close())
	}
	for _, n := range notices {
		s.Agent.Notice("session", n)
	}
	if s.Restore != nil {
		s.Restore(state.Meta)
	}
	return s.Agent.Resume(ctx, log, state)
}

// enter leaves the current session for another one.
func enter(ctx context.Context, s *Session, id, how string) error {
	if err := Resume(ctx, s, id, func() { s.Agent.Leave(ctx) }); err != nil {
		return err
	}
	s.Agent.Start(ctx, true)
	snap := s.Agent.Snapshot()
	s.Print(
		fmt.Sprintf(
			"%s %s: %s (%d messages, agent %s)",
			how,
			snap.SessionID,
			orNone(clip(snap.SessionTitle, 60)),
			snap.MessageCount,
			snap.Agent,
		),
	)
	return nil
}
