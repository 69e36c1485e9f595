package conversation

import (
	"slices"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// pairing is the well-formed view of a growing list of messages: calls stand together with
// their answers. It works through each message once, however often it is asked, so that a
// long conversation costs no more per turn than a short one.
type pairing struct {
	out   []message.Message
	marks []int // Length of out before each message that is settled.
}

// wellFormed is the rule of History.Sent for any list of messages.
func wellFormed(msgs []message.Message) []message.Message { return new(pairing).update(msgs) }

// rewind forgets what came from the messages at and after index n.
func (p *pairing) rewind(n int) {
	if n < len(p.marks) {
		// Clipped, because what was handed out may still be read.
		p.out, p.marks = slices.Clip(p.out[:p.marks[n]]), p.marks[:n]
	}
}

// update returns the well-formed list for msgs, of which the settled ones are the same as
// before.
func (p *pairing) update(msgs []message.Message) []message.Message {
	if p.out == nil {
		p.out = make([]message.Message, 0, len(msgs))
	}
	out := p.out
	for i := len(p.marks); i < len(msgs); i++ {
		settled := len(p.marks) == i // Nothing before it waits for answers.
		m, before := msgs[i], len(out)
		if m.Sent() && m.Role != message.Tool { // Answers are taken with their calls.
			var complete bool
			out, complete = appendAnswered(out, m, msgs[i+1:])
			settled = settled && complete
		}
		switch {
		case settled:
			p.out, p.marks = out, append(p.marks, before)
		case len(p.marks) == i: // The first that is not: what is handed out now will not be written over.
			out = slices.Clone(out)
		}
	}
	return slices.Clip(out)
}

// appendAnswered appends m and the answers to its calls. complete is false while answers
// may still come.
func appendAnswered(out []message.Message, m message.Message, after []message.Message) (
	_ []message.Message, complete bool,
) {
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

// answersOf finds the answers to the calls of m among the messages after it, up to the next
// message with calls, in the order of the calls. closed tells whether there is such a
// message, so that no more answers can come.
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
