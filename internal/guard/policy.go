package guard

import (
	"context"
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
// the script, `Write:/etc/*` at the paths the call declares to touch.
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
	d := beforeTool(ev)
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
}

// aspect is one thing a call is about, in all its spellings: a simple command, or
// a path as given and as it is with all links followed.
type aspect struct {
	given []string
	real  []string // What it comes down to; the same as given for commands.
}

func commandAspect(spellings ...string) aspect { return aspect{spellings, spellings} }

// subject looks at a call.
func (o *Options) subject(name string, args map[string]any, workdir string) (subject, error) {
	s := subject{tool: name, workdir: workdir}
	if script, ok := args["command"].(string); ok {
		s.script = strings.TrimSpace(script)
		s.aspects = scriptAspects(s.script)
		return s, nil
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

// scriptAspects are the simple commands of a script; of one that cannot be
// parsed, the text itself.
func scriptAspects(script string) []aspect {
	commands, err := sh.Commands(script)
	if err != nil || len(commands) == 0 {
		return []aspect{commandAspect(script)}
	}
	if len(commands) == 1 {
		return []aspect{commandAspect(commands[0], script)}
	}
	var list []aspect
	for _, c := range commands {
		list = append(list, commandAspect(c))
	}
	return list
}

// first returns the first pattern that matches the call: its tool and, if the
// pattern asks for it, any aspect of it.
func (s *subject) first(patterns []string) string {
	for _, p := range patterns {
		name, what, specific := cutPattern(p)
		if !tool.Match(name, s.tool) {
			continue
		}
		if !specific || s.script != "" && tool.Match(what, s.script) || slices.ContainsFunc(s.aspects, func(a aspect) bool { return matches(what, a.given) || matches(what, a.real) }) {
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
// of a path where it leads, or a link would.
func (s *subject) covered(patterns []string) bool {
	var specific []string
	for _, p := range patterns {
		name, what, narrow := cutPattern(p)
		if !tool.Match(name, s.tool) {
			continue
		}
		if !narrow || what == s.script { // The whole script, word for word.
			return true
		}
		specific = append(specific, what)
	}
	return len(s.aspects) > 0 && !slices.ContainsFunc(s.aspects, func(a aspect) bool {
		return !slices.ContainsFunc(specific, func(what string) bool { return matches(what, a.real) })
	})
}

// matches reports whether any of the spellings is what pattern describes.
func matches(pattern string, spellings []string) bool {
	return slices.ContainsFunc(spellings, func(s string) bool { return tool.Match(pattern, s) })
}

// Suggest proposes the pattern under which a call could be approved for good.
func Suggest(name string, args map[string]any) string {
	if script, ok := args["command"].(string); ok {
		commands, err := sh.Commands(script)
		if err != nil || len(commands) != 1 {
			return name + ":" + strings.TrimSpace(script)
		}
		words := strings.Fields(commands[0])
		return name + ":" + strings.Join(words[:min(2, len(words))], " ") + "*"
	}
	for _, key := range []string{"path", "file_path"} {
		path, ok := args[key].(string)
		if !ok {
			continue
		}
		// A directory that holds everything would be no limit.
		if dir := filepath.Dir(filepath.Clean(path)); dir != "." && dir != filepath.Dir(dir) && !strings.HasPrefix(dir, "..") {
			return name + ":" + filepath.Join(dir, "*")
		}
		return name + ":" + filepath.Clean(path)
	}
	return name
}
