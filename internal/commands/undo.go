package commands

import "context"

const undoDetails = `Your latest input and everything after it leave the conversation. What tools did
to files stays as it is.`

func undo(_ context.Context, s *Session) error {
	text, err := s.Agent.Undo()
	if err != nil {
		return err
	}
	s.Print("taken back: " + clip(text, 100))
	return nil
}
