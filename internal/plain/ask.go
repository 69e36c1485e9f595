package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/terminal"
)

// Ask puts a question of the model to the user: one of its options by number, or
// several as in "1,3", or any text where there are none. Ctrl+C returns ErrInterrupt
// and the end of ctx its error, at once.
func (a *Asker) Ask(ctx context.Context, q agent.Question) ([]string, error) {
	end, err := a.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"%s %s\n",
		a.style.yellow("?"),
		strings.ReplaceAll(terminal.Visible(strings.TrimSpace(q.Text)), "\n", "\n  "),
	)
	for i, option := range q.Options {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, terminal.OneLine(option))
	}
	io.WriteString(a.opts.Out, b.String())
	prompt := "> "
	switch {
	case len(q.Options) > 0 && q.Multi:
		prompt = "numbers (such as 1,2): "
	case len(q.Options) > 0:
		prompt = "number: "
	}
	for {
		text, err := a.opts.Editor.read(ctx, prompt, "", false)
		if errors.Is(err, ErrInterrupt) {
			a.opts.Interrupt()
		}
		if err != nil {
			return nil, err
		}
		answer, err := choice(q, text)
		if err == nil {
			return answer, nil
		}
		fmt.Fprintf(a.opts.Out, "  %s\n", a.style.red(err.Error()))
	}
}

// choice reads the answer to a question.
func choice(q agent.Question, text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errors.New("an answer is needed (Ctrl+C cancels)")
	}
	if len(q.Options) == 0 {
		return []string{text}, nil
	}
	if slices.Contains(q.Options, text) {
		return []string{text}, nil
	}
	var chosen []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(q.Options) {
			return nil, fmt.Errorf("%q is not a number from 1 to %d", terminal.OneLine(word), len(q.Options))
		}
		if option := q.Options[n-1]; !slices.Contains(chosen, option) {
			chosen = append(chosen, option)
		}
	}
	if len(chosen) > 1 && !q.Multi {
		return nil, errors.New("only one can be chosen")
	}
	if len(chosen) == 0 {
		return nil, errors.New("an answer is needed (Ctrl+C cancels)")
	}
	return chosen, nil
}
