package agent

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/tool"
)

// What a profile and a place tell the conversation. The composition root makes them.
type (
	Prompt         = conversation.Prompt
	PromptOrigins  = conversation.PromptOrigins
	Origin         = conversation.Origin
	HookData       = conversation.HookData
	HookInfo       = conversation.HookInfo
	SandboxState   = conversation.SandboxState
	ReadBeforeData = conversation.ReadBeforeData
	ResultLimit    = conversation.ResultLimit
)

// Profile is everything that depends on which agent and mode are active. It is
// made by Options.Resolve and not changed afterwards.
type Profile struct {
	Agent    string
	Mode     string   // Empty: none.
	Fallback []string // Agents to try when the provider fails for good.
	Prompt   Prompt
	Model    Model
	Tools    []tool.Tool // What the filters leave, Done included.
	Deferred []tool.Tool // Offered only once loaded.
	Settings Settings

	// Stale is asked before each model call whether the profile must be resolved
	// anew; it may wait for what is still starting. nil means never.
	Stale func(context.Context) bool
}

// Settings are the limits of a profile.
type Settings struct {
	MaxSteps    int  // Model calls per user turn.
	TokenBudget int  // Tokens in and out per session; 0 = unlimited.
	Serial      bool // Never run tools side by side.
	Result      ResultLimit
	Compaction  Compaction
	ReadBefore  bool // Reported in the snapshot; the guard enforces it.
	Title       Title
	Divisor     float64 // Bytes per token of the rough estimate; 0 = 4.
	InputShare  int     // Largest share of the window one input may take, in percent; 0 = unlimited.

	Subagent Subagent
}

// Subagent is what holds for agents that this one starts.
type Subagent struct {
	Agent    string // When a call names none; empty is the same agent.
	MaxSteps int    // 0 = as its own profile says.
}

// Title says how sessions get their titles. The zero value gives none.
type Title struct {
	Length int    // Longest title; 0 = no automatic title.
	Model  *Model // Who makes it; nil takes the first words of the user.
	Prompt string // Instructions; empty means the built-in ones.
}

// Compaction says when and how the history is made shorter.
type Compaction struct {
	Disabled     bool
	Threshold    float64 // Percent of the window at which it starts.
	MaxTokens    int     // Tokens at which it starts; wins over Threshold.
	KeepLast     int     // Messages that stay as they are.
	ResultLength int     // Characters of each tool result that the summary gets to see.
	Retries      []int   // The same for further attempts when the provider says that it is too long.
	Prompt       string  // Instructions for the summary; empty means the built-in ones.
	Model        *Model  // Who writes the summary; nil means the active model.
}

// threshold is when the history is made shorter by itself.
func (c *Compaction) threshold() conversation.Threshold {
	return conversation.Threshold{Percent: c.Threshold, Tokens: c.MaxTokens}
}

// all goes through the profile's tools, deferred or not.
func (p *Profile) all() iter.Seq[*tool.Tool] {
	return func(yield func(*tool.Tool) bool) {
		for _, list := range [][]tool.Tool{p.Tools, p.Deferred} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// listed is what the conversation knows about the profile's tools, in their order.
func (p *Profile) listed() []conversation.Tool {
	list := make([]conversation.Tool, 0, len(p.Tools)+len(p.Deferred))
	for t := range p.all() {
		summary, _, _ := strings.Cut(t.Description, "\n")
		list = append(list, conversation.Tool{
			Name: t.Name, Summary: summary, Deferred: len(list) >= len(p.Tools),
			Bytes: len(t.Name) + len(t.Description) + len(t.Usage) + len(t.Examples) + len(t.Schema.Raw()),
		})
	}
	return list
}

// among returns the tools of a part of listed.
func (p *Profile) among(part []conversation.Tool) []tool.Tool {
	out := make([]tool.Tool, 0, len(part))
	for t := range p.all() {
		if n := len(out); n < len(part) && part[n].Name == t.Name {
			out = append(out, *t)
		}
	}
	return out
}

// find returns the profile's tool of that name, deferred or not.
func (p *Profile) find(name string) (*tool.Tool, bool) {
	for t := range p.all() {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// deferred reports whether a tool must be loaded before use.
func (p *Profile) deferred(name string) bool {
	return slices.ContainsFunc(p.Deferred, func(t tool.Tool) bool { return t.Name == name })
}
