package commands

import (
	"fmt"
	"strings"
)

// parseSwitch reads a word that means on or off, in upper or lower case. what is
// the object of the error.
func parseSwitch(what, word string) (bool, error) {
	switch strings.ToLower(word) {
	case "on", "true", "yes", "enable", "enabled", "1":
		return true, nil
	case "off", "false", "no", "disable", "disabled", "0":
		return false, nil
	}
	return false, fmt.Errorf(
		"%s: %q is not one of on, off (or true, false, yes, no, enable, disable, 1, 0)",
		what,
		clip(word, 40),
	)
}

// toggle sets a switch to what args says, or flips it if args is empty, and shows
// the new state.
func toggle(s *Session, what, args string, now bool, set func(bool)) error {
	on := !now
	if args != "" {
		var err error
		if on, err = parseSwitch(what, args); err != nil {
			return err
		}
	}
	set(on)
	s.Print(what + ": " + onOff(on))
	return nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
