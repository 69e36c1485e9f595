package agent

import (
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

// stops are the reasons for the end of an answer that the loop knows.
var stops = []string{"stop", "tool_calls", "length"}

// limit names what an answer was cut at, and what helps.
func (a *Agent) limit(resp *provider.Response) string {
	if window := a.info.ContextLength; window > 0 && resp.Usage.Input+resp.Usage.Output >= window {
		return fmt.Sprintf("the end of the context window of %d tokens: make room with /compact", window)
	}
	size := ""
	if n := a.profile.Model.Generation.MaxOutputTokens; n > 0 {
		size = fmt.Sprintf(" of %d tokens", n)
	}
	return fmt.Sprintf("the output limit%s: raise it with model.generation.max_output_tokens in the agent", size)
}

// whyEmpty says why there was neither text nor a call, as far as it is known.
func (a *Agent) whyEmpty(resp *provider.Response) string {
	switch {
	case resp.Cut() && resp.Message.Thinking != "":
		return "thinking went on up to " + a.limit(resp) + ", or think less (--think low)"
	case resp.Cut():
		return "it was cut at " + a.limit(resp)
	case !slices.Contains(stops, resp.Stop):
		return fmt.Sprintf("neither text nor tool calls (the server says %q)", resp.Stop)
	}
	return "neither text nor tool calls"
}

// hopeless is the error of a model whose tool calls could not be read n times in a row.
func (a *Agent) hopeless(resp *provider.Response, n int) error {
	if resp.Cut() {
		return fmt.Errorf(
			"%s was cut %d times in a row in the middle of a tool call, the last time at %s",
			a.profile.Model.Name,
			n,
			a.limit(resp),
		)
	}
	return fmt.Errorf("%s sent tool calls that are not valid JSON %d times in a row", a.profile.Model.Name, n)
}

// mendCall asks the model to repeat a call that the server kept back, and reports
// whether there was one.
func (a *Agent) mendCall(resp *provider.Response) bool {
	if resp.Broken == "" {
		return false
	}
	a.mu.Lock()
	a.stats.parseRetries++
	a.mu.Unlock()
	a.append(message.Message{
		Message: sdk.Message{
			Role:    message.User,
			Type:    sdk.TypeSynthetic,
			Content: "Your last tool call could not be read and was not made: " + resp.Broken + "\nSend it again as a proper call of one of the tools.",
		},
		Eject: true, Source: "model",
	})
	return true
}
