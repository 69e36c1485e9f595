package google

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// chunk is one event of the stream.
type chunk struct {
	Candidates []struct {
		Content struct {
			Parts []piece `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		ToolPrompt int `json:"toolUsePromptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// piece is a part of the answer.
type piece struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// reader puts an answer together.
type reader struct {
	answer  *provider.Builder
	any     bool // There was text or a call.
	usage   provider.Usage
	finish  string
	message string // The server's comment on finish.
}

// read consumes a stream. It is complete if some event gave a reason for its end.
func (c *Client) read(stream *provider.Stream, on func(provider.Delta)) (*provider.Response, error) {
	r := &reader{answer: provider.NewBuilder(on)}
	for {
		ev, err := stream.Next()
		if err == io.EOF {
			return c.finish(r)
		}
		if err != nil {
			return nil, err
		}
		chunks, err := decode(ev.Data)
		if err != nil {
			return nil, c.transport.Fail(provider.Server, 0, "stream contains an event that is not JSON: %v", err)
		}
		for i := range chunks {
			if e := c.add(r, &chunks[i], ev.Data); e != nil {
				return nil, e
			}
			if r.any {
				stream.Begun()
			}
		}
	}
}

// decode reads an event; servers that ignore alt=sse send one array of them.
func decode(data []byte) ([]chunk, error) {
	if bytes.HasPrefix(data, []byte("[")) {
		var list []chunk
		err := json.Unmarshal(data, &list)
		return list, err
	}
	list := make([]chunk, 1)
	err := json.Unmarshal(data, &list[0])
	return list, err
}

func (c *Client) add(r *reader, ch *chunk, raw []byte) *provider.Error {
	if len(ch.Error) > 0 && string(ch.Error) != "null" {
		return c.transport.Classify(0, raw)
	}
	if f := ch.Feedback; f.Reason != "" {
		return c.transport.Fail(
			provider.ContentFilter,
			0,
			"the prompt was blocked: %s",
			strings.TrimSpace(f.Reason+" "+f.Message),
		)
	}
	if u := ch.Usage; u != nil {
		r.usage = provider.Usage{Input: u.Prompt + u.ToolPrompt, Output: u.Candidates + u.Thoughts, CacheRead: u.Cached}
	}
	if len(ch.Candidates) == 0 {
		return nil
	}
	candidate := &ch.Candidates[0]
	for i := range candidate.Content.Parts {
		if e := c.addPart(r, &candidate.Content.Parts[i]); e != nil {
			return e
		}
	}
	if candidate.FinishReason != "" {
		r.finish, r.message = candidate.FinishReason, candidate.FinishMessage
	}
	return nil
}

func (c *Client) addPart(r *reader, p *piece) *provider.Error {
	thought := provider.Thought{Provider: format, Signature: p.Signature}
	switch {
	case p.Call != nil:
		if p.Call.Name == "" {
			return c.transport.Fail(provider.Server, 0, "stream contains a function call without a name")
		}
		r.any = true
		thought.CallID = r.answer.Call(p.Call.ID, p.Call.Name, p.Call.Args)
	case p.Thought:
		r.answer.Thinking(p.Text)
	default:
		r.any = r.any || p.Text != ""
		r.answer.Text(p.Text)
	}
	if p.Signature != "" {
		r.answer.Thought(thought)
	}
	return nil
}

// blocked are the reasons that stand for a filter.
var blocked = []string{
	"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR",
	"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
}

// unread are the reasons that stand for a call which the server could not read. It
// does not send what the model wrote.
var unread = []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}

func (c *Client) finish(r *reader) (*provider.Response, error) {
	detail := r.finish
	if r.message != "" {
		detail += ": " + r.message
	}
	switch {
	case r.finish == "":
		return nil, c.transport.Fail(provider.Network, 0, "stream ended without a finishReason")
	case r.finish == "STOP":
		return r.answer.Response("stop", r.usage), nil
	case r.finish == "MAX_TOKENS":
		return r.answer.Response("length", r.usage), nil
	case slices.Contains(blocked, r.finish):
		return nil, c.transport.Fail(provider.ContentFilter, 0, "the answer was blocked: %s", detail)
	case slices.Contains(unread, r.finish):
		resp := r.answer.Response(strings.ToLower(r.finish), r.usage)
		resp.Broken = detail
		if len(resp.Message.ToolCalls) > 0 {
			resp.Stop = "tool_calls"
		}
		return resp, nil
	case strings.Contains(r.finish, "CALL") || !r.any:
		return nil, c.transport.BrokenOff("the model gave no usable answer: %s", detail)
	}
	return r.answer.Response(strings.ToLower(r.finish), r.usage), nil
}
