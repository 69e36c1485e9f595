// Package wire is what the clients of different wire formats do alike: put together
// the pieces of a streamed answer, and fit a history to servers that insist on turns.
// It knows no wire format itself.
package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

// madeUp begins the IDs of calls to which the server gave none.
const madeUp = "aura_"

// Builder collects one answer. It is used by one goroutine.
type Builder struct {
	on        func(provider.Delta)
	text      strings.Builder
	thinking  strings.Builder
	calls     []sdk.MessageToolCall
	ids       map[string]bool
	thoughts  []message.Thought
	malformed map[string]string
}

// NewBuilder makes a builder that hands text and thinking to on, which may be nil, as
// they arrive.
func NewBuilder(on func(provider.Delta)) *Builder { return &Builder{on: on} }

// Text adds a piece of text.
func (b *Builder) Text(s string) {
	if s == "" {
		return
	}
	b.text.WriteString(s)
	if b.on != nil {
		b.on(provider.Delta{Text: s})
	}
}

// Thinking adds a piece of thinking.
func (b *Builder) Thinking(s string) {
	if s == "" {
		return
	}
	b.thinking.WriteString(s)
	if b.on != nil {
		b.on(provider.Delta{Thinking: s})
	}
}

// Thought adds a piece of reasoning that the provider wants back.
func (b *Builder) Thought(t message.Thought) { b.thoughts = append(b.thoughts, t) }

// Call adds a tool call and returns its ID: id itself, or another one where id is
// empty or was used before. Empty arguments and null mean none; other arguments that
// are no JSON object are kept as malformed.
func (b *Builder) Call(id, name string, arguments []byte) string {
	if b.ids == nil {
		b.ids = map[string]bool{}
	}
	if id == "" || b.ids[id] {
		id = madeUp + rand.Text()
	}
	b.ids[id] = true
	args := map[string]any{}
	if raw := bytes.TrimSpace(arguments); len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			if b.malformed == nil {
				b.malformed = map[string]string{}
			}
			b.malformed[id] = string(arguments)
			args = nil
		}
		if args == nil {
			args = map[string]any{}
		}
	}
	b.calls = append(b.calls, sdk.MessageToolCall{ID: id, Name: name, Arguments: args})
	return id
}

// Response returns the finished answer. An empty stop is filled in: "tool_calls"
// where there are calls, else "stop".
func (b *Builder) Response(stop string, usage provider.Usage) *provider.Response {
	if stop == "" || stop == "stop" {
		stop = "stop"
		if len(b.calls) > 0 {
			stop = "tool_calls"
		}
	}
	r := &provider.Response{Malformed: b.malformed, Usage: usage, Stop: stop}
	r.Message.Role = message.Assistant
	r.Message.Type = sdk.TypeNormal
	r.Message.Content = b.text.String()
	r.Message.Thinking = b.thinking.String()
	r.Message.ToolCalls = b.calls
	r.Message.Thoughts = b.thoughts
	return r
}

// MadeUp reports whether a call ID was invented by a Builder, so that a server
// which knows IDs has never seen it.
func MadeUp(id string) bool { return strings.HasPrefix(id, madeUp) }

// Encode is JSON without the escaping for HTML, which would only make requests
// longer.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

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
