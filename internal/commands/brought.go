package commands

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
)

// All lists the commands of a session: the built-in ones, those that people wrote, then
// those that extensions bring. Where two have the same name, the earlier one counts;
// hidden are the others.
func All(custom []Text, brought []tool.Command) (all, hidden []Command) {
	more := make([]Command, len(brought))
	for i, c := range brought {
		more[i] = fromExtension(c)
	}
	return Merge(Builtin(), Custom(custom), more)
}

// Hidden tells the user about a command that does not count because of others.
func Hidden(c Command, all []Command) (source, text string) {
	kind, name, _ := strings.Cut(c.Source, " ")
	owner, err := Find(all, c.Name)
	if err != nil {
		return "", ""
	}
	by := cmp.Or(owner.Source, "the built-in one")
	switch kind {
	case "plugin":
		return "plugins", fmt.Sprintf("command /%s of plugin %s is hidden by %s", c.Name, name, by)
	case "extension":
		source = lifecycle.Source{Kind: lifecycle.Extension, Name: name}.String()
		return source, fmt.Sprintf("command /%s is hidden by %s", c.Name, by)
	case "custom":
		return "commands", fmt.Sprintf("%s: there is another command /%s, which comes first (give this one "+
			"another name)",
			c.Source, c.Name)
	}
	return kind, fmt.Sprintf("command /%s is hidden by %s", c.Name, by)
}

// fromExtension makes a slash command of what an extension declares.
func fromExtension(c tool.Command) Command {
	out := Command{
		Name: c.Name, Description: c.Description, Source: strings.TrimSpace(c.Source.Kind + " " + c.Source.Name),
		Raw: c.Source.Kind == "plugin",
	}
	for _, h := range c.Hints {
		if !strings.HasPrefix(h, "[") && !strings.HasPrefix(h, "<") {
			h = "[" + h + "]"
		}
		out.Hints = append(out.Hints, h)
	}
	run := func(ctx context.Context, s *Session, args string) (agent.Input, error) {
		if c.Prompt != nil {
			r, err := c.Prompt(ctx, args)
			if err != nil {
				return agent.Input{}, fmt.Errorf("/%s: %w", c.Name, err)
			}
			return agent.Input{Text: r.Text, Images: r.Images}, nil
		}
		s.Agent.ResolveModel(ctx)
		r, err := c.Run(ctx, args, s.Agent.Snapshot())
		if err != nil {
			return agent.Input{}, fmt.Errorf("/%s: %w", c.Name, err)
		}
		if r.Output != "" && !c.Silent {
			s.Print(r.Output)
		}
		return agent.Input{Text: r.Output}, nil
	}
	if c.Forward || c.Prompt != nil {
		out.Prompt = run
		return out
	}
	out.Run = func(ctx context.Context, s *Session, args string) error {
		_, err := run(ctx, s, args)
		return err
	}
	return out
}
