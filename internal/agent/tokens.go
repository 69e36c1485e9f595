package agent

import (
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// tokenScale corrects the rough estimate by what the provider reported: it
// learns how many real tokens one rough token of this conversation is.
type tokenScale struct {
	scale   float64 // 0 until the first report.
	divisor float64 // Bytes per token until then; 0 = 4.
	lastAPI int
}

// learn takes a report for a request whose rough size was raw.
func (t *tokenScale) learn(raw int, u provider.Usage) {
	if u.Input <= 0 {
		return
	}
	t.lastAPI = u.Input
	if raw > 0 {
		// Small requests are all overhead and say little about text.
		t.scale = min(max(float64(u.Input)/float64(raw), 0.25), 4)
	}
}

// real converts a rough count.
func (t *tokenScale) real(raw int) int {
	switch {
	case t.scale != 0:
		return int(float64(raw) * t.scale)
	case t.divisor > 0:
		return int(float64(raw) * 4 / t.divisor)
	}
	return raw
}

// size estimates the tokens of a text.
func (a *Agent) size(text string) int { return a.tokens.real(len(text) / 4) }

// rough is the rough size of the next request: prompt, history and tool schemas.
func (a *Agent) rough() int {
	n := len(a.system)/4 + a.hist.raw
	for _, t := range a.available() {
		n += toolTokens(&t)
	}
	return n
}

// toolTokens is the rough size of a tool's description and schema.
func toolTokens(t *tool.Tool) int {
	return (len(t.Name)+len(t.Description)+len(t.Usage)+len(t.Examples)+len(t.Schema.Raw()))/4 + 8
}

// tokenState describes how full the context window is.
func (a *Agent) tokenState() sdk.TokenState {
	s := sdk.TokenState{Estimate: a.tokens.real(a.rough()), LastAPI: a.tokens.lastAPI, Max: a.info.ContextLength}
	if s.Max > 0 {
		s.Percent = min(float64(s.Estimate)*100/float64(s.Max), 100)
	}
	return s
}
