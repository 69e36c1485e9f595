package openai

import (
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// maxAnswer is the longest answer that is taken, in bytes.
const maxAnswer = 64 << 20

// Names of the wire formats in provider.Thought.
const (
	thoughtChat      = "openai-chat"
	thoughtResponses = "openai-responses"
)

// answer collects a response while it streams in.
type answer struct {
	t        *provider.Transport
	on       func(provider.Delta)
	begun    func() // Notes that a call has begun.
	text     strings.Builder
	thinking strings.Builder
	calls    []*toolCall
	thoughts []provider.Thought
	usage    provider.Usage
	stop     string
	size     int
}

// toolCall is a call whose arguments arrive in pieces.
type toolCall struct {
	id, name string
	args     strings.Builder
}

// whole reports whether the arguments are complete.
func (c *toolCall) whole() bool {
	raw := c.args.String()
	// The last byte is cheap to ask first: this may happen for every piece.
	return strings.HasSuffix(raw, "}") && json.Valid([]byte(raw))
}

// newCall adds a call.
func (a *answer) newCall() *toolCall {
	a.begun()
	call := &toolCall{}
	a.calls = append(a.calls, call)
	return call
}

// grow counts n more bytes.
func (a *answer) grow(n int) error {
	if a.size += n; a.size > maxAnswer {
		return a.t.Fail(provider.Server, 0, "the answer is longer than %d MB", maxAnswer>>20)
	}
	return nil
}

func (a *answer) say(text string) error {
	if text == "" {
		return nil
	}
	a.text.WriteString(text)
	a.on(provider.Delta{Text: text})
	return a.grow(len(text))
}

func (a *answer) think(text string) error {
	if text == "" {
		return nil
	}
	a.thinking.WriteString(text)
	a.on(provider.Delta{Thinking: text})
	return a.grow(len(text))
}

// early is the error of a stream that ended before the answer did.
func (a *answer) early(what string) error {
	return a.t.Fail(provider.Network, 0, "stream ended early: %s", what)
}

// invalid is the error of an event that cannot be read.
func (a *answer) invalid(data []byte, err error) error {
	const limit = 120
	shown := string(data[:min(len(data), limit)])
	return a.t.Fail(provider.Server, 0, "invalid event in the stream: %v: %s", err, shown)
}

// response makes the complete answer.
func (a *answer) response() (*provider.Response, error) {
	r := &provider.Response{Usage: a.usage, Stop: a.stop}
	r.Message.Role, r.Message.Type = provider.RoleAssistant, provider.TypeNormal
	r.Message.Content, r.Message.Thinking = a.text.String(), a.thinking.String()
	seen := make(map[string]bool, len(a.calls))
	for _, call := range a.calls {
		if call.name == "" {
			return nil, a.t.Fail(provider.Server, 0, "the answer calls a tool without naming it")
		}
		id := call.id
		if id == "" || seen[id] {
			id = newID()
		}
		seen[id] = true
		args, ok := arguments(call.args.String())
		if !ok {
			if r.Malformed == nil {
				r.Malformed = make(map[string]string)
			}
			r.Malformed[id] = call.args.String()
		}
		r.Message.ToolCalls = append(r.Message.ToolCalls, provider.ToolCall{ID: id, Name: call.name, Arguments: args})
	}
	r.Message.Thoughts = a.thoughts
	switch {
	case len(a.calls) > 0 && (r.Stop == "" || r.Stop == "stop"):
		r.Stop = "tool_calls"
	case len(a.calls) == 0 && (r.Stop == "" || r.Stop == "tool_calls"):
		r.Stop = "stop"
	}
	return r, nil
}

// newID makes an ID for a call that came without one.
func newID() string { return "call_" + strings.ToLower(rand.Text()[:20]) }

// arguments reads the arguments of a call. Nothing at all stands for no arguments. Some
// servers encode the object twice.
func arguments(raw string) (map[string]any, bool) {
	raw = strings.TrimSpace(raw)
	if raw == "" || raw == "null" {
		return map[string]any{}, true
	}
	var args map[string]any
	if json.Unmarshal([]byte(raw), &args) == nil && args != nil {
		return args, true
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &inner) == nil &&
		json.Unmarshal([]byte(inner), &args) == nil && args != nil {
		return args, true
	}
	return map[string]any{}, false
}
