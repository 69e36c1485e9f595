package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/idelchi/aura/internal/condition"
)

const assertDetails = `The first word in double quotes begins the actions; everything before it is the
condition. Each action is processed as if you had typed it, in order; the first
that fails ends it. Nothing happens if the condition is false. A leading "not"
negates the whole condition.

  /assert todo_empty "/auto on"
  /assert not auto and todo_pending "/auto on" "Go on with the todo list."
  /assert bash:"go vet ./... && go test ./..." "Commit this."

Inside quotes \" is a quote and \\ a backslash.`

func assert(ctx context.Context, s *Session, args string) error {
	t, err := parseTest(args)
	if err != nil {
		return err
	}
	holds, err := t.holds(ctx, s)
	if err != nil || !holds {
		return err
	}
	return t.act(ctx, s)
}

// test is a condition with what to do about it.
type test struct {
	negated bool
	expr    *condition.Expr
	actions []string
}

// parseTest reads `[not] <condition> "action"...`.
func parseTest(args string) (test, error) {
	source, actions, err := splitActions(args)
	if err != nil {
		return test{}, err
	}
	t := test{actions: actions}
	// The first "not" stands for the whole expression: condition.Parse would take
	// it for the first term only.
	if word, rest, _ := cutWord(source); word == "not" {
		t.negated, source = true, rest
	}
	if source == "" {
		return test{}, errors.New(`condition missing: write [not] <condition> "action"...`)
	}
	if t.expr, err = condition.Parse(source); err != nil {
		return test{}, err
	}
	if len(actions) == 0 {
		return test{}, errors.New(`action missing: write it in double quotes after the condition`)
	}
	return t, nil
}

// holds evaluates the condition now. A cancelled ctx proves nothing either way.
func (t *test) holds(ctx context.Context, s *Session) (bool, error) {
	s.Agent.ResolveModel(ctx)
	snap := s.Agent.Snapshot()
	result := t.expr.Eval(ctx, &snap, s.Shell)
	return result != t.negated, ctx.Err()
}

// act processes the actions in order.
func (t *test) act(ctx context.Context, s *Session) error {
	for _, a := range t.actions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Submit(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// cutWord cuts text after its first word and drops the blanks that follow.
func cutWord(text string) (word, rest string, found bool) {
	i := strings.IndexAny(text, blanks)
	if i < 0 {
		return text, "", false
	}
	return text[:i], strings.TrimLeft(text[i:], blanks), true
}
