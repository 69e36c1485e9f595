package app

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/skills"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/tools"
	"github.com/idelchi/aura/internal/wording"
)

// written is what people wrote for the model beside the configuration.
type written struct {
	skills   []skills.Skill
	problems []skills.Problem
}

func readWritten(homes config.Homes, workdir string) (w written) {
	w.skills, w.problems = skills.Find(SkillPlaces(homes, workdir))
	return w
}

// add puts the tool for skills beside the others, unless an extension brought one of
// that name.
func (w written) add(list []tool.Tool) []tool.Tool {
	t, ok := skills.Tool(w.skills)
	if !ok || slices.ContainsFunc(list, func(other tool.Tool) bool { return other.Name == t.Name }) {
		return list
	}
	return append(list, t)
}

// SkillPlaces lists where skills may be, later ones win: what other programs left in
// the user's home, the global home, then the same of the project, from the root of
// its repository down to the working directory.
func SkillPlaces(homes config.Homes, workdir string) []skills.Place {
	var places []skills.Place
	add := func(name, dir string, foreign bool) {
		places = append(places, skills.Place{Name: name, Dir: filepath.Join(dir, "skills"), Foreign: foreign})
	}
	if homes.Global != "" {
		if home, err := os.UserHomeDir(); err == nil {
			add("~/.agents", filepath.Join(home, ".agents"), true)
			add("~/.claude", filepath.Join(home, ".claude"), true)
		}
		add("global", homes.Global, false)
	}
	for _, file := range upward(workdir) {
		dir := filepath.Dir(file)
		add(".agents", filepath.Join(dir, ".agents"), true)
		add(".claude", filepath.Join(dir, ".claude"), true)
	}
	for _, home := range homes.Projects {
		add("project", home, false)
	}
	return places
}

// define lays the tool definitions of the configuration over the tools.
func (a *App) define(list []tool.Tool) []tool.Tool {
	for i := range list {
		t := &list[i]
		d, ok := a.cfg.Definitions[t.Name]
		if !ok {
			continue
		}
		for _, text := range []struct{ from, to *string }{
			{d.Description, &t.Description}, {d.Usage, &t.Usage}, {d.Examples.Text, &t.Examples},
		} {
			if text.from != nil {
				*text.to = strings.TrimSpace(*text.from)
			}
		}
		if d.Parallel != nil {
			t.Serial = !*d.Parallel
		}
		if d.Condition.Expr != nil {
			t.Condition = d.Condition.Expr
		}
	}
	return list
}

// offer splits the tools that the filters leave into those that are offered at once
// and those that must be loaded, with the tool that loads them. A filter that names
// a tool lifts its condition; nothing lifts `disabled` of a definition.
func (a *App) offer(list []tool.Tool, layers []tool.Filter, deferred []string) (now, later []tool.Tool) {
	for _, t := range list {
		switch {
		case a.cfg.Definitions[t.Name].Disabled:
			continue
		case tool.Named(layers, t.Name):
			t.Condition = nil
		}
		if (tool.Filter{Disabled: deferred}).Allows(t.Name) || t.Name == "Done" {
			now = append(now, t)
		} else {
			later = append(later, t)
		}
	}
	if len(later) == 0 {
		return now, nil
	}
	load := a.define([]tool.Tool{tools.LoadTools(later)})[0]
	refused := slices.ContainsFunc(
		layers,
		func(f tool.Filter) bool { return !(tool.Filter{Disabled: f.Disabled}).Allows(load.Name) },
	)
	if !refused && !a.cfg.Definitions[load.Name].Disabled {
		now = append(now, load)
	}
	return now, later
}

// parallel reports whether a tool may run beside others.
func (a *App) parallel(name string) bool {
	t, ok := a.tool(name)
	return ok && !t.Serial
}

// ownCommands lists the commands of the session that no extension brings: built-in
// ones, then those that people wrote. Where names collide, the earlier one counts.
func (a *App) ownCommands() []commands.Command {
	all, _ := a.mergeCommands()
	return all
}

func (a *App) mergeCommands() (all, hidden []commands.Command) {
	a.mu.Lock()
	custom := a.cfg.Commands
	a.mu.Unlock()
	return commands.Merge(commands.Builtin(), commands.Custom(custom))
}

// Skills lists the skills of the session.
func (a *App) Skills() []skills.Skill {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.written.skills
}

// reviewWritten tells the user what of their texts has no effect.
func (a *App) reviewWritten() {
	for _, p := range a.written.problems {
		a.agent.Notice("skills", p.Error())
	}
	_, hidden := a.mergeCommands()
	for _, c := range hidden {
		a.agent.Notice(
			"commands",
			fmt.Sprintf(
				"%s: there is another command /%s, which comes first (give this one another name)",
				c.Source,
				c.Name,
			),
		)
	}
	names := a.ToolNames()
	for _, name := range slices.Sorted(maps.Keys(a.cfg.Definitions)) {
		if slices.Contains(names, name) || pending(name, names) {
			continue
		}
		hint := cmp.Or(wording.DidYouMean(name, names), "it may come from an extension that is off")
		s := a.cfg.Definitions[name].Source
		a.agent.Notice("tools", fmt.Sprintf("%s:%d: there is no tool %q (%s)", s.File, s.Line, name, hint))
	}
	mistakes, err := a.PolicyMistakes(names)
	if err != nil {
		mistakes = []string{err.Error()}
	}
	for _, text := range mistakes {
		a.agent.Notice("policy", text)
	}
}

// pending reports whether a tool may come later, from an MCP server of which nothing
// is here yet.
func pending(name string, names []string) bool {
	parts := strings.SplitN(name, "__", 3)
	if len(parts) < 3 || parts[0] != "mcp" {
		return false
	}
	server := strings.Join(parts[:2], "__") + "__"
	return !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, server) })
}
