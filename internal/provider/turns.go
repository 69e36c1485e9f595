package provider

import (
	"strings"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// What is said in the user's name to servers that insist on turns.
const (
	// Opening is said by the user in front of a history that begins with the
	// assistant.
	Opening = "(The conversation begins with the assistant.)"
	// Resume is said by the user after an answer which nobody has replied to.
	Resume = "Continue."
)

// Note reports whether history[i] is text injected in the assistant's name to which
// no user message replies, and returns the note as which it is sent inside the
// user's turn. Left in the assistant's turn it would end the request, which models
// refuse or answer with nothing, or stand before the thinking of the next answer, where
// servers tolerate no text. The history keeps its role.
func Note(history []message.Message, i int) (string, bool) {
	m := &history[i]
	if m.Role != message.Assistant || m.Type != sdk.TypeSynthetic || len(m.ToolCalls) > 0 ||
		strings.TrimSpace(m.Content) == "" {
		return "", false
	}
	if i+1 < len(history) && history[i+1].Role == message.User {
		return "", false
	}
	return "<note from=\"assistant\">\n" + m.Content + "\n</note>", true
}
