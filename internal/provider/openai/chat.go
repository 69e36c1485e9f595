package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// chunk is one event of a Chat Completions stream. Text is string, or in the
// second attempt at reading an event looseText.
type chunk[Text ~string] struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index        int         `json:"index"`
		Delta        delta[Text] `json:"delta"`
		Message      delta[Text] `json:"message"` // From servers that do not stream.
		FinishReason Text        `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage `json:"usage"`
}

type delta[Text ~string] struct {
	Content          Text              `json:"content"`
	Refusal          Text              `json:"refusal"`
	ReasoningContent Text              `json:"reasoning_content"`
	Reasoning        Text              `json:"reasoning"`
	ToolCalls        []callDelta[Text] `json:"tool_calls"`
}

type callDelta[Text ~string] struct {
	Index    *int `json:"index"`
	ID       Text `json:"id"`
	Function struct {
		Name      Text `json:"name"`
		Arguments Text `json:"arguments"`
	} `json:"function"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek.
}

// looseText takes what servers send in place of a string: arguments as an
// object, content as a list of parts, numbers as IDs.
type looseText string

func (l *looseText) UnmarshalJSON(b []byte) error {
	var parts []struct {
		Text looseText `json:"text"`
	}
	switch {
	case len(b) == 0 || string(b) == "null":
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*l = looseText(s)
	case b[0] == '[' && json.Unmarshal(b, &parts) == nil:
		for _, p := range parts {
			*l += p.Text
		}
	default:
		*l = looseText(b)
	}
	return nil
}

// readChat reads a Chat Completions stream to its end.
func (a *answer) readChat(stream *provider.Stream) error {
	r := chatReader{answer: a, slots: map[int]*toolCall{}}
	for {
		ev, err := stream.Next()
		switch {
		case err == nil:
		case err == io.EOF:
			return r.finish(false)
		case r.finished && provider.ClassOf(err) == provider.Network:
			return r.finish(false) // The answer is complete; only the rest of the stream is lost.
		default:
			return err
		}
		data := bytes.TrimSpace(ev.Data)
		if len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			return r.finish(true)
		}
		if err := r.event(ev.Name, data); err != nil {
			return err
		}
	}
}

// chatReader is the state of readChat.
type chatReader struct {
	*answer
	slots    map[int]*toolCall // By index; a later call may take over its index.
	last     *toolCall
	finished bool // A finish reason came.
}

func (r *chatReader) event(name string, data []byte) error {
	if data[0] != '{' {
		return r.invalid(data, errors.New("not an object"))
	}
	if name == "error" {
		return r.t.Classify(0, data)
	}
	if q, ok := readQuick(data); ok {
		return addDelta(
			r,
			&delta[string]{Content: q.content, ReasoningContent: q.reasoningContent, Reasoning: q.reasoning},
		)
	}
	var strict chunk[string]
	err := json.Unmarshal(data, &strict)
	if err == nil {
		return apply(r, &strict, data)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		return r.invalid(data, err)
	}
	var loose chunk[looseText]
	if err := json.Unmarshal(data, &loose); err != nil {
		return r.invalid(data, err)
	}
	return apply(r, &loose, data)
}

// apply adds what a chunk says to the answer.
func apply[Text ~string](r *chatReader, c *chunk[Text], data []byte) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return r.t.Classify(0, data)
	}
	if c.Choices == nil && c.Usage == nil && isError(data) {
		return r.t.Classify(0, data)
	}
	if u := c.Usage; u != nil {
		r.usage = provider.Usage{
			Input:      u.Prompt,
			Output:     u.Completion,
			CacheRead:  max(u.Details.Cached, u.CacheHit),
			CacheWrite: u.Details.CacheWrite,
		}
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*delta[Text]{&choice.Delta, &choice.Message} {
			if err := addDelta(r, d); err != nil {
				return err
			}
		}
		if choice.FinishReason != "" {
			if err := r.finishReason(string(choice.FinishReason)); err != nil {
				return err
			}
		}
	}
	return nil
}

// isError recognises the error objects of vLLM, which are not wrapped.
func isError(data []byte) bool {
	var probe struct {
		Object string `json:"object"`
	}
	return json.Unmarshal(data, &probe) == nil && probe.Object == "error"
}

func addDelta[Text ~string](r *chatReader, d *delta[Text]) error {
	thought := d.ReasoningContent
	if thought != "" && len(r.thoughts) == 0 {
		r.thoughts = []provider.Thought{{Provider: thoughtChat, ID: "reasoning_content"}}
	}
	if thought == "" {
		thought = d.Reasoning
	}
	if err := r.think(string(thought)); err != nil {
		return err
	}
	if err := r.say(string(d.Content)); err != nil {
		return err
	}
	if err := r.say(string(d.Refusal)); err != nil {
		return err
	}
	for i := range d.ToolCalls {
		c := &d.ToolCalls[i]
		call := r.slot(c.Index, string(c.ID), string(c.Function.Name))
		if call.id == "" {
			call.id = string(c.ID)
		}
		if call.name == "" {
			call.name = string(c.Function.Name)
		}
		call.args.WriteString(string(c.Function.Arguments))
		if err := r.grow(len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments) + 64); err != nil {
			return err
		}
	}
	return nil
}

// slot returns the call that a delta belongs to. Servers that leave out the index, or
// send 0 for every call, start a call with a new ID or, without IDs, with a name.
func (r *chatReader) slot(index *int, id, name string) *toolCall {
	call := r.last
	if index != nil {
		call = r.slots[*index]
	}
	switch {
	case call == nil:
	case id != "" && call.id != "" && id != call.id && name != "":
		call = nil
	case index == nil && id == "" && name != "" && call.name != "" && call.whole():
		call = nil
	}
	if call == nil {
		call = r.newCall()
	}
	if index != nil {
		r.slots[*index] = call
	}
	r.last = call
	return call
}

// stops translates the finish reasons of servers; others are passed on.
var stops = map[string]string{
	"stop": "stop", "eos": "stop", "end_turn": "stop", "stop_sequence": "stop", "completed": "stop",
	"tool_calls": "tool_calls", "tool_use": "tool_calls", "function_call": "tool_calls", "tool_call": "tool_calls",
	"length": "length", "max_tokens": "length", "max_output_tokens": "length", "model_length": "length",
}

func (r *chatReader) finishReason(word string) error {
	switch lower := strings.ToLower(word); lower {
	case "content_filter", "safety":
		return r.t.Fail(provider.ContentFilter, 0, "the server stopped the answer (finish_reason %s)", word)
	case "error", "insufficient_system_resource":
		return r.t.BrokenOff("the server broke off the answer (finish_reason %s)", word)
	case "abort":
		return r.early("the server broke off the answer")
	default:
		r.finished = true
		if r.stop = stops[lower]; r.stop == "" {
			r.stop = word
		}
	}
	return nil
}

// finish checks that the stream ended where an answer ends.
func (r *chatReader) finish(done bool) error {
	if r.finished {
		return nil
	}
	if !done {
		return r.early("neither finish_reason nor [DONE] came")
	}
	for _, call := range r.calls {
		if _, ok := arguments(call.args.String()); !ok {
			return r.early("only a part of a tool call came")
		}
	}
	return nil
}
