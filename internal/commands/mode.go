package commands

import (
	"context"
	"slices"
	"strings"
)

func switchMode(_ context.Context, s *Session, args string) error {
	if args == "" {
		list := s.Modes()
		if len(list) == 0 {
			s.Print("there are no modes")
			return nil
		}
		s.Print(
			choices(
				append(
					slices.Clip(list),
					Choice{Name: "none", Description: "No mode", Active: s.Agent.Profile().Mode == ""},
				),
			),
		)
		return nil
	}
	if strings.EqualFold(args, "none") {
		args = "none"
	}
	if err := s.Agent.SetMode(args); err != nil {
		return err
	}
	s.Print("mode: " + orNone(s.Agent.Profile().Mode))
	return nil
}
