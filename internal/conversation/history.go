package conversation

import (
	"slices"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// History is what was said so far, without the system prompt. Appending to it and asking
// for its size cost the same however long it is. The zero value is empty.
type History struct {
	mu     sync.Mutex
	msgs   []message.Message
	turns  []sdk.Turn // What Context.Turns lists; a prefix handed out is never changed.
	rough  int        // Sum of the rough sizes of what is sent.
	paired pairing    // What a model sees of msgs, kept up to date as it grows.

	// once is how many messages lie before the first that goes after it has been sent once,
	// plus 1; 0 if there is none. Such messages are always near the end.
	once int
}

// Add appends a finished message, and returns it as it is kept.
func (h *History) Add(m message.Message) message.Message {
	if m.CreatedAt.IsZero() {
		m.CreatedAt = time.Now()
	}
	if m.Type == "" {
		m.Type = sdk.TypeNormal
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add(m)
}

func (h *History) add(m message.Message) message.Message {
	if m.Tokens == 0 {
		m.Tokens = roughMessage(&m)
	}
	if m.Plain() {
		h.turns = append(h.turns, sdk.Turn{Role: m.Role, Content: m.Content})
	}
	if h.once == 0 && (m.Type == message.Ephemeral || m.Eject) {
		h.once = len(h.msgs) + 1
	}
	if m.Sent() {
		h.rough += m.Tokens
	}
	h.msgs = append(h.msgs, m)
	return m
}

// Replace replaces the whole history.
func (h *History) Replace(msgs []message.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replace(msgs)
}

func (h *History) replace(msgs []message.Message) {
	h.msgs, h.turns, h.rough, h.paired, h.once = nil, nil, 0, pairing{}, 0
	for i := range msgs {
		h.add(msgs[i])
	}
}

// Messages returns a copy of the history.
func (h *History) Messages() []message.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.msgs)
}

// Lasting returns the messages that are kept when the session is.
func (h *History) Lasting() []message.Message {
	return slices.DeleteFunc(h.Messages(), func(m message.Message) bool { return m.Eject })
}

// Len is the number of messages.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.msgs)
}

// Turns is what the user and the model said. It must not be changed.
func (h *History) Turns() []sdk.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.turns)
}

// RoughSize is the rough size of what a model sees, in tokens.
func (h *History) RoughSize() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rough
}

// Sent returns the messages a model sees, well formed: every call is answered exactly
// once, directly after the message that asked for it, in order. Answers without a call and
// calls without an answer are left out. The result must not be changed.
func (h *History) Sent() []message.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.paired.update(h.msgs)
}

// Undo takes back the latest input of the user with everything that followed it, and
// returns its text; false if there is none. A summary that a compaction made is no input.
func (h *History) Undo() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, m := range slices.Backward(h.msgs) {
		if m.Role != message.User || m.Type != sdk.TypeNormal {
			continue
		}
		if isSummary(&m) {
			break
		}
		h.replace(h.msgs[:i])
		return m.Content, true
	}
	return "", false
}

// Unanswered returns the calls at the end of the history that have no answer.
func (h *History) Unanswered() (calls []sdk.MessageToolCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, m := range slices.Backward(h.msgs) {
		if len(m.ToolCalls) == 0 {
			continue
		}
		answers, _ := answersOf(&m, h.msgs[i+1:])
		for _, c := range m.ToolCalls {
			if !slices.ContainsFunc(answers, func(x message.Message) bool { return x.ToolCallID == c.ID }) {
				calls = append(calls, c)
			}
		}
		break
	}
	return calls
}

// Prune removes the messages that were to be sent once: ejected ones, and ephemeral results
// together with their calls.
func (h *History) Prune() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.once == 0 {
		return
	}
	from, gone := h.pruned()
	tail := slices.Clone(h.msgs[from:])
	for i := range tail {
		if tail[i].Sent() {
			h.rough -= tail[i].Tokens
		}
	}
	h.msgs, h.once = h.msgs[:from], 0
	h.paired.rewind(from)
	for _, m := range tail {
		m, ok := without(m, gone)
		if !ok {
			continue
		}
		if m.Sent() {
			h.rough += m.Tokens
		}
		h.msgs = append(h.msgs, m)
	}
}

// pruned returns the calls whose results go, and the index of the first message that
// changes because of them: the calls are before their results.
func (h *History) pruned() (from int, gone map[string]bool) {
	from, gone = h.once-1, map[string]bool{}
	for _, m := range h.msgs[from:] {
		if m.Type == message.Ephemeral && m.Role == message.Tool {
			gone[m.ToolCallID] = true
		}
	}
	for open := len(gone) - countCalls(h.msgs[from:], gone); open > 0 && from > 0; {
		from--
		open -= countCalls(h.msgs[from:from+1], gone)
	}
	return from, gone
}

// countCalls counts the calls with one of the IDs.
func countCalls(msgs []message.Message, ids map[string]bool) (n int) {
	for i := range msgs {
		for _, c := range msgs[i].ToolCalls {
			if ids[c.ID] {
				n++
			}
		}
	}
	return n
}

// without returns what is left of a message after it has been sent once and the calls that
// are gone have left it; false if nothing is.
func without(m message.Message, gone map[string]bool) (message.Message, bool) {
	if m.Eject || m.Type == message.Ephemeral {
		return m, false
	}
	if m.Role != message.Assistant || len(m.ToolCalls) == 0 {
		return m, true
	}
	kept := slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c sdk.MessageToolCall) bool { return gone[c.ID] })
	if len(kept) == 0 && m.Content == "" {
		return m, false
	}
	if len(kept) < len(m.ToolCalls) {
		m.ToolCalls = kept
		m.Thoughts = slices.DeleteFunc(slices.Clone(m.Thoughts), func(t message.Thought) bool {
			return t.CallID != "" && gone[t.CallID]
		})
		m.Tokens = roughMessage(&m)
	}
	return m, true
}
