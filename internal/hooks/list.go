package hooks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/config"
)

// Info describes an active hook to prompts.
type Info struct{ Name, Description, Event, Matcher, Files, Command string }

// Active lists the hooks that can run for an agent in a mode, by event and name.
func (s *Set) Active(agent, mode string) []Info {
	var list []Info
	for _, h := range s.enabled(agent, mode) {
		list = append(list, Info{h.Name, h.hook.Description, h.hook.Event, h.hook.Matcher, h.Files, h.Command})
	}
	position := map[string]int{}
	for _, h := range s.order {
		position[h.hook.Event] = h.index
	}
	slices.SortStableFunc(list, func(a, b Info) int {
		return cmp.Or(cmp.Compare(position[a.Event], position[b.Event]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// enabled is the hooks that can run for an agent in a mode, in running order.
func (s *Set) enabled(agent, mode string) []*bound {
	s.mu.Lock()
	defer s.mu.Unlock()
	active := s.activeLocked(agent, mode)
	var list []*bound
	for i, h := range s.order {
		if active[i] {
			list = append(list, h)
		}
	}
	return list
}

// Running lists the hooks that can run for an agent in a mode, moment by moment,
// in running order.
func (s *Set) Running(agent, mode string) []config.Hook {
	var list []config.Hook
	for _, h := range s.enabled(agent, mode) {
		list = append(list, *h.hook)
	}
	return list
}

// Idle lists the hooks that never run, by name, each with the reason: it is
// disabled, or depends on one that is.
func (s *Set) Idle() (list []config.Hook, why []string) {
	out := s.opts.Hooks.Prune(func(config.Hook) bool { return true })
	for _, name := range slices.Sorted(maps.Keys(out)) {
		h := s.opts.Hooks[name]
		list = append(list, h)
		reason := "disabled"
		if h.Enabled() {
			i := slices.IndexFunc(h.Depends, func(d string) bool { return out[d] })
			reason = "pruned: depends on " + h.Depends[i]
		}
		why = append(why, reason)
	}
	return list, why
}

// Display is a summary of the active hooks for prompts, one line each.
func Display(active []Info) string {
	var lines []string
	for _, h := range active {
		line := fmt.Sprintf("- %s (%s)", h.Name, h.Event)
		if h.Description != "" {
			line += ": " + h.Description
			if h.Files != "" {
				line += " [files: " + h.Files + "]"
			}
			if h.Matcher != "" {
				line += " [tools: " + h.Matcher + "]"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Listing is what a user reads about the hooks of an agent in a mode: by event
// in running order, those that never run last.
func (s *Set) Listing(agent, mode string) string {
	var b strings.Builder
	event := ""
	for _, h := range s.Running(agent, mode) {
		if h.Event != event {
			event = h.Event
			fmt.Fprintf(&b, "%s:\n", event)
		}
		b.WriteString(describe(h, "", false))
	}
	idle, why := s.Idle()
	if len(idle) > 0 {
		b.WriteString("disabled:\n")
	}
	for i, h := range idle {
		b.WriteString(describe(h, why[i], false))
	}
	switch {
	case b.Len() == 0 && len(s.opts.Hooks) > 0:
		return "no hook is left for this agent and mode"
	case b.Len() == 0:
		return "there are no hooks (write them to .aura/config/hooks/*.yaml)"
	}
	return strings.TrimRight(b.String(), "\n")
}

// Describe is all about one hook, for people.
func Describe(h config.Hook) string {
	h.Command = strings.ReplaceAll(strings.TrimSpace(h.Command), "\n", "\n"+strings.Repeat(" ", 17))
	return describe(h, "", true)
}

// describe is the fields of a hook under its name: all of them, or those that do
// not stand elsewhere in a listing.
func describe(h config.Hook, state string, all bool) string {
	var b strings.Builder
	b.WriteString("  " + h.Name)
	if state != "" {
		b.WriteString(" (" + state + ")")
	}
	b.WriteByte('\n')
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "    %-13s%s\n", label+":", value)
		}
	}
	row("description", h.Description)
	if all || state != "" {
		row("event", h.Event)
	}
	row("depends", strings.Join(h.Depends, ", "))
	row("inherit", strings.Join(h.Inherit, ", "))
	row("matcher", h.Matcher)
	row("files", h.Files)
	if h.Silent {
		row("silent", "true")
	}
	if all {
		row("command", h.Command)
	} else {
		row("command", firstLine(h.Command))
	}
	if h.Command != "" {
		row("timeout", cmp.Or(h.Timeout, DefaultTimeout).String())
	}
	row("on_failure", h.OnFailure)
	if h.Env != nil {
		row("env", cmp.Or(strings.Join(h.Env, ", "), "nothing but PATH and HOME"))
	}
	return b.String()
}

// firstLine is the beginning of a command and how long the rest is.
func firstLine(command string) string {
	lines := strings.Split(strings.TrimSpace(command), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%s (%d lines)", lines[0], len(lines))
}
