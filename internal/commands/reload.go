package commands

import "context"

func reload(ctx context.Context, s *Session) error {
	if err := s.Reload(ctx); err != nil {
		return err
	}
	s.Print("reloaded")
	return nil
}
