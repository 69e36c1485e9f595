package commands

import "context"

const hooksDetails = `Shell hooks are written in .aura/config/hooks. Those that the current agent and
mode filter out are not listed; those that are disabled, or depend on a disabled
one, come last.`

func listHooks(_ context.Context, s *Session) error {
	s.Print(s.Agent.Hooks().Listing)
	return nil
}
