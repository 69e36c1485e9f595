package commands

import "context"

const autoDetails = `In auto mode a turn goes on by itself while the todo list has open items, and
calls that a confirm rule would ask about are made without asking. What the
policy denies stays denied.`

func auto(_ context.Context, s *Session, args string) error {
	return toggle(s, "auto", args, s.Agent.Switches().Auto(), s.Agent.Switches().SetAuto)
}
