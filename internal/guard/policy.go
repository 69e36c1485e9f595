package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/tool"
)

// Rules are the patterns of a tool policy. Deny beats confirm, a matching auto
// lifts a confirm, and what no rule matches is allowed.
//
// A pattern is a tool name with `*`, optionally followed by a colon and a pattern
// for what the call is about: `Bash:git push*` looks at every simple command of
// the script, also inside of others (sudo, `sh -c`: see sh.Commands), `Write:/etc/*`
// at the paths the call declares to touch. Behind `:=` nothing is a wildcard.
type Rules struct {
	Auto    []string
	Confirm []string
	Deny    []string
}

// Add returns the union of two sets of rules.
func (r Rules) Add(other Rules) Rules {
	return Rules{
		Auto:    slices.Concat(r.Auto, other.Auto),
		Confirm: slices.Concat(r.Confirm, other.Confirm),
		Deny:    slices.Concat(r.Deny, other.Deny),
	}
}

// String describes the rules in words, for prompts and people; empty without rules.
func (r Rules) String() string {
	var lines []string
	for _, l := range []struct {
		what     string
		patterns []string
	}{{"denied", r.Deny}, {"need approval", r.Confirm}, {"approved", r.Auto}} {
		if len(l.patterns) > 0 {
			lines = append(lines, l.what+": "+strings.Join(l.patterns, ", "))
		}
	}
	return strings.Join(lines, "\n")
}

// checkPolicy applies the rules to a call.
func (o Options) checkPolicy(_ context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	d := ev.BeforeTool()
	c, err := o.For(d.Agent, d.Mode)
	if err != nil {
		return pass, err
	}
	rules := c.Rules
	t, _ := o.Tool(d.ToolName)
	if len(rules.Deny)+len(rules.Confirm) == 0 && !t.Confirm {
		return pass, nil
	}
	s, err := o.subject(d.ToolName, d.Arguments, d.Workdir)
	if err != nil {
		return refuse(err.Error())
	}
	if p := s.first(rules.Deny); p != "" {
		return refuse(fmt.Sprintf("denied by the tool policy (deny: %s)", p))
	}
	why := ""
	if t.Confirm {
		why = fmt.Sprintf("%s %q wants approval for %s", t.Source.Kind, t.Source.Name, d.ToolName)
	}
	if p := s.first(rules.Confirm); p != "" {
		why = "tool policy, confirm: " + p
	}
	if why == "" || d.Auto || s.covered(slices.Concat(rules.Auto, o.Approvals.Patterns())) {
		return pass, nil
	}
	return lifecycle.Reply{Ask: why}, nil
}

// subject is what patterns are matched against.
type subject struct {
	tool    string
	workdir string
	script  string   // Of a shell tool, as a whole.
	aspects []aspect // Nothing to say about the call beyond its tool if empty.
	unknown bool     // It is about more than the aspects, or than can be known before it runs.
}

// aspect is one thing a call is about, in all its spellings: a simple command, or
// a path as given and as it is with all links followed.
type aspect struct {
	given []string // Of a command, also without the directory of the program.
	real  []string // What it comes down to.

	// Of a command that is written as the arguments of another one, as behind sudo.
	outer int    // Index of that one.
	lead  string // How that one begins, up to the name of this one.
}

// subject looks at a call.
func (o *Options) subject(name string, args map[string]any, workdir string) (subject, error) {
	s := subject{tool: name, workdir: workdir}
	if script, ok := args["command"].(string); ok {
		s.script = strings.TrimSpace(script)
		return s, s.look()
	}
	p, err := o.paths(name, args, workdir)
	if err != nil {
		return s, err
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Read, p.Write)))) {
		s.aspects = append(s.aspects, pathAspect(path, workdir))
	}
	return s, nil
}

