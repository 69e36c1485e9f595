package agent

import (
	"context"
	"slices"

	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
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

// Model is which model a profile talks to, and how.
type Model struct {
	Provider   string // Name in the configuration.
	Client     provider.Client
	Name       string
	Think      string // "off", "low", "medium", "high"; empty leaves it to the server.
	Context    int    // Overrides the context window; 0 takes the model's own.
	Generation provider.Generation
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

// ResultLimit bounds what tool results may cost. The zero value is no limit.
type ResultLimit struct {
	Tokens int // Most tokens of one result.
	// Most percent of the window that may be full afterwards; counts in place of Tokens where the window is known.
	Percent float64
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

// find returns the profile's tool of that name, deferred or not.
func (p *Profile) find(name string) (tool.Tool, bool) {
	for _, list := range [][]tool.Tool{p.Tools, p.Deferred} {
		for _, t := range list {
			if t.Name == name {
				return t, true
			}
		}
	}
	return tool.Tool{}, false
}

// deferred reports whether a tool must be loaded before use.
func (p *Profile) deferred(name string) bool {
	return slices.ContainsFunc(p.Deferred, func(t tool.Tool) bool { return t.Name == name })
}

// apply lays what was configured by hand over what the server says of the model.
func (m *Model) apply(info sdk.ModelInfo) sdk.ModelInfo {
	info.Name = m.Name
	if info.Name == "" {
		info.Name = "unknown"
	}
	if m.Context > 0 {
		info.ContextLength = m.Context
	}
	return info
}
