package commands

import (
	"context"
	"fmt"
)

const sandboxDetails = `The sandbox limits the files that tools can reach. "requested" is what you asked
for, "enforced" what the kernel does; without kernel support the paths that a
call declares are still checked.`

func sandbox(_ context.Context, s *Session, args string) error {
	state := s.Sandbox()
	if args != "" {
		on, err := parseSwitch("sandbox", args)
		if err != nil {
			return err
		}
		if err := s.SetSandbox(on); err != nil {
			return err
		}
		state = s.Sandbox()
	}
	s.Print(
		fmt.Sprintf(
			"sandbox: requested %s, enforced %s\n%s",
			onOff(state.Enabled),
			onOff(state.Enforced),
			state.Display,
		),
	)
	return nil
}