// pathAspect spells a path absolute and, below the working directory, relative.
func pathAspect(path, workdir string) aspect {
	a, target := aspect{given: []string{path}}, real(path)
	a.real = []string{target}
	if rel, err := filepath.Rel(workdir, path); err == nil && filepath.IsLocal(rel) {
		a.given = append(a.given, rel)
	}
	// The working directory itself may be reached through a link, which is no detour.
	if rel, err := filepath.Rel(real(workdir), target); err == nil && filepath.IsLocal(rel) {
		a.real = append(a.real, rel, filepath.Join(workdir, rel))
	}
	return a
}

// look finds the simple commands of the script; of one that cannot be parsed, the text
// itself. It fails if commands are hidden too deeply.
func (s *subject) look() error {
	calls, more, err := sh.Commands(s.script)
	if errors.Is(err, sh.ErrNested) {
		return err
	}
	s.unknown = more || err != nil
	if err != nil || len(calls) == 0 {
		text := []string{s.script}
		s.aspects = []aspect{{given: text, real: text}}
		return nil
	}
	single := true
	for i, c := range calls {
		a := aspect{real: []string{c.Text}, outer: c.Root, lead: c.Lead}
		if c.Literal != c.Text {
			a.real = append(a.real, c.Literal)
		}
		a.given = a.real
		if base := c.Base(); base != "" {
			a.given = []string{base} // What is real is looked at, too.
		}
		s.aspects = append(s.aspects, a)
		s.unknown = s.unknown || c.Unknown
		single = single && (i == 0 || c.Lead != "" && c.Root == 0)
	}
	if single {
		s.aspects[0].real = append(s.aspects[0].real, s.script)
	}
	return nil
}

// first returns the first pattern that matches the call: its tool and, if the
// pattern asks for it, any aspect of it.
func (s *subject) first(patterns []string) string {
	for _, p := range patterns {
		name, what, specific := cutPattern(p)
		if !tool.Match(name, s.tool) {
			continue
		}
		if !specific || s.script != "" && describes(what, s.script) ||
			slices.ContainsFunc(
				s.aspects,
				func(a aspect) bool { return matches(what, a.given) || matches(what, a.real) },
			) {
			return p
		}
	}
	return ""
}

// cutPattern splits a pattern; one that says nothing about what the call is about is
// not specific, and holds for calls that are about nothing.
func cutPattern(p string) (name, what string, specific bool) {
	name, what, _ = strings.Cut(p, ":")
	return name, what, strings.Trim(what, "*") != ""
}

// covered reports whether the patterns allow the call as a whole: every aspect of
// it must be matched, or a harmless command would let its neighbour through, and
// of a path where it leads, or a link would. What is not known, and what a script
// does beside its commands, is allowed only together with all the rest.
func (s *subject) covered(patterns []string) bool {
	var specific []string
	for _, p := range patterns {
		name, what, narrow := cutPattern(p)
		if !tool.Match(name, s.tool) {
			continue
		}
		if !narrow || what == s.script || what == exactly+s.script { // The whole script, word for word.
			return true
		}
		specific = append(specific, what)
	}
	return len(s.aspects) > 0 && !s.unknown && !slices.ContainsFunc(s.aspects, func(a aspect) bool {
		return !slices.ContainsFunc(specific, func(what string) bool { return s.allows(what, a) })
	})
}

// allows reports whether a pattern matches an aspect, or the command around it and
// spells out, before the first `*`, that it runs this one.
func (s *subject) allows(what string, a aspect) bool {
	if matches(what, a.real) {
		return true
	}
	start, exact := strings.CutPrefix(what, exactly)
	if !exact {
		start, _, _ = strings.Cut(what, "*")
	}
	return a.lead != "" && strings.HasPrefix(start, a.lead) && matches(what, s.aspects[a.outer].real)
}

// matches reports whether any of the spellings is what pattern describes.
func matches(pattern string, spellings []string) bool {
	return slices.ContainsFunc(spellings, func(s string) bool { return describes(pattern, s) })
}

// exactly begins what a pattern says about a call if nothing in it is a wildcard.
const exactly = "="

// describes reports whether text is what pattern says.
func describes(pattern, text string) bool {
	if exact, ok := strings.CutPrefix(pattern, exactly); ok {
		return text == exact
	}
	return tool.Match(pattern, text)
}
