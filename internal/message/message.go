// Package message is one entry of the conversation as the host keeps it: the
// SDK's message plus what only providers and the history need. It is not the
// history itself (package conversation), nor its storage (package session).
package message

import (
	"github.com/idelchi/aura/internal/media"
	"github.com/idelchi/aura/sdk"
)

// Roles of messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool"
)

// Types beyond those of the SDK. Neither is visible to transforms as a type of its own.
const (
	Ephemeral   = "ephemeral" // Sent once, then removed together with its call; never saved.
	DisplayOnly = "display"   // Shown and saved, never sent.
)

// Message is one entry of the conversation. A message that has entered the
// history is never changed again: whoever wants another text makes a new one.
type Message struct {
	sdk.Message
	Images   []Image   `json:"images,omitempty"`
	Thoughts []Thought `json:"thoughts,omitempty"` // Assistant messages: what the provider wants back.
	Failed   bool      `json:"failed,omitempty"`   // Tool messages: the result is an error.
	Eject    bool      `json:"eject,omitempty"`    // Removed after it has been sent once.
	Source   string    `json:"source,omitempty"`   // Injected and display-only messages: who said it.
}

// Image is an image in a message.
type Image = media.Image

// Thought is one piece of reasoning in the form in which its provider needs it
// again. Other providers ignore it; what a user reads is Message.Thinking.
type Thought struct {
	Provider  string `json:"provider"`            // Wire format that made it, for example "anthropic".
	ID        string `json:"id,omitempty"`        // Item ID, where the provider has one.
	CallID    string `json:"call_id,omitempty"`   // The tool call it belongs to, where it does.
	Text      string `json:"text,omitempty"`      // Plain text, where there is any.
	Signature string `json:"signature,omitempty"` // Proof of origin, or encrypted content.
	Redacted  bool   `json:"redacted,omitempty"`  // Signature holds a redacted block, Text is empty.
}

// Sent reports whether the message is part of what a model sees.
func (m *Message) Sent() bool { return m.Type != DisplayOnly }

// Saved reports whether the message is kept when the session is.
func (m *Message) Saved() bool { return m.Type != Ephemeral }

// Plain reports whether the message is text that the user or the model said:
// what Context.Turns lists.
func (m *Message) Plain() bool {
	return m.Type == sdk.TypeNormal && m.Content != "" && (m.Role == User || m.Role == Assistant)
}
