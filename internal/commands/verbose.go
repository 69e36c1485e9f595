package commands

import "context"

func verbose(_ context.Context, s *Session, args string) error {
	return toggle(s, "verbose", args, s.Agent.Switches().Verbose(), s.Agent.Switches().SetVerbose)
}
