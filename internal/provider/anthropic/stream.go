package anthropic

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// event is any event of the stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage counts `json:"usage"`
	} `json:"message"`
	ContentBlock piece  `json:"content_block"`
	Delta        piece  `json:"delta"`
	Usage        counts `json:"usage"`
}

// piece is the start of a block, or a delta of one or of the message.
type piece struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	Data        string          `json:"data"`
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Input       json.RawMessage `json:"input"`
	PartialJSON string          `json:"partial_json"`
	StopReason  string          `json:"stop_reason"`
}

// counts are token counts. Later events repeat or refine earlier ones.
type counts struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
}

func (c *counts) update(n counts) {
	c.Input = max(c.Input, n.Input)
	c.Output = max(c.Output, n.Output)
	c.CacheWrite = max(c.CacheWrite, n.CacheWrite)
	c.CacheRead = max(c.CacheRead, n.CacheRead)
}

// content is one block of the answer while it arrives.
type content struct {
	kind, id, name, data       string
	input                      []byte // As given at the start; deltas replace it.
	thinking, signature, delta strings.Builder
}

// reader puts an answer together.
type reader struct {
	answer *provider.Builder
	blocks map[int]*content
	order  []*content
	usage  counts
	stop   string
}

// read consumes a stream up to its closing event.
func (c *Client) read(stream *provider.Stream, on func(provider.Delta)) (*provider.Response, error) {
	r := &reader{answer: provider.NewBuilder(on), blocks: map[int]*content{}}
	for {
		raw, err := stream.Next()
		if err == io.EOF {
			return nil, c.transport.Fail(provider.Network, 0, "stream ended without message_stop")
		}
		if err != nil {
			return nil, err
		}
		var ev event
		if err := json.Unmarshal(raw.Data, &ev); err != nil {
			return nil, c.transport.Fail(provider.Server, 0, "stream contains an event that is not JSON: %v", err)
		}
		switch {
		case ev.Type == "error" || raw.Name == "error":
			return nil, c.transport.Classify(0, raw.Data)
		case ev.Type == "message_stop":
			return c.finish(r)
		}
		if ev.Type == "content_block_start" && ev.ContentBlock.Type == "tool_use" {
			stream.Begun()
		}
		r.add(&ev)
	}
}

// add takes in one event; kinds it does not know are passed over, as the API asks for.
func (r *reader) add(ev *event) {
	switch ev.Type {
	case "message_start":
		r.usage.update(ev.Message.Usage)
	case "message_delta":
		r.usage.update(ev.Usage)
		if ev.Delta.StopReason != "" {
			r.stop = ev.Delta.StopReason
		}
	case "content_block_start":
		p := &ev.ContentBlock
		b := &content{kind: p.Type, id: p.ID, name: p.Name, data: p.Data, input: p.Input}
		r.blocks[ev.Index] = b
		r.order = append(r.order, b)
		r.grow(b, p)
	case "content_block_delta":
		if b := r.blocks[ev.Index]; b != nil {
			r.grow(b, &ev.Delta)
		}
	}
}

// grow adds a delta, or the first piece, to a block.
func (r *reader) grow(b *content, p *piece) {
	r.answer.Text(p.Text)
	r.answer.Thinking(p.Thinking)
	b.thinking.WriteString(p.Thinking)
	b.signature.WriteString(p.Signature)
	b.delta.WriteString(p.PartialJSON)
}

// stops maps the API's words to ours.
var stops = map[string]string{
	"end_turn":                      "stop",
	"stop_sequence":                 "stop",
	"tool_use":                      "tool_calls",
	"max_tokens":                    "length",
	"model_context_window_exceeded": "length",
}

func (c *Client) finish(r *reader) (*provider.Response, error) {
	if r.stop == "refusal" {
		return nil, c.transport.Fail(provider.ContentFilter, 0, "the model refused to answer")
	}
	if e := c.takeBlocks(r); e != nil {
		return nil, e
	}
	stop, known := stops[r.stop]
	if !known {
		stop = r.stop
	}
	u := r.usage
	return r.answer.Response(stop, provider.Usage{
		Input:      u.Input + u.CacheRead + u.CacheWrite,
		Output:     u.Output,
		CacheRead:  u.CacheRead,
		CacheWrite: u.CacheWrite,
	}), nil
}

// takeBlocks adds thoughts and calls to the answer. A thought after the first text or
// call carries the ID of the call that it led to, so that it can be sent back in its place.
func (c *Client) takeBlocks(r *reader) *provider.Error {
	var thoughts []provider.Thought
	placed := 0 // Thoughts that need no call, or have theirs.
	began := false
	for _, b := range r.order {
		switch b.kind {
		case "thinking":
			thoughts = append(
				thoughts,
				provider.Thought{Provider: format, Text: b.thinking.String(), Signature: b.signature.String()},
			)
		case "redacted_thinking":
			thoughts = append(thoughts, provider.Thought{Provider: format, Signature: b.data, Redacted: true})
		case "tool_use":
			if b.name == "" {
				return c.transport.Fail(provider.Server, 0, "stream contains a tool call without a name")
			}
			input := b.input
			if b.delta.Len() > 0 {
				input = []byte(b.delta.String())
			}
			id := r.answer.Call(b.id, b.name, input)
			for ; placed < len(thoughts); placed++ {
				thoughts[placed].CallID = id
			}
			began = true
		case "text":
			began = true
		}
		if !began {
			placed = len(thoughts)
		}
	}
	for _, t := range thoughts {
		r.answer.Thought(t)
	}
	return nil
}
