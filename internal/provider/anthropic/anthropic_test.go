package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/anthropic"
	"github.com/idelchi/aura/internal/provider/providertest"
	"github.com/idelchi/aura/sdk"
)

const (
	start = `{"type":"message_start","message":{"id":"msg_1","role":"assistant","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42}}`
	stop  = `{"type":"message_stop"}`
)

// textBlock is a whole block of text.
func textBlock(text string) string {
	b, _ := json.Marshal(text)
	return providertest.SSE(
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+string(b)+`}}`,
		`{"type":"content_block_stop","index":0}`,
	)
}

func newClient(t *testing.T, steps ...providertest.Step) (*anthropic.Client, *providertest.Server) {
	t.Helper()
	none := 0
	server := providertest.Serve(t, steps...)
	return anthropic.New(provider.Options{
		Name: "claude", URL: server.URL, Token: "sk-ant-api-1", Retry: provider.Retry{MaxAttempts: &none},
	}), server
}

func msg(role, text string) message.Message {
	return message.Message{Message: sdk.Message{Role: role, Content: text, Type: sdk.TypeNormal}}
}

func note(text string) message.Message {
	m := msg("assistant", text)
	m.Type = sdk.TypeSynthetic
	return m
}

func hello() *provider.Request {
	return &provider.Request{Model: "claude-sonnet-4-5", Messages: []message.Message{msg("user", "hello")}}
}

// body sends req and returns what the server received.
func body(t *testing.T, req *provider.Request) map[string]any {
	t.Helper()
	c, server := newClient(t, providertest.Step{Body: providertest.SSE(start) + textBlock("ok") + providertest.SSE(end, stop)})
	if _, err := c.Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(server.Last().Body), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func sameJSON(t *testing.T, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, w) {
		g, _ := json.MarshalIndent(got, "", "  ")
		t.Errorf("got:\n%s\nwant:\n%s", g, want)
	}
}

