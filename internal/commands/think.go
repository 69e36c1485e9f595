package commands

import (
	"context"
	"strings"
)

const thinkDetails = `"on" is the same as medium. Models that cannot think ignore it.`

func think(_ context.Context, s *Session, args string) error {
	if args != "" {
		mode := strings.ToLower(args)
		if on, err := parseSwitch("think", mode); err == nil {
			mode = onOff(on)
		}
		if err := s.Agent.Switches().SetThink(mode); err != nil {
			return err
		}
	}
	s.Print("think: " + s.Agent.Snapshot().ThinkMode)
	return nil
}
