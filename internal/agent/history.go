package agent

import (
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// history is the conversation so far, without the system prompt. Appending and
// asking for its size cost the same however long it is.
type history struct {
	msgs  []message.Message
	turns []sdk.Turn // What Context.Turns lists; a prefix handed out is never changed.
	raw   int        // Sum of the raw token estimates.

	formed former // What a model sees of msgs, kept up to date as it grows.

	// volatile is the index of the first message that must go after it has been
	// sent once; -1 if there is none. Such messages are always near the end.
	volatile int
}

func newHistory(msgs []message.Message) *history {
	h := &history{}
	h.reset(msgs)
	return h
}

// reset replaces the whole history.
func (h *history) reset(msgs []message.Message) {
	*h = history{volatile: -1}
	for i := range msgs {
		h.add(msgs[i])
	}
}

// add appends a message.
func (h *history) add(m message.Message) {
	if m.Tokens == 0 {
		m.Tokens = roughTokens(&m)
	}
	if m.Plain() {
		h.turns = append(h.turns, sdk.Turn{Role: m.Role, Content: m.Content})
	}
	if h.volatile < 0 && (m.Type == message.Ephemeral || m.Eject) {
		h.volatile = len(h.msgs)
	}
	if m.Sent() {
		h.raw += m.Tokens
	}
	h.msgs = append(h.msgs, m)
}

// prune removes the messages that were to be sent once: ejected ones, and
// ephemeral results together with their calls.
func (h *history) prune() {
	if h.volatile < 0 {
		return
	}
	gone := map[string]bool{} // Calls whose results go.
	for _, m := range h.msgs[h.volatile:] {
		if m.Type == message.Ephemeral && m.Role == message.Tool {
			gone[m.ToolCallID] = true
		}
	}
	// The calls are before their results.
	from := h.volatile
	for open := len(gone) - h.calls(from, len(h.msgs), gone); open > 0 && from > 0; {
		from--
		open -= h.calls(from, from+1, gone)
	}
	tail := slices.Clone(h.msgs[from:])
	for _, m := range tail {
		if m.Sent() {
			h.raw -= m.Tokens
		}
	}
	h.msgs = h.msgs[:from]
	h.formed.rewind(from)
	h.volatile = -1
	for _, m := range tail {
		if m.Eject || m.Type == message.Ephemeral {
			continue
		}
		if m.Role == message.Assistant && len(m.ToolCalls) > 0 {
			kept := slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c sdk.MessageToolCall) bool { return gone[c.ID] })
			if len(kept) == 0 && m.Content == "" {
				continue
			}
			if len(kept) < len(m.ToolCalls) {
				m.ToolCalls, m.Thoughts, m.Tokens = kept, dropThoughts(m.Thoughts, gone), 0
			}
		}
		if m.Sent() {
			if m.Tokens == 0 {
				m.Tokens = roughTokens(&m)
			}
			h.raw += m.Tokens
		}
		h.msgs = append(h.msgs, m)
	}
}

// calls counts the calls with one of the IDs in a range of messages.
func (h *history) calls(from, to int, ids map[string]bool) (n int) {
	for i := from; i < to; i++ {
		for _, c := range h.msgs[i].ToolCalls {
			if ids[c.ID] {
				n++
			}
		}
	}
	return n
}

// dropThoughts removes the thoughts that belong to calls which are gone.
func dropThoughts(ts []message.Thought, gone map[string]bool) []message.Thought {
	return slices.DeleteFunc(slices.Clone(ts), func(t message.Thought) bool { return t.CallID != "" && gone[t.CallID] })
}

// sent returns the messages a model sees, well formed: every call is answered
// exactly once, directly after the message that asked for it, in order. Answers
// without a call and calls without an answer are left out. The result must not
// be changed.
func (h *history) sent() []message.Message { return h.formed.take(h.msgs) }

// wellFormed is the rule of history.sent for any list of messages.
func wellFormed(msgs []message.Message) []message.Message { return new(former).take(msgs) }

// former makes a growing list of messages well formed. It works through each
// message once, however often it is asked, so that a long conversation costs no
// more per turn than a short one.
type former struct {
	out   []message.Message
	marks []int // Length of out before each message that is settled.
}

// rewind forgets what came from the messages at and after index n.
func (f *former) rewind(n int) {
	if n < len(f.marks) {
		// Clipped, because what was handed out may still be read.
		f.out, f.marks = slices.Clip(f.out[:f.marks[n]]), f.marks[:n]
	}
}

// take returns the well-formed list for msgs, of which the settled ones are the
// same as before.
func (f *former) take(msgs []message.Message) []message.Message {
	if f.out == nil {
		f.out = make([]message.Message, 0, len(msgs))
	}
	out := f.out
	for i := len(f.marks); i < len(msgs); i++ {
		settled := len(f.marks) == i // Nothing before it waits for answers.
		m, before := msgs[i], len(out)
		if m.Sent() && m.Role != message.Tool { // Answers are taken with their calls.
			var complete bool
			out, complete = appendAnswered(out, m, msgs[i+1:])
			settled = settled && complete
		}
		switch {
		case settled:
			f.out, f.marks = out, append(f.marks, before)
		case len(f.marks) == i: // The first that is not: what is handed out now will not be written over.
			out = slices.Clone(out)
		}
	}
	return slices.Clip(out)
}

