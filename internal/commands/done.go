package commands

import "context"

const doneDetails = `With the Done tool the model says that its work is finished, with a summary. The
turn ends at once, also in auto mode.`

func done(_ context.Context, s *Session, args string) error {
	return toggle(s, "done", args, s.Agent.Switches().Done(), s.Agent.Switches().SetDone)
}
