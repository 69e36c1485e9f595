package anthropic

import (
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// budgets are the tokens a level of thinking may take.
var budgets = map[string]int{"low": 4096, "medium": 12_288, "high": 32_768}

const (
	minBudget     = 1024   // The API accepts no smaller one.
	defaultOutput = 32_000 // max_tokens, which the API demands, where nothing else is known.
	room          = 4096   // What thinking leaves for the answer at least.
)

// family is what models have in common that the API does not tell.
type family struct {
	part   string // Part of the model name, dots written as dashes.
	output int    // Most output tokens.
	style  style

	between bool // Thinks between tool calls, but only with a beta.
}

type style int

const (
	budgeted    style = iota // thinking has a budget of tokens.
	adaptive                 // thinking has an effort; sampling settings are allowed without it.
	strict                   // Likewise, but sampling settings are always refused.
	thoughtless              // cannot think.
)

// families, the first match counts. A name that is none of these but a Claude is
// a newer model, and those are strict.
var families = []family{
	{"claude-3-5", 8192, thoughtless, false},
	{"claude-3-7", 64_000, budgeted, false},
	{"claude-3", 4096, thoughtless, false},
	{"claude-2", 4096, thoughtless, false},
	{"opus-4-5", 64_000, budgeted, true},
	{"opus-4-6", 128_000, adaptive, false},
	{"opus-4-7", 128_000, strict, false},
	{"opus-4-8", 128_000, strict, false},
	{"sonnet-4-6", 64_000, adaptive, false},
	{"opus-4", 32_000, budgeted, true},
	{"sonnet-4", 64_000, budgeted, true},
	{"haiku-4", 64_000, budgeted, true},
	{"claude", 128_000, strict, false},
}

// familyOf finds the family of a model; servers that imitate the API know budgets.
func familyOf(model string) family {
	name := strings.ReplaceAll(strings.ToLower(model), ".", "-")
	i := slices.IndexFunc(families, func(f family) bool { return strings.Contains(name, f.part) })
	if i < 0 {
		return family{style: budgeted}
	}
	return families[i]
}

// think fills in thinking, the token limit that must exceed it, and the sampling
// settings, which exclude it.
func (r *request) think(req *provider.Request) {
	f := familyOf(req.Model)
	g := &req.Generation
	r.MaxTokens = g.MaxOutputTokens
	if r.MaxTokens <= 0 {
		r.MaxTokens = f.limit(defaultOutput)
	}
	switch f.style {
	case budgeted:
		r.thinkBudget(req, f)
	case adaptive, strict:
		r.thinkEffort(req, f)
	}
	if !r.thinks() && f.style != strict {
		r.Temperature, r.TopP, r.TopK = g.Temperature, g.TopP, g.TopK
	}
}

func (f family) limit(n int) int {
	if f.output > 0 {
		return min(n, f.output)
	}
	return n
}

func (r *request) thinkBudget(req *provider.Request, f family) {
	budget := budgets[req.Think]
	if req.Generation.ThinkBudget > 0 && req.Think != "off" {
		budget = req.Generation.ThinkBudget
	}
	if budget == 0 || interrupted(req.Messages) {
		return
	}
	budget = max(budget, minBudget)
	if r.MaxTokens <= budget+room {
		answer := max(req.Generation.MaxOutputTokens, room)
		r.MaxTokens = f.limit(budget + answer)
		budget = min(budget, r.MaxTokens-room)
	}
	if budget < minBudget {
		return // The model cannot write enough to think at all.
	}
	r.Thinking = &thinking{Type: "enabled", Budget: budget}
}

func (r *request) thinkEffort(req *provider.Request, f family) {
	switch req.Think {
	case "low", "medium", "high":
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		r.OutputConfig = &output{Effort: req.Think}
		if req.Generation.MaxOutputTokens <= 0 {
			r.MaxTokens = f.limit(2 * defaultOutput)
		}
	case "off":
		// Some models cannot do without, and refuse the wish.
		if !strings.Contains(req.Model, "mythos") && !strings.Contains(req.Model, "fable") {
			r.Thinking = &thinking{Type: "disabled"}
		}
	}
}

// thinks reports whether the model is asked to think.
func (r *request) thinks() bool { return r.Thinking != nil && r.Thinking.Type != "disabled" }

// interrupted reports whether the running chain of tool calls began without thinking, as
// after a change of model or level. For the API the chain is one answer, which must begin
// with a thought; the later calls of it need none. The next message of the user
// allows thinking again.
func interrupted(history []provider.Message) bool {
	missing := false
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		switch {
		case m.Role == provider.RoleUser && m.Type != provider.TypeSynthetic:
			return missing
		case m.Role == provider.RoleAssistant && len(m.ToolCalls) > 0:
			missing = !slices.ContainsFunc(
				m.Thoughts,
				func(t provider.Thought) bool { return t.Provider == format && t.Signature != "" },
			)
		}
	}
	return missing
}
