package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/commands"
)

// turns are what a run works through.
type turns struct {
	prompts []string
	piped   string // What came on standard input beside the prompts.
}

// turn is one prompt with what goes to the model behind it.
type turn struct{ prompt, piped string }

// readTurns reads what the run is to do; "-" and no prompt at all mean standard input.
// If neither is given, what is piped in goes along with a prompt: that of `git diff |
// aura run "review this"`. Built-in commands never take it.
func readTurns(ctx context.Context, in stdin, args []string, wait time.Duration) (turns, error) {
	if len(args) == 0 {
		if in.isTerminal() {
			return turns{}, &usageError{errors.New(`no prompt: give one as an argument or on standard input`)}
		}
		args = []string{"-"}
	}
	t := turns{prompts: slices.Clone(args)}
	for i, arg := range args {
		if arg == "-" {
			text, err := in.read(ctx, func() {}, 0)
			if err != nil {
				return turns{}, err
			}
			t.prompts[i] = strings.TrimSpace(text)
		}
		if strings.TrimSpace(t.prompts[i]) == "" {
			return turns{}, &usageError{errors.New("the prompt is empty")}
		}
	}
	if wait == 0 || slices.Contains(args, "-") || !slices.ContainsFunc(t.prompts, notBuiltin) {
		return t, nil
	}
	limit, ok := in.hasInput(wait)
	if !ok {
		return t, nil
	}
	text, err := in.read(ctx, func() {
		in.warn("waiting for standard input (</dev/null or --stdin-wait 0: go on without it)")
	}, limit)
	if strings.TrimSpace(text) != "" {
		t.piped = strings.Trim(text, "\r\n")
	}
	return t, err
}

func notBuiltin(prompt string) bool {
	name, _, command := commands.Parse(prompt)
	if !command {
		return true
	}
	_, err := commands.Find(commands.Builtin(), name)
	return err != nil
}

// list gives what was piped in to the first prompt that takes it and says so: it may be
// the rest of a list or script that a shell around aura wanted to read.
func (t turns) list(a *app.App, warn func(string)) []turn {
	list := make([]turn, len(t.prompts))
	for i, p := range t.prompts {
		list[i].prompt = p
	}
	if t.piped == "" {
		return list
	}
	i := slices.IndexFunc(t.prompts, a.Commands().Takes)
	if i < 0 {
		warn(fmt.Sprintf("standard input (%d B) is not used: no prompt takes it", len(t.piped)))
		return list
	}
	warn(fmt.Sprintf("standard input (%d B) goes with the prompt", len(t.piped)))
	list[i].piped = t.piped
	return list
}