// appendAnswered appends m and the answers to its calls. complete is false while
// answers may still come.
func appendAnswered(
	out []message.Message,
	m message.Message,
	after []message.Message,
) (_ []message.Message, complete bool) {
	if len(m.ToolCalls) == 0 {
		return append(out, m), true
	}
	answers, closed := answersOf(&m, after)
	if len(answers) == len(m.ToolCalls) {
		return append(append(out, m), answers...), true
	}
	m.ToolCalls = slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c sdk.MessageToolCall) bool {
		return !slices.ContainsFunc(answers, func(a message.Message) bool { return a.ToolCallID == c.ID })
	})
	if len(m.ToolCalls) == 0 && m.Content == "" {
		return out, closed
	}
	return append(append(out, m), answers...), closed
}

// answersOf finds the answers to the calls of m among the messages after it, up
// to the next message with calls, in the order of the calls. closed tells whether
// there is such a message, so that no more answers can come.
func answersOf(m *message.Message, after []message.Message) (answers []message.Message, closed bool) {
	end := slices.IndexFunc(after, func(x message.Message) bool { return len(x.ToolCalls) > 0 && x.Sent() })
	if closed = end >= 0; !closed {
		end = len(after)
	}
	answers = make([]message.Message, 0, len(m.ToolCalls))
	for _, c := range m.ToolCalls {
		if i := slices.IndexFunc(after[:end], func(x message.Message) bool {
			return x.Role == message.Tool && x.Sent() && x.ToolCallID == c.ID
		}); i >= 0 {
			answers = append(answers, after[i])
		}
	}
	return answers, closed
}

// transformable renders messages, with the system prompt first, in the form
// transforms see: positional IDs, and only the public types.
func transformable(system string, msgs []message.Message) []sdk.Message {
	out := make([]sdk.Message, 0, len(msgs)+1)
	out = append(
		out,
		sdk.Message{ID: "m0001", Role: message.System, Content: system, Type: sdk.TypeNormal, Tokens: len(system) / 4},
	)
	for i := range msgs {
		m := msgs[i].Message
		m.ID = fmt.Sprintf("m%04d", i+2)
		if m.Type != sdk.TypeSynthetic {
			m.Type = sdk.TypeNormal
		}
		out = append(out, m)
	}
	return out
}

// checkTransformed says what is wrong with the array a transform returned.
func checkTransformed(msgs []sdk.Message) error {
	if len(msgs) == 0 {
		return fmt.Errorf("transformed messages: the array is empty")
	}
	if msgs[0].Role != message.System {
		return fmt.Errorf(
			"transformed messages: the first message must be the system prompt, not role %q",
			msgs[0].Role,
		)
	}
	called := map[string]bool{}
	for _, m := range msgs {
		for _, c := range m.ToolCalls {
			called[c.ID] = true
		}
		if m.Role == message.Tool && !called[m.ToolCallID] {
			return fmt.Errorf("transformed messages: the result of call %q has no call before it", m.ToolCallID)
		}
	}
	return nil
}

// mergeTransformed turns what a transform returned back into messages. For known
// IDs only text and thinking are taken over, so that a transform cannot damage
// what it does not see: images, signatures, calls.
func mergeTransformed(msgs []sdk.Message, original []message.Message) (system string, out []message.Message) {
	byID := make(map[string]*message.Message, len(original))
	for i := range original {
		byID[fmt.Sprintf("m%04d", i+2)] = &original[i]
	}
	system = msgs[0].Content
	for _, m := range msgs[1:] {
		o, known := byID[m.ID]
		if !known {
			out = append(out, message.Message{Message: m})
			continue
		}
		c := *o
		c.Content = m.Content
		if c.Thinking != m.Thinking {
			c.Thinking = m.Thinking
			c.Thoughts = nil // A signature only proves the text it was made for.
		}
		out = append(out, c)
	}
	return system, wellFormed(out)
}

// roughTokens estimates the size of a message without asking anybody: a token is
// about four bytes of text. Providers correct the scale (see tokens.go).
func roughTokens(m *message.Message) int {
	n := len(m.Content) + len(m.Thinking) + 16
	for _, c := range m.ToolCalls {
		n += len(c.Name) + argsSize(c.Arguments)
	}
	return n/4 + len(m.Images)*800
}

// argsSize is about the number of bytes of the arguments as JSON.
func argsSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case map[string]any:
		n := 2
		for k, x := range v {
			n += len(k) + 4 + argsSize(x)
		}
		return n
	case []any:
		n := 2
		for _, x := range v {
			n += 1 + argsSize(x)
		}
		return n
	}
	return 6
}
