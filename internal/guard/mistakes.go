package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/wording"
)

// Mistakes says which rules match no call, given the names of all tools. Rules with a
// wildcard in the name and those for MCP servers, which may not be there yet, are
// believed.
func (r Rules) Mistakes(names []string) []string {
	var list []string
	for _, l := range []struct {
		key      string
		patterns []string
	}{{"deny", r.Deny}, {"confirm", r.Confirm}, {"auto", r.Auto}} {
		for _, p := range l.patterns {
			if text := mistake(p, names); text != "" {
				list = append(list, fmt.Sprintf("tools.policy.%s: %q %s", l.key, p, text))
			}
		}
	}
	return list
}

// mistake says why a rule matches nothing; empty if it may.
func mistake(pattern string, names []string) string {
	name, what, colon := strings.Cut(pattern, ":")
	why := "it is no rule"
	switch before, _, paren := strings.Cut(name, "("); {
	case paren: // As other programs write it: Bash(rm *), Bash(git push:*).
		inside := strings.TrimSuffix(strings.TrimPrefix(pattern, before+"("), ")")
		if start, ok := strings.CutSuffix(inside, ":*"); ok {
			inside = start + "*"
		}
		name, what, colon = before, inside, true
	case strings.ContainsAny(name, " \t"):
		first, rest, _ := strings.Cut(strings.TrimSpace(name), " ")
		name = first
		if rest = strings.TrimSpace(rest); !colon {
			what, colon = rest, rest != ""
		}
	case strings.Contains(name, "*"), strings.HasPrefix(name, "mcp__"), slices.Contains(names, name):
		return ""
	default:
		why = fmt.Sprintf("there is no tool %q", name)
	}
	if !slices.Contains(names, name) {
		name = wording.Closest(name, names)
	}
	hint := "it may come from an extension that is off"
	if name != "" {
		if colon {
			name += ":" + what
		}
		hint = fmt.Sprintf("did you mean %q?", name)
	}
	return fmt.Sprintf("matches nothing: %s (%s)", why, hint)
}