// HO-44 HO-55
func TestStream(t *testing.T) {
	stream := "event: message_start\n" + providertest.SSE(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"aGlkZGVu"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße "}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"🐺"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"ma"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"in.go\"}"}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_1","name":"Done","input":{}}}`,
		`{"type":"content_block_stop","index":4}`,
		`{"type":"something_new","index":9}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42}}`, stop)

	// Seven bytes at a time: lines and characters are split somewhere.
	c, server := newClient(t, providertest.Step{Chunks: chunks(stream, 7)})
	var deltas []provider.Delta
	resp, err := c.Chat(t.Context(), hello(), func(d provider.Delta) { deltas = append(deltas, d) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []provider.Delta{{Thinking: "Let me "}, {Thinking: "see."}, {Text: "Grüße "}, {Text: "🐺"}}; !reflect.DeepEqual(deltas, want) {
		t.Errorf("deltas = %v", deltas)
	}
	m := resp.Message
	if m.Role != "assistant" || m.Type != "normal" || m.Content != "Grüße 🐺" || m.Thinking != "Let me see." {
		t.Errorf("message = %+v", m)
	}
	if want := []message.Thought{
		{Provider: "anthropic", Text: "Let me see.", Signature: "c2ln"},
		{Provider: "anthropic", Signature: "aGlkZGVu", Redacted: true},
	}; !reflect.DeepEqual(m.Thoughts, want) {
		t.Errorf("thoughts = %+v", m.Thoughts)
	}
	if len(m.ToolCalls) != 2 || m.ToolCalls[0].ID != "toolu_1" || m.ToolCalls[0].Name != "Read" ||
		!reflect.DeepEqual(m.ToolCalls[0].Arguments, map[string]any{"path": "main.go"}) {
		t.Errorf("calls = %+v", m.ToolCalls)
	}
	if second := m.ToolCalls[1]; second.ID == "" || second.ID == "toolu_1" || second.Arguments == nil || len(second.Arguments) != 0 {
		t.Errorf("second call = %+v", second)
	}
	if resp.Malformed != nil || resp.Stop != "tool_calls" {
		t.Errorf("malformed = %v, stop = %q", resp.Malformed, resp.Stop)
	}
	if want := (provider.Usage{Input: 330, Output: 42, CacheRead: 300, CacheWrite: 20}); resp.Usage != want {
		t.Errorf("usage = %+v", resp.Usage)
	}
	r := server.Last()
	if r.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "sk-ant-api-1" || r.Header.Get("Anthropic-Version") != "2023-06-01" || r.Header.Get("Authorization") != "" {
		t.Errorf("request = %+v", r)
	}
}

// chunks cuts s into pieces of n bytes.
func chunks(s string, n int) []string {
	var out []string
	for c := range slices.Chunk([]byte(s), n) {
		out = append(out, string(c))
	}
	return out
}

// HO-55: pictures and signatures are in the request.
func TestRequest(t *testing.T) {
	temperature := 0.5
	answer := msg("assistant", "I look.")
	answer.Thinking = "hm"
	answer.Thoughts = []message.Thought{
		{Provider: "anthropic", Text: "hm", Signature: "c2ln"},
		{Provider: "google", Signature: "foreign"},
		{Provider: "anthropic", Signature: "aGlkZGVu", Redacted: true},
	}
	answer.ToolCalls = []sdk.MessageToolCall{
		{ID: "toolu_1", Name: "Read", Arguments: map[string]any{"path": "<a&b>"}},
		{ID: "functions.Done:0", Name: "Done"},
	}
	result := msg("tool", "content")
	result.ToolCallID, result.ToolName = "toolu_1", "Read"
	result.Images = []message.Image{{MediaType: "image/png", Data: []byte("png")}}
	failed := msg("tool", "no such tool")
	failed.ToolCallID, failed.Failed = "functions.Done:0", true
	first := msg("user", "look at this")
	first.Images = []message.Image{{MediaType: "image/jpeg", Data: []byte("jpeg")}}

	got := body(t, &provider.Request{
		Model:    "claude-sonnet-4-5",
		System:   "Be brief.",
		Messages: []message.Message{first, answer, result, failed, msg("user", "and now?"), msg("assistant", ""), msg("user", "well?")},
		Tools: []provider.Tool{
			{Name: "Read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)},
			{Name: "Done", Parameters: json.RawMessage(`{"type":"object"}`)},
		},
		Generation: provider.Generation{Temperature: &temperature, MaxOutputTokens: 1000, Stop: []string{"END"}},
	})
	sameJSON(t, got, `{
	  "model": "claude-sonnet-4-5", "max_tokens": 1000, "stream": true, "temperature": 0.5, "stop_sequences": ["END"],
	  "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
	  "tools": [
	    {"name": "Read", "description": "reads", "input_schema": {"type": "object"}},
	    {"name": "Done", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
	  ],
	  "messages": [
	    {"role": "user", "content": [
	      {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "anBlZw=="}},
	      {"type": "text", "text": "look at this", "cache_control": {"type": "ephemeral"}}
	    ]},
	    {"role": "assistant", "content": [
	      {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
	      {"type": "redacted_thinking", "data": "aGlkZGVu"},
	      {"type": "text", "text": "I look."},
	      {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "<a&b>"}},
	      {"type": "tool_use", "id": "functions_Done_0", "name": "Done", "input": {}}
	    ]},
	    {"role": "user", "content": [
	      {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
	        {"type": "text", "text": "content"},
	        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}}
	      ]},
	      {"type": "tool_result", "tool_use_id": "functions_Done_0", "is_error": true, "content": [{"type": "text", "text": "no such tool"}]},
	      {"type": "text", "text": "and now?"},
	      {"type": "text", "text": "well?", "cache_control": {"type": "ephemeral"}}
	    ]}
	  ]
	}`)
}

func TestTurns(t *testing.T) {
	call := msg("assistant", "")
	call.ToolCalls = []sdk.MessageToolCall{{ID: "a", Name: "A"}}
	result := msg("tool", "")
	result.ToolCallID = "a"
	const wrapped = "user:<note from=\"assistant\">\nn\n</note>"
	tests := []struct {
		name    string
		history []message.Message
		want    []string
	}{
		{"begins with the assistant", []message.Message{msg("assistant", "hi"), msg("user", "u")}, []string{"user:(The conversation begins with the assistant.)", "assistant:hi", "user:u"}},
		{"ends with an answer", []message.Message{msg("user", "u"), msg("assistant", "a")}, []string{"user:u", "assistant:a", "user:Continue."}},
		{"ends with a note", []message.Message{msg("user", "u"), note("n")}, []string{"user:u|" + wrapped[5:]}},
		{"note before an answer", []message.Message{msg("user", "u"), note("n"), msg("assistant", "a"), msg("user", "v")}, []string{"user:u|" + wrapped[5:], "assistant:a", "user:v"}},
		{"note before the user", []message.Message{msg("user", "u"), msg("assistant", "a"), note("n"), msg("user", "v")}, []string{"user:u", "assistant:a|n", "user:v"}},
		{"note after a result", []message.Message{msg("user", "u"), call, result, note("n")}, []string{"user:u", "assistant:tool_use", "user:tool_result|" + wrapped[5:]}},
		{"nothing", nil, []string{"user:Continue."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := body(t, &provider.Request{Model: "claude-sonnet-4-5", Messages: tt.history})
			var turns []string
			for _, m := range got["messages"].([]any) {
				m := m.(map[string]any)
				var parts []string
				for _, b := range m["content"].([]any) {
					b := b.(map[string]any)
					if s, ok := b["text"].(string); ok {
						parts = append(parts, s)
					} else {
						parts = append(parts, b["type"].(string))
					}
				}
				turns = append(turns, m["role"].(string)+":"+strings.Join(parts, "|"))
			}
			if !slices.Equal(turns, tt.want) {
				t.Errorf("got  %q\nwant %q", turns, tt.want)
			}
		})
	}
}

// HO-44
func TestThinking(t *testing.T) {
	temperature := 0.5
	tests := []struct {
		model, think string
		budget, out  int
		want         string // thinking, output_config, max_tokens and temperature as JSON.
	}{
		{"claude-sonnet-4-5", "", 0, 0, `[null,null,32000,0.5]`},
		{"claude-sonnet-4-5", "off", 0, 0, `[null,null,32000,0.5]`},
		{"claude-sonnet-4-5", "low", 0, 0, `[{"type":"enabled","budget_tokens":4096},null,32000,null]`},
		{"claude-sonnet-4-5", "medium", 0, 1000, `[{"type":"enabled","budget_tokens":12288},null,16384,null]`},
		{"claude-sonnet-4-5", "high", 0, 0, `[{"type":"enabled","budget_tokens":32768},null,36864,null]`},
		{"claude-sonnet-4-5", "high", 2000, 0, `[{"type":"enabled","budget_tokens":2000},null,32000,null]`},
		{"claude-sonnet-4-5", "", 100, 0, `[{"type":"enabled","budget_tokens":1024},null,32000,null]`},
		{"claude-opus-4-1", "high", 0, 0, `[{"type":"enabled","budget_tokens":27904},null,32000,null]`},
		{"claude-3-5-haiku-latest", "high", 0, 0, `[null,null,8192,0.5]`},
		{"claude-opus-4-6", "high", 0, 0, `[{"type":"adaptive","display":"summarized"},{"effort":"high"},64000,null]`},
		{"claude-opus-4.6", "", 0, 0, `[null,null,32000,0.5]`},
		{"claude-opus-5", "low", 0, 0, `[{"type":"adaptive","display":"summarized"},{"effort":"low"},64000,null]`},
		{"claude-opus-5", "off", 0, 500, `[{"type":"disabled"},null,500,null]`},
		{"claude-opus-5", "", 0, 0, `[null,null,32000,null]`},
		{"some-imitation", "low", 0, 0, `[{"type":"enabled","budget_tokens":4096},null,32000,null]`},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+tt.think, func(t *testing.T) {
			req := hello()
			req.Model, req.Think = tt.model, tt.think
			req.Generation = provider.Generation{Temperature: &temperature, ThinkBudget: tt.budget, MaxOutputTokens: tt.out}
			got := body(t, req)
			sameJSON(t, []any{got["thinking"], got["output_config"], got["max_tokens"], got["temperature"]}, tt.want)
		})
	}
}

func TestNoThinkingInsideAForeignChain(t *testing.T) {
	call := msg("assistant", "")
	call.ToolCalls = []sdk.MessageToolCall{{ID: "a", Name: "A"}}
	result := msg("tool", "r")
	result.ToolCallID = "a"
	req := hello()
	req.Think = "low"
	req.Messages = append(req.Messages, call, result)
	if got := body(t, req); got["thinking"] != nil {
		t.Errorf("thinking = %v", got["thinking"])
	}
	req.Messages = append(req.Messages, msg("user", "go on"))
	if got := body(t, req); got["thinking"] == nil {
		t.Error("no thinking after the next message of the person")
	}
}

func TestFaults(t *testing.T) {
	tool := providertest.SSE(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Read","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`)
	begin := providertest.SSE(start) + textBlock("half")
	tests := []struct {
		name  string
		step  providertest.Step
		class provider.Class
		text  string
	}{
		{"cut", providertest.Step{Body: begin, Cut: true}, provider.Network, "cut"},
		{"no closing event", providertest.Step{Body: begin + providertest.SSE(end)}, provider.Network, "message_stop"},
		{"half a tool call", providertest.Step{Body: begin + tool}, provider.Network, "message_stop"},
		{"half an event", providertest.Step{Body: begin + `data: {"type":"content_bl`}, provider.Network, "cut"},
		{"invalid JSON", providertest.Step{Body: begin + providertest.SSE(`{"type":`)}, provider.Server, "not JSON"},
		{"wrong types", providertest.Step{Body: begin + providertest.SSE(`{"type":7}`)}, provider.Server, "not JSON"},
		{"HTML", providertest.Step{Body: "<html><title>Login</title>", Header: map[string]string{"Content-Type": "text/html"}}, provider.Server, "HTML page (Login)"},
		{"empty", providertest.Step{}, provider.Server, "empty answer"},
		{"whole message", providertest.Step{Body: `{"type":"message","content":[]}`}, provider.Network, "message_stop"},
		{"overloaded in the stream", providertest.Step{Body: begin + "event: error\n" + providertest.SSE(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, provider.Server, "Overloaded"},
		{"overloaded", providertest.Step{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, provider.Server, "HTTP 529"},
		{"too long", providertest.Step{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`}, provider.ContextExhausted, "prompt is too long"},
		{"bad key", providertest.Step{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`}, provider.Auth, "invalid x-api-key"},
		{"refusal", providertest.Step{Body: begin + providertest.SSE(`{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, stop)}, provider.ContentFilter, "refused"},
		{"nameless call", providertest.Step{Body: begin + providertest.SSE(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t"}}`, stop)}, provider.Server, "without a name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newClient(t, tt.step)
			resp, err := c.Chat(t.Context(), hello(), nil)
			e, ok := errors.AsType[*provider.Error](err)
			if resp != nil || !ok || e.Class != tt.class || !strings.Contains(e.Error(), tt.text) || e.Provider != "claude" {
				t.Errorf("resp = %v, err = %#v (%v)", resp, err, err)
			}
		})
	}
}

func TestMalformedArguments(t *testing.T) {
	for _, raw := range []string{`{"path":`, `[1]`, `7`} {
		quoted, _ := json.Marshal(raw)
		c, _ := newClient(t, providertest.Step{Body: providertest.SSE(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"Read","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+string(quoted)+`}}`,
			`{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, stop)})
		resp, err := c.Chat(t.Context(), hello(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Malformed["t"] != raw || len(resp.Message.ToolCalls) != 1 || len(resp.Message.ToolCalls[0].Arguments) != 0 || resp.Stop != "length" {
			t.Errorf("%s: %+v", raw, resp)
		}
	}
}

func TestCancel(t *testing.T) {
	c, _ := newClient(t, providertest.Step{Body: providertest.SSE(start) + textBlock("first"), Stall: true})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Chat(ctx, hello(), func(provider.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestOAuthToken(t *testing.T) {
	server := providertest.Serve(t, providertest.Step{Body: providertest.SSE(start, stop)})
	c := anthropic.New(provider.Options{Name: "c", URL: server.URL + "/v1/", Token: "sk-ant-oat01-x"})
	if _, err := c.Chat(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	r := server.Last()
	if r.Path != "/v1/messages" || r.Header.Get("Authorization") != "Bearer sk-ant-oat01-x" || r.Header.Get("X-Api-Key") != "" {
		t.Errorf("request = %+v", r)
	}
}

// HO-28
func TestModels(t *testing.T) {
	jsonType := map[string]string{"Content-Type": "application/json"}
	c, server := newClient(t,
		providertest.Step{Header: jsonType, Body: `{"data":[{"id":"claude-opus-5","max_input_tokens":1000000}],"has_more":true,"last_id":"claude-opus-5"}`},
		providertest.Step{Header: jsonType, Body: `{"data":[{"id":"claude-sonnet-4-5"}],"has_more":false}`})
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "claude-opus-5" || list[0].ContextLength != 1000000 || list[1].ContextLength != 200000 {
		t.Errorf("models = %+v, %v", list, err)
	}
	if path := server.Last().Path; !strings.Contains(path, "after_id=claude-opus-5") {
		t.Errorf("path = %s", path)
	}
	info := c.Model(t.Context(), "claude-sonnet-4-5")
	if info.Family != "claude" || !slices.Contains(info.Capabilities, "thinking") || !slices.Contains(info.Capabilities, "vision") {
		t.Errorf("model = %+v", info)
	}
	if info := c.Model(t.Context(), "unheard-of"); info.Name != "unheard-of" {
		t.Errorf("model = %+v", info)
	}
}
