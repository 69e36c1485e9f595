package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/extension"
)

// agents makes the profiles and prompts of all agents.
func agents(_ context.Context, p *patient) []Finding {
	names, problems, err := p.place.Rehearse()
	if err != nil {
		return mistakes("agents", err, "")
	}
	if len(problems) == 0 {
		return []Finding{ok("agents", strings.Join(names, ", "))}
	}
	var list []Finding
	for _, err := range problems {
		f := mistakes("agents", err, "")
		list = append(list, slices.DeleteFunc(f, func(f Finding) bool { return slices.Contains(list, f) })...)
	}
	return list
}

// policy looks for rules that match nothing. Only if there seem to be some it loads what
// else may bring tools.
func policy(ctx context.Context, p *patient) []Finding {
	list, err := p.place.PolicyMistakes(nil)
	if err == nil && len(list) > 0 {
		list, err = p.place.PolicyMistakes(broughtTools(ctx, p))
	}
	if err != nil {
		return mistakes("policy", err, "")
	}
	var out []Finding
	for _, text := range list {
		out = append(out, warn("policy", text, ""))
	}
	return out
}

// broughtTools names the tools of extensions, as far as they can be loaded: the check of
// extensions says why not.
func broughtTools(ctx context.Context, p *patient) (names []string) {
	kinds, err := p.place.Kinds()
	if err != nil {
		return nil
	}
	for _, k := range kinds {
		for _, t := range extension.ToolsOf(ctx, k) {
			names = append(names, t.Name)
		}
	}
	return names
}

func taskList(_ context.Context, p *patient) []Finding {
	n, err := p.Tasks()
	switch {
	case err != nil:
		return mistakes("tasks", err, "")
	case n == 0:
		return nil
	}
	return []Finding{ok("tasks", extension.Count(n, "task"))}
}

// kinds are the checks of all kinds of extensions, one each.
func (p *patient) kinds() (list []check) {
	kinds, err := p.Bare, error(nil)
	if p.place != nil {
		kinds, err = p.place.Kinds()
	}
	if err != nil {
		wrong := func(context.Context, *patient) []Finding { return mistakes("extensions", err, "") }
		return []check{{"extensions", false, wrong}}
	}
	for _, k := range kinds {
		if k.Check == nil {
			continue
		}
		list = append(list, check{k.Name, true, func(ctx context.Context, p *patient) (found []Finding) {
			for _, f := range k.Check(ctx, p.Patience) {
				found = append(found, Finding{levels[f.Level], f.Subject, f.Text, f.Hint})
			}
			return found
		}})
	}
	return list
}

// levels are the levels of findings of extensions.
var levels = map[extension.Level]Level{extension.OK: OK, extension.Warn: Warn, extension.Error: Fail}
