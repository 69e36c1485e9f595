package conversation

import (
	"errors"
	"fmt"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// Transformable renders messages, with the system prompt first, in the form transforms
// see: positional IDs, and only the public types.
func Transformable(system string, msgs []message.Message) []sdk.Message {
	out := make([]sdk.Message, 0, len(msgs)+1)
	out = append(out, sdk.Message{
		ID: "m0001", Role: message.System, Content: system, Type: sdk.TypeNormal, Tokens: len(system) / bytesPerToken,
	})
	for i := range msgs {
		m := msgs[i].Message
		m.ID = positionID(i)
		if m.Type != sdk.TypeSynthetic {
			m.Type = sdk.TypeNormal
		}
		out = append(out, m)
	}
	return out
}

// positionID is the ID of the message with index i after the system prompt.
func positionID(i int) string { return fmt.Sprintf("m%04d", i+2) }

// CheckTransformed says what is wrong with the array a transform returned.
func CheckTransformed(msgs []sdk.Message) error {
	if len(msgs) == 0 {
		return errors.New("transformed messages: the array is empty")
	}
	if role := msgs[0].Role; role != message.System {
		return fmt.Errorf("transformed messages: the first message must be the system prompt, not role %q", role)
	}
	called := map[string]bool{}
	for i := range msgs {
		for _, c := range msgs[i].ToolCalls {
			called[c.ID] = true
		}
		if id := msgs[i].ToolCallID; msgs[i].Role == message.Tool && !called[id] {
			return fmt.Errorf("transformed messages: the result of call %q has no call before it", id)
		}
	}
	return nil
}

// MergeTransformed turns what a transform returned back into messages. For known IDs only
// text and thinking are taken over, so that a transform cannot damage what it does not see:
// images, signatures, calls.
func MergeTransformed(msgs []sdk.Message, original []message.Message) (system string, out []message.Message) {
	byID := make(map[string]*message.Message, len(original))
	for i := range original {
		byID[positionID(i)] = &original[i]
	}
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
	return msgs[0].Content, wellFormed(out)
}
