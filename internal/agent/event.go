package agent

import (
	"time"

	"github.com/idelchi/aura/internal/provider"
)

// EventKind says what an Event tells.
type EventKind string

// What happens during a session, as faces see it.
const (
	TurnStarted  EventKind = "turn_start" // Text: what the user said.
	TextDelta    EventKind = "text"       // Text: a piece of the answer.
	ThoughtDelta EventKind = "thinking"   // Text: a piece of the thinking.
	Answered     EventKind = "answer"     // Text: a complete answer, as streamed.
	Restarted    EventKind = "restart"    // The answer that was being streamed begins anew. Text: why.
	// The request is sent again. Text: why. Duration: how long is waited before.
	Retrying     EventKind = "retry"
	ToolStarted  EventKind = "tool_start"   // Tool, CallID, Args.
	ToolOutput   EventKind = "tool_output"  // Tool, CallID, Text: live output.
	ToolFinished EventKind = "tool_end"     // Tool, CallID, Text: result, Failed, Duration.
	Injected     EventKind = "injected"     // Text, Source: a handler said something to the model.
	Noticed      EventKind = "notice"       // Text, Source: something for the user only.
	Compacted    EventKind = "compaction"   // Text: a line about what was done.
	Switched     EventKind = "agent_switch" // Text: new agent. Source: reason.
	TurnEnded    EventKind = "turn_end"     // Usage of the turn, Duration, Failed, Cut.
)

// Usage is what model calls cost, as events report it.
type Usage = provider.Usage

// Event is something that happened, for faces to show. Events of one agent come
// one at a time, in order.
type Event struct {
	Kind     EventKind      `json:"type"`
	Agent    string         `json:"agent,omitempty"` // Set for events of sub-agents.
	Text     string         `json:"text,omitempty"`
	Tool     string         `json:"tool,omitempty"`
	CallID   string         `json:"call_id,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
	Source   string         `json:"source,omitempty"`
	Failed   bool           `json:"failed,omitempty"`
	Cut      bool           `json:"cut,omitempty"` // The last answer ended at the output limit.
	Duration time.Duration  `json:"duration,omitempty"`
	Usage    *Usage         `json:"usage,omitempty"`
}
