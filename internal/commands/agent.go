package commands

import (
	"context"
	"fmt"
)

func switchAgent(ctx context.Context, s *Session, args string) error {
	if args == "" {
		s.Print(choices(s.Agents()))
		return nil
	}
	if err := s.Agent.Switch(ctx, args, "", "user"); err != nil {
		return err
	}
	p := s.Agent.Profile()
	s.Print(fmt.Sprintf("agent: %s, mode: %s, model: %s", p.Agent, orNone(p.Mode), orNone(p.Model.Name)))
	return nil
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
