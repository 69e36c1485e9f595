package commands

import (
	"context"
	"slices"
	"strings"
)

func policy(_ context.Context, s *Session) error {
	var lines []string
	if rules := s.Agent.Profile().Prompt.Policy; rules != "" {
		lines = append(lines, strings.Split(rules, "\n")...)
	}
	session := s.Approvals.Session()
	saved := slices.DeleteFunc(s.Approvals.Patterns(), func(p string) bool { return slices.Contains(session, p) })
	if len(session) > 0 {
		lines = append(lines, "approved for this session: "+strings.Join(session, ", "))
	}
	if len(saved) > 0 {
		lines = append(lines, "approved for good: "+strings.Join(saved, ", "))
	}
	if len(lines) == 0 {
		lines = append(lines, "no rules: every tool call is allowed")
	} else {
		lines = append(lines, "everything else is allowed")
	}
	if s.Agent.Switches().Auto() {
		lines = append(lines, "auto mode is on: nothing needs approval")
	}
	s.Print(strings.Join(lines, "\n"))
	return nil
}
