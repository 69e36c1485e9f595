package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/idelchi/aura/internal/agent"
)

const skillsDetails = `/skills lists the skills; the model fetches them by itself when they fit.
/skills show NAME prints one.
/skills use NAME [request] sends one to the model now, with a request. Skills marked
"manual" are used only this way.`

func manageSkills(ctx context.Context, s *Session, args string) error {
	verb, rest, _ := cutWord(args)
	name, request, _ := cutWord(rest)
	switch {
	case verb == "" || verb == "list" && rest == "":
		s.Print(s.Skills.Table())
		return nil
	case (verb == "show" || verb == "use") && name != "":
		text, err := s.Skills.Text(name)
		if err != nil {
			return err
		}
		if verb == "show" {
			s.Print(text)
			return nil
		}
		_, err = s.Agent.Send(ctx, agent.Input{Text: strings.TrimSpace(text + "\n\n" + request)})
		return err
	}
	return errors.New("usage: /skills [show NAME | use NAME [request]]")
}
