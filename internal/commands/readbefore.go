package commands

import (
	"context"
	"fmt"
	"strings"
)

const readBeforeDetails = `While it is on for write, a file that exists can only be overwritten or edited
after the model has read it in this session; likewise for delete. Without
arguments both states are shown; write, delete or all alone flips.`

// rule says what must be read before.
type rule struct{ Write, Delete bool }

// readRule is the rule that is in force.
func readRule(s *Session) (r rule) {
	configured := s.Agent.Profile().Prompt.ReadBefore
	r.Write, r.Delete = s.Reads.Effective(configured.Write, configured.Delete)
	return r
}

func readBefore(_ context.Context, s *Session, args string) error {
	now := readRule(s)
	words := strings.Fields(strings.ToLower(args))
	if len(words) == 0 {
		s.Print(readBeforeState(now))
		return nil
	}
	if len(words) > 2 {
		return fmt.Errorf(
			"readbefore takes at most two words, write, delete or all, and on or off, got %q",
			clip(args, 40),
		)
	}
	next := now
	switch what := words[0]; what {
	case "write":
		next.Write = !now.Write
	case "delete":
		next.Delete = !now.Delete
	case "all":
		next.Write = !now.Write || !now.Delete
		next.Delete = next.Write
	default:
		on, err := parseSwitch("readbefore", what)
		if err != nil || len(words) == 2 {
			return fmt.Errorf("readbefore: %q is not one of write, delete, all, on, off", clip(what, 40))
		}
		next = rule{on, on}
	}
	if len(words) == 2 {
		on, err := parseSwitch("readbefore "+words[0], words[1])
		if err != nil {
			return err
		}
		if words[0] != "delete" {
			next.Write = on
		}
		if words[0] != "write" {
			next.Delete = on
		}
	}
	// What was not named stays with the configuration.
	if words[0] != "delete" {
		s.Reads.Override(&next.Write, nil)
	}
	if words[0] != "write" {
		s.Reads.Override(nil, &next.Delete)
	}
	if err := s.Agent.Reload(); err != nil { // The prompt and the snapshot tell the rule.
		return err
	}
	s.Print(readBeforeState(next))
	return nil
}

func readBeforeState(r rule) string {
	return fmt.Sprintf("read before write: %s\nread before delete: %s", onOff(r.Write), onOff(r.Delete))
}
