package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/provider"
)

// encodeResponses writes the body of a Responses request.
func (c *Client) encodeResponses(req *provider.Request) []byte {
	b := make([]byte, 0, estimate(req))
	b = append(b, `{"model":`...)
	b = jsontext.AppendString(b, req.Model)
	b = append(b, `,"stream":true,"store":false`...)
	if req.System != "" {
		b = append(b, `,"instructions":`...)
		b = jsontext.AppendString(b, req.System)
	}
	b = append(b, `,"input":[`...)
	first := len(b)
	for i := range req.Messages {
		if m := &req.Messages[i]; m.Sent() {
			b = appendItems(b, m, first)
		}
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTool(append(b, `{"type":"function","strict":false,`...), &req.Tools[i])
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	b = c.appendReasoning(b, req)
	g := &req.Generation
	b = appendNumber(b, "temperature", g.Temperature)
	b = appendNumber(b, "top_p", g.TopP)
	if g.MaxOutputTokens > 0 {
		b = appendInt(b, "max_output_tokens", &g.MaxOutputTokens)
	}
	return append(b, '}')
}

// appendReasoning asks for reasoning, and for the form of it that can be handed back
// to a server that stores nothing. Models that do not reason refuse both.
func (c *Client) appendReasoning(b []byte, req *provider.Request) []byte {
	info, known := provider.Lookup(req.Model)
	effort := c.effort(req)
	if effort == "" && !(known && has(info, provider.Thinking)) {
		return b
	}
	b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	if effort == "" {
		return b
	}
	b = append(b, `,"reasoning":{"effort":`...)
	b = jsontext.AppendString(b, effort)
	if effort != "none" {
		b = append(b, `,"summary":"auto"`...)
	}
	return append(b, '}')
}

// appendItems writes the input items of one message. First is where the list begins in b.
func appendItems(b []byte, m *provider.Message, first int) []byte {
	item := func(s string) {
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(b, s...)
	}
	switch {
	case m.Role == provider.RoleTool:
		item(`{"type":"function_call_output","call_id":`)
		b = jsontext.AppendString(b, callID(m.ToolCallID))
		b = append(b, `,"output":`...)
		return append(appendInput(b, m), '}')
	case m.Role == provider.RoleAssistant:
		if m.Content != "" {
			b = appendThoughts(b, m, "", first)
			item(`{"role":"assistant","content":`)
			b = append(jsontext.AppendString(b, m.Content), '}')
		}
		for i := range m.ToolCalls {
			call := &m.ToolCalls[i]
			b = appendThoughts(b, m, call.ID, first)
			item(`{"type":"function_call","call_id":`)
			b = jsontext.AppendString(b, callID(call.ID))
			b = append(b, `,"name":`...)
			b = jsontext.AppendString(b, call.Name)
			b = append(b, `,"arguments":`...)
			b = append(appendArguments(b, call.Arguments), '}')
		}
		return b
	}
	item(`{"role":`)
	b = jsontext.AppendString(b, m.Role)
	b = append(b, `,"content":`...)
	return append(appendInput(b, m), '}')
}

// appendInput writes text, and a list of parts if there are images.
func appendInput(b []byte, m *provider.Message) []byte {
	if len(m.Images) == 0 {
		return jsontext.AppendString(b, m.Content)
	}
	b = append(b, '[')
	if m.Content != "" {
		b = append(b, `{"type":"input_text","text":`...)
		b = append(jsontext.AppendString(b, m.Content), '}', ',')
	}
	for i := range m.Images {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"input_image","image_url":`...)
		b = append(appendDataURL(b, &m.Images[i]), '}')
	}
	return append(b, ']')
}

// appendThoughts hands back the reasoning that led to one call, or to the text if
// callID is empty. The server refuses reasoning without what it led to.
func appendThoughts(b []byte, m *provider.Message, callID string, first int) []byte {
	for i := range m.Thoughts {
		t := &m.Thoughts[i]
		if t.Provider != thoughtResponses || t.Signature == "" || t.CallID != callID {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(b, `{"type":"reasoning","id":`...)
		b = jsontext.AppendString(b, t.ID)
		b = append(b, `,"summary":[`...)
		if t.Text != "" {
			b = append(b, `{"type":"summary_text","text":`...)
			b = append(jsontext.AppendString(b, t.Text), '}')
		}
		b = append(b, `],"encrypted_content":`...)
		b = append(jsontext.AppendString(b, t.Signature), '}')
	}
	return b
}

// responseEvent is one event of a Responses stream.
type responseEvent struct {
	Type         string          `json:"type"`
	Delta        string          `json:"delta"`
	Index        int             `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Arguments    string          `json:"arguments"`
	Item         *responseItem   `json:"item"`
	Response     *responseObject `json:"response"`
}

// responseItem is a piece of output: a message, a call or reasoning.
type responseItem struct {
	Type      string        `json:"type"`
	ID        string        `json:"id"`
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments string        `json:"arguments"`
	Encrypted string        `json:"encrypted_content"`
	Summary   []contentPart `json:"summary"`
	Content   []contentPart `json:"content"`
}

type contentPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type responseObject struct {
	Output     []responseItem `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

// responsesReader is the state of readResponses.
type responsesReader struct {
	*answer
	calls    map[int]*toolCall // By output index.
	streamed map[int]bool      // Items of which text has been shown.
	pending  int               // Thoughts from here on wait for what they led to.
	items    bool              // A finished item came.
	summary  int               // Index of the last part of a summary.
}

// readResponses reads a Responses stream to its end.
func (a *answer) readResponses(stream *provider.Stream) error {
	r := responsesReader{answer: a, calls: map[int]*toolCall{}, streamed: map[int]bool{}}
	for {
		ev, err := stream.Next()
		if err == io.EOF {
			return a.early("response.completed did not come")
		}
		if err != nil {
			return err
		}
		data := bytes.TrimSpace(ev.Data)
		if len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var e responseEvent
		if err := json.Unmarshal(data, &e); err != nil {
			if ev.Name == "error" {
				return a.t.Classify(0, data)
			}
			return a.invalid(data, err)
		}
		if e.Type == "" {
			e.Type = ev.Name
		}
		done, err := r.event(&e, data)
		if done || err != nil {
			return err
		}
	}
}

// event adds one event to the answer and reports whether it was the last.
func (r *responsesReader) event(e *responseEvent, data []byte) (done bool, err error) {
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		r.streamed[e.Index] = true
		return false, r.say(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return false, r.thinkPart(e)
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			return false, r.fill(r.call(e.Index), e.Item)
		}
	case "response.function_call_arguments.delta":
		r.call(e.Index).args.WriteString(e.Delta)
		return false, r.grow(len(e.Delta) + 64)
	case "response.output_item.done":
		if e.Item != nil {
			return false, r.item(e.Index, e.Item)
		}
	case "response.completed", "response.done":
		return true, r.complete(e.Response)
	case "response.incomplete":
		return true, r.incomplete(e.Response)
	case "response.failed", "error":
		return true, r.t.Classify(0, data)
	case "":
		return r.untyped(data)
	}
	return false, nil
}

// untyped handles bodies that are no event: an error, or a whole response from a
// server that does not stream.
func (r *responsesReader) untyped(data []byte) (bool, error) {
	var whole struct {
		Error  json.RawMessage `json:"error"`
		Object string          `json:"object"`
		Status string          `json:"status"`
		responseObject
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return false, r.invalid(data, err)
	}
	switch {
	case len(whole.Error) > 0 && string(whole.Error) != "null", whole.Status == "failed":
		return true, r.t.Classify(0, data)
	case whole.Object == "response" && whole.Status == "incomplete":
		return true, r.incomplete(&whole.responseObject)
	case whole.Object == "response" && whole.Status == "completed":
		return true, r.complete(&whole.responseObject)
	}
	return false, nil
}

// thinkPart shows a piece of reasoning; parts of a summary are paragraphs.
func (r *responsesReader) thinkPart(e *responseEvent) error {
	text := e.Delta
	key := e.Index<<16 | e.SummaryIndex&0xffff
	if r.thinking.Len() > 0 && key != r.summary && text != "" {
		text = "\n\n" + text
	}
	r.summary = key
	r.streamed[e.Index] = true
	return r.think(text)
}

// call returns the call with the given output index.
func (r *responsesReader) call(index int) *toolCall {
	call := r.calls[index]
	if call == nil {
		call = r.newCall()
		r.calls[index] = call
	}
	return call
}

// fill copies what an item says into its call. Finished arguments replace the pieces.
func (r *responsesReader) fill(call *toolCall, item *responseItem) error {
	if item.CallID != "" {
		call.id = item.CallID
	} else if call.id == "" {
		call.id = item.ID
	}
	if item.Name != "" {
		call.name = item.Name
	}
	if item.Arguments != "" && item.Arguments != call.args.String() {
		call.args.Reset()
		call.args.WriteString(item.Arguments)
		return r.grow(len(item.Arguments))
	}
	return nil
}

// item takes over a finished item.
func (r *responsesReader) item(index int, item *responseItem) error {
	r.items = true
	switch item.Type {
	case "function_call":
		call := r.call(index)
		if err := r.fill(call, item); err != nil {
			return err
		}
		if call.id == "" {
			call.id = newID()
		}
		for i := r.pending; i < len(r.thoughts); i++ {
			r.thoughts[i].CallID = call.id
		}
		r.pending = len(r.thoughts)
	case "message":
		r.pending = len(r.thoughts)
		if r.streamed[index] {
			return nil
		}
		for _, part := range item.Content {
			if err := r.say(part.Text + part.Refusal); err != nil {
				return err
			}
		}
	case "reasoning":
		text := join(item.Summary)
		if !r.streamed[index] {
			if text == "" {
				text = join(item.Content)
			}
			if err := r.think(text); err != nil {
				return err
			}
		}
		if item.Encrypted != "" {
			r.thoughts = append(r.thoughts, provider.Thought{
				Provider: thoughtResponses, ID: item.ID, Text: join(item.Summary), Signature: item.Encrypted,
			})
			return r.grow(len(item.Encrypted))
		}
	}
	return nil
}

func join(parts []contentPart) string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// complete takes over what only the last event says.
func (r *responsesReader) complete(o *responseObject) error {
	// Reasoning that led to nothing must not be handed back.
	defer func() { r.thoughts = r.thoughts[:min(r.pending, len(r.thoughts))] }()
	if o == nil {
		return nil
	}
	r.usage = provider.Usage{Input: o.Usage.Input, Output: o.Usage.Output, CacheRead: o.Usage.Details.Cached}
	if r.items {
		return nil
	}
	for i := range o.Output {
		if err := r.item(i, &o.Output[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *responsesReader) incomplete(o *responseObject) error {
	if err := r.complete(o); err != nil {
		return err
	}
	reason := ""
	if o != nil {
		reason = o.Incomplete.Reason
	}
	switch reason {
	case "content_filter":
		return r.t.Fail(provider.ContentFilter, 0, "the server stopped the answer")
	case "", "max_output_tokens", "max_tokens":
		r.stop = "length"
	default:
		r.stop = reason
	}
	return nil
}
