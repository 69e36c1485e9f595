package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/skills"
)

const skillsDetails = `/skills lists the skills; the model fetches them by itself when they fit.
/skills show NAME prints one.
/skills use NAME [request] sends one to the model now, with a request. Skills marked
"manual" are used only this way.`

func manageSkills(ctx context.Context, s *Session, args string) error {
	var list []skills.Skill
	if s.Skills != nil {
		list = s.Skills()
	}
	verb, rest, _ := cutWord(args)
	name, request, _ := cutWord(rest)
	switch {
	case verb == "" || verb == "list" && rest == "":
		s.Print(listSkills(list))
		return nil
	case (verb == "show" || verb == "use") && name != "":
		skill, err := skills.Get(list, name)
		if err != nil {
			return err
		}
		if verb == "show" {
			s.Print(skill.Text())
			return nil
		}
		_, err = s.Agent.Send(ctx, agent.Input{Text: strings.TrimSpace(skill.Text() + "\n\n" + request)})
		return err
	}
	return errors.New("usage: /skills [show NAME | use NAME [request]]")
}

func listSkills(list []skills.Skill) string {
	if len(list) == 0 {
		return "there are no skills (put one into .aura/skills)"
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		mark := ""
		if s.Manual {
			mark = "manual"
		}
		rows[i] = []string{s.Name, s.Source, mark, clip(s.Description, 80)}
	}
	return columns("", rows)
}
