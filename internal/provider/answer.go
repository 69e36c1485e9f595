package provider

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// madeUp begins the IDs of calls to which the server gave none.
const madeUp = "aura_"

// Builder puts one streamed answer together from its pieces. It is used by one goroutine.
type Builder struct {
	on        func(Delta)
	text      strings.Builder
	thinking  strings.Builder
	calls     []sdk.MessageToolCall
	ids       map[string]bool
	thoughts  []message.Thought
	malformed map[string]string
}

// NewBuilder makes a builder that hands text and thinking to on, which may be nil, as
// they arrive.
func NewBuilder(on func(Delta)) *Builder { return &Builder{on: on} }

// Text adds a piece of text.
func (b *Builder) Text(s string) {
	if s == "" {
		return
	}
	b.text.WriteString(s)
	if b.on != nil {
		b.on(Delta{Text: s})
	}
}

// Thinking adds a piece of thinking.
func (b *Builder) Thinking(s string) {
	if s == "" {
		return
	}
	b.thinking.WriteString(s)
	if b.on != nil {
		b.on(Delta{Thinking: s})
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
func (b *Builder) Response(stop string, usage Usage) *Response {
	if stop == "" || stop == "stop" {
		stop = "stop"
		if len(b.calls) > 0 {
			stop = "tool_calls"
		}
	}
	r := &Response{Malformed: b.malformed, Usage: usage, Stop: stop}
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
