package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// request is the body of POST /v1/messages.
type request struct {
	Model         string    `json:"model"`
	MaxTokens     int       `json:"max_tokens"`
	Stream        bool      `json:"stream"`
	System        []block   `json:"system,omitempty"`
	Messages      []turn    `json:"messages"`
	Tools         []tool    `json:"tools,omitempty"`
	Thinking      *thinking `json:"thinking,omitempty"`
	OutputConfig  *output   `json:"output_config,omitempty"`
	Temperature   *float64  `json:"temperature,omitempty"`
	TopP          *float64  `json:"top_p,omitempty"`
	TopK          *int      `json:"top_k,omitempty"`
	StopSequences []string  `json:"stop_sequences,omitempty"`
}

type turn struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is any content block; its type says which fields count.
type block struct {
	Type      string  `json:"type"`
	Text      string  `json:"text,omitempty"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`
	Source    *source `json:"source,omitempty"`
	ID        string  `json:"id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Input     any     `json:"input,omitempty"`
	ToolUseID string  `json:"tool_use_id,omitempty"`
	Content   []block `json:"content,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`
	Cache     *cache  `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type cache struct {
	Type string `json:"type"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control,omitempty"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type output struct {
	Effort string `json:"effort"`
}

// encode translates a request. The API wants user and assistant to take turns, the
// user first; models refuse a request that ends with the assistant. So neighbours of
// the same role become one turn, tool results belong to the user, and package wire
// says what happens to words that were put into the assistant's mouth.
func encode(req *provider.Request) *request {
	ephemeral := &cache{Type: "ephemeral"}
	out := &request{Model: req.Model, Stream: true, StopSequences: req.Generation.Stop}
	if strings.TrimSpace(req.System) != "" {
		out.System = []block{{Type: "text", Text: req.System, Cache: ephemeral}}
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].Cache = ephemeral
	}
	out.Messages = turns(req.Messages)
	out.cacheTail(ephemeral)
	out.think(req)
	return out
}

func turns(history []provider.Message) []turn {
	out := make([]turn, 0, len(history)+1)
	add := func(role string, blocks ...block) {
		if len(blocks) == 0 {
			return
		}
		if len(out) == 0 && role == provider.RoleAssistant {
			out = append(out, turn{provider.RoleUser, []block{text(provider.Opening)}})
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		out = append(out, turn{role, blocks})
	}
	names := callNames{}
	for i := range history {
		m := &history[i]
		if note, ok := provider.Note(history, i); ok {
			add(provider.RoleUser, text(note))
			continue
		}
		switch m.Role {
		case provider.RoleTool:
			add(provider.RoleUser, result(m, names))
		case provider.RoleAssistant:
			add(provider.RoleAssistant, answered(m, names)...)
		default:
			add(provider.RoleUser, said(m)...)
		}
	}
	if n := len(out); n == 0 || out[n-1].Role == provider.RoleAssistant {
		add(provider.RoleUser, text(provider.Resume))
	}
	return out
}

func text(s string) block { return block{Type: "text", Text: s} }

// said gives pictures and text; the API refuses blank text.
func said(m *provider.Message) []block {
	blocks := images(nil, m.Images)
	if strings.TrimSpace(m.Content) != "" {
		blocks = append(blocks, text(m.Content))
	}
	return blocks
}

func images(blocks []block, list []provider.Image) []block {
	for i := range list {
		blocks = append(blocks, block{
			Type: "image", Source: &source{Type: "base64", MediaType: list[i].MediaType, Data: list[i].Data},
		})
	}
	return blocks
}

// answered gives an answer of the model: its thoughts where they were and unchanged,
// since their signatures are checked.
func answered(m *provider.Message, names callNames) []block {
	blank := strings.TrimSpace(m.Content) == ""
	if blank && len(m.ToolCalls) == 0 {
		return nil
	}
	blocks := make([]block, 0, len(m.Thoughts)+len(m.ToolCalls)+1)
	blocks = thoughts(blocks, m.Thoughts, "")
	if !blank {
		blocks = append(blocks, text(m.Content))
	}
	for _, c := range m.ToolCalls {
		input := c.Arguments
		if input == nil {
			input = map[string]any{}
		}
		if c.ID != "" {
			blocks = thoughts(blocks, m.Thoughts, c.ID)
		}
		blocks = append(blocks, block{Type: "tool_use", ID: names.call(c.ID), Name: c.Name, Input: input})
	}
	return blocks
}

// thoughts gives those that came right before a call, or with an empty ID those that
// the answer began with.
func thoughts(blocks []block, list []provider.Thought, callID string) []block {
	for i := range list {
		t := &list[i]
		switch {
		case t.Provider != format || t.Signature == "" || t.CallID != callID:
		case t.Redacted:
			blocks = append(blocks, block{Type: "redacted_thinking", Data: t.Signature})
		default:
			blocks = append(blocks, block{Type: "thinking", Thinking: &t.Text, Signature: t.Signature})
		}
	}
	return blocks
}

func result(m *provider.Message, names callNames) block {
	b := block{Type: "tool_result", ToolUseID: names.result(m.ToolCallID), IsError: m.Failed}
	if strings.TrimSpace(m.Content) != "" {
		b.Content = append(b.Content, text(m.Content))
	}
	b.Content = images(b.Content, m.Images)
	return b
}

// callNames gives every call of a history an ID of its own. The API demands that,
// and other providers, whose sessions can be continued here, begin to count anew in
// each answer. The values say how often an ID was used.
type callNames map[string]int

func (n callNames) call(id string) string {
	n[callID(id)]++
	return n.result(id)
}

// result names the call that used id last.
func (n callNames) result(id string) string {
	id = callID(id)
	if uses := n[id]; uses > 1 {
		return fmt.Sprintf("%s-%d", id, uses)
	}
	return id
}

// callID makes IDs of other providers fit the pattern the API demands.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

// cacheTail marks the last two turns of the user, so that the next call finds the
// prefix that this one wrote. With system and tools that makes the four marks the
// API allows.
func (r *request) cacheTail(mark *cache) {
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if t := &r.Messages[i]; t.Role == provider.RoleUser {
			t.Content[len(t.Content)-1].Cache = mark
			left--
		}
	}
}
