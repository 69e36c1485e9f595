package sdk

import "time"

// Kinds of messages, the values of Message.Type.
const (
	TypeNormal    = "normal"    // Said by the user, the model or a tool.
	TypeSynthetic = "synthetic" // Injected by the host or a handler.
)

// Message is one message of the conversation as a transform sees it.
type Message struct {
	ID         string            `json:"id"`   // Positional: m0001, m0002, ... within one call.
	Role       string            `json:"role"` // "user", "assistant", "system" or "tool".
	Content    string            `json:"content"`
	Thinking   string            `json:"thinking,omitempty"`
	ToolName   string            `json:"tool_name,omitempty"`    // Tool messages: the tool that answered.
	ToolCallID string            `json:"tool_call_id,omitempty"` // Tool messages: the call that is answered.
	ToolCalls  []MessageToolCall `json:"tool_calls,omitempty"`   // Assistant messages.
	Tokens     int               `json:"tokens,omitempty"`       // Estimate.
	Type       string            `json:"type,omitempty"`         // TypeNormal or TypeSynthetic.
	CreatedAt  time.Time         `json:"created_at,omitzero"`
}

// MessageToolCall is a call the model asked for.
type MessageToolCall struct {
	ID        string         `json:"id"` // As the provider named it.
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}
