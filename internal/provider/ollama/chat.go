package ollama

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// request is the body of POST /api/chat.
type request struct {
	Model     string  `json:"model"`
	Messages  []entry `json:"messages"`
	Tools     []tool  `json:"tools,omitempty"`
	Stream    bool    `json:"stream"`
	Think     any     `json:"think,omitempty"` // nil, a bool or a level.
	Options   options `json:"options,omitzero"`
	KeepAlive any     `json:"keep_alive,omitempty"`
}

type entry struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Thinking   string   `json:"thinking,omitempty"`
	Images     [][]byte `json:"images,omitempty"`
	ToolCalls  []call   `json:"tool_calls,omitempty"`
	ToolName   string   `json:"tool_name,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	} `json:"function"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type options struct {
	NumCtx           int      `json:"num_ctx,omitempty"`
	NumPredict       int      `json:"num_predict,omitempty"`
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"top_p,omitempty"`
	TopK             *int     `json:"top_k,omitempty"`
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	Stop             []string `json:"stop,omitempty"`
	Seed             *int     `json:"seed,omitempty"`
}

// encode translates a request. Ollama takes the messages as they are, but would
// take text injected at the end in the assistant's name for the beginning of the answer:
// that is sent as a note of the user.
func encode(req *provider.Request) *request {
	g := &req.Generation
	out := &request{
		Model:    req.Model,
		Messages: make([]entry, 0, len(req.Messages)+1),
		Stream:   true,
		Think:    think(req),
		Options: options{
			NumCtx: g.Context, NumPredict: g.MaxOutputTokens, Temperature: g.Temperature, TopP: g.TopP, TopK: g.TopK,
			FrequencyPenalty: g.FrequencyPenalty, PresencePenalty: g.PresencePenalty, Stop: g.Stop, Seed: g.Seed,
		},
	}
	if req.System != "" {
		out.Messages = append(out.Messages, entry{Role: provider.RoleSystem, Content: req.System})
	}
	for i := range req.Messages {
		e := translate(&req.Messages[i])
		if note, ok := provider.Note(req.Messages, i); ok {
			e.Role, e.Content = provider.RoleUser, note
		}
		out.Messages = append(out.Messages, e)
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool{"function", function(t)})
	}
	return out
}

func translate(m *provider.Message) entry {
	e := entry{Role: m.Role, Content: m.Content}
	for i := range m.Images {
		e.Images = append(e.Images, m.Images[i].Data)
	}
	if m.Role == provider.RoleTool {
		e.ToolName, e.ToolCallID = m.ToolName, m.ToolCallID
	}
	for _, c := range m.ToolCalls {
		w := call{ID: c.ID}
		w.Function.Name, w.Function.Arguments = c.Name, c.Arguments
		if w.Function.Arguments == nil {
			w.Function.Arguments = map[string]any{}
		}
		e.ToolCalls = append(e.ToolCalls, w)
		// Why a tool was called matters to the model until its turn is over.
		e.Thinking = m.Thinking
	}
	return e
}

// think gives the value of `think`. Only gpt-oss knows levels.
func think(req *provider.Request) any {
	switch {
	case req.Think == "":
		return nil
	case req.Think == "off":
		return false
	case strings.Contains(req.Model, "gpt-oss"):
		return req.Think
	}
	return true
}

// line is one line of the answer.
type line struct {
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Input      int             `json:"prompt_eval_count"`
	Output     int             `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// read consumes a stream up to the line that says that it is done.
func (c *Client) read(stream *provider.Stream, on func(provider.Delta)) (*provider.Response, error) {
	answer := provider.NewBuilder(on)
	for {
		ev, err := stream.Next()
		if err == io.EOF {
			return nil, c.transport.Fail(provider.Network, 0, "stream ended without its last line")
		}
		if err != nil {
			return nil, err
		}
		var l line
		if err := json.Unmarshal(ev.Data, &l); err != nil {
			return nil, c.transport.Fail(provider.Server, 0, "stream contains a line that is not JSON: %v", err)
		}
		if len(l.Error) > 0 && string(l.Error) != "null" {
			return nil, c.transport.Classify(0, ev.Data)
		}
		answer.Thinking(l.Message.Thinking)
		answer.Text(l.Message.Content)
		for _, t := range l.Message.ToolCalls {
			if t.Function.Name == "" {
				return nil, c.transport.Fail(provider.Server, 0, "stream contains a tool call without a name")
			}
			stream.Begun()
			answer.Call(t.ID, t.Function.Name, unquote(t.Function.Arguments))
		}
		if l.Done {
			return answer.Response(l.DoneReason, provider.Usage{Input: l.Input, Output: l.Output}), nil
		}
	}
}

// unquote unpacks arguments that came as text, as imitations of the API send them.
func unquote(raw json.RawMessage) []byte {
	var s string
	if bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}
