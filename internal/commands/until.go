package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

const untilDetails = `The condition is checked before each round of actions. After N rounds, 10 unless
--max says otherwise, a condition that is still false is an error. Quotes, "not"
and actions are as for /assert.

  /until todo_done "Go on with the todo list."
  /until --max 3 bash:"go test ./..." "The tests fail. Fix them."`

// rounds is how often /until repeats unless --max says otherwise.
const rounds = 10

func until(ctx context.Context, s *Session, args string) error {
	limit, rest, err := cutMax(args)
	if err != nil {
		return err
	}
	t, err := parseTest(rest)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		holds, err := t.holds(ctx, s)
		if err != nil || holds {
			return err
		}
		if n == limit {
			not := ""
			if t.negated {
				not = "not "
			}
			return fmt.Errorf(
				"until: condition %q is still false after %d rounds (allow more with --max)",
				clip(not+t.expr.String(), 80),
				limit,
			)
		}
		if err := t.act(ctx, s); err != nil {
			return err
		}
	}
}

// cutMax takes `--max N` or `--max=N` from the beginning of args.
func cutMax(args string) (limit int, rest string, err error) {
	word, rest, _ := cutWord(strings.TrimLeft(args, blanks))
	value, inline := strings.CutPrefix(word, "--max=")
	switch {
	case inline:
	case word == "--max":
		value, rest, _ = cutWord(rest)
	case strings.HasPrefix(word, "--"):
		return 0, "", fmt.Errorf("until: unknown option %q (there is only --max N)", clip(word, 40))
	default:
		return rounds, args, nil
	}
	limit, err = strconv.Atoi(value)
	if err != nil || limit < 1 {
		return 0, "", fmt.Errorf("until: --max %q is not a whole number, 1 or greater", clip(value, 40))
	}
	return limit, rest, nil
}
