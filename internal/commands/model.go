package commands

import "context"

func switchModel(ctx context.Context, s *Session, args string) error {
	if args == "" {
		list, err := s.Models(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			s.Print("the provider lists no models; the active one is " + orNone(s.Agent.Profile().Model.Name))
			return nil
		}
		s.Print(choices(list))
		return nil
	}
	if err := s.SetModel(args); err != nil {
		return err
	}
	s.Print("model: " + s.Agent.Profile().Model.Name)
	return nil
}
