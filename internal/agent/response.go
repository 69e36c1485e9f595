package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// knownStops are the reasons for the end of an answer that the loop knows.
var knownStops = []string{"stop", "tool_calls", "length"}

// response is an answer of the model with what is needed to say what is wrong with it.
type response struct {
	*provider.Response
	model  *Model
	window int // 0 if it is not known.
}

// blank reports whether there is no text.
func (r response) blank() bool { return strings.TrimSpace(r.Message.Content) == "" }

// broken reports whether calls came that could not be read.
func (r response) broken() bool { return len(r.Malformed) > 0 || r.Broken != "" }

// limit names what the answer was cut at, and what helps.
func (r response) limit() string {
	if r.window > 0 && r.Usage.Input+r.Usage.Output >= r.window {
		return fmt.Sprintf("the end of the context window of %d tokens: make room with /compact", r.window)
	}
	size := ""
	if n := r.model.Generation.MaxOutputTokens; n > 0 {
		size = fmt.Sprintf(" of %d tokens", n)
	}
	return fmt.Sprintf("the output limit%s: raise it with model.generation.max_output_tokens in the agent", size)
}

// explainEmpty says why there was neither text nor a call, as far as it is known.
func (r response) explainEmpty() string {
	switch {
	case r.Cut() && r.Message.Thinking != "":
		return "thinking went on up to " + r.limit() + ", or think less (--think low)"
	case r.Cut():
		return "it was cut at " + r.limit()
	case !slices.Contains(knownStops, r.Stop):
		return fmt.Sprintf("neither text nor tool calls (the server says %q)", r.Stop)
	}
	return "neither text nor tool calls"
}

// brokenError is the error of a model whose tool calls could not be read n times in a row.
func (r response) brokenError(n int) error {
	if r.Cut() {
		return fmt.Errorf("%s was cut %d times in a row in the middle of a tool call, the last time at %s",
			r.model.Name, n, r.limit())
	}
	return fmt.Errorf("%s sent tool calls that are not valid JSON %d times in a row", r.model.Name, n)
}
