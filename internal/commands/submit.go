package commands

import (
	"context"

	"github.com/idelchi/aura/internal/agent"
)

// Process processes one input of the user: a slash command, or something for the model.
// piped is text that was piped in with it, which goes to the model behind what the input
// sends there; see Takes.
func (s *Session) Process(ctx context.Context, input, piped string) error {
	s.Agent.CountInteraction()
	name, args, ok := Parse(input)
	if !ok {
		_, err := s.Agent.Send(ctx, agent.Input{Text: WithPiped(input, piped)})
		return err
	}
	c, err := Find(s.Commands(), name)
	if err != nil {
		return err
	}
	if c.Raw {
		args = Typed(input)
	}
	return c.Call(ctx, s, args, piped)
}

// Takes reports whether an input sends something to the model that piped text can go with.
func (s *Session) Takes(input string) bool {
	name, _, ok := Parse(input)
	if !ok {
		return true
	}
	c, err := Find(s.Commands(), name)
	return err == nil && c.Prompt != nil
}

// Rendered is what an input sends to the model, as far as that can be told without
// running anything: custom commands are expanded, other commands stay as they are.
func (s *Session) Rendered(ctx context.Context, input, piped string) (string, error) {
	if name, args, ok := Parse(input); ok {
		if c, err := Find(s.Commands(), name); err == nil && c.Template {
			in, err := c.Prompt(ctx, s, args)
			return WithPiped(in.Text, piped), err
		}
	}
	return WithPiped(input, piped), nil
}
