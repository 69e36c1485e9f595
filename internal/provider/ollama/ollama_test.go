package ollama_test

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
	"github.com/idelchi/aura/internal/provider/ollama"
	"github.com/idelchi/aura/internal/provider/providertest"
	"github.com/idelchi/aura/sdk"
)

const (
	half = `{"model":"m","message":{"role":"assistant","content":"half"},"done":false}` + "\n"
	done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":26,"eval_count":8}` + "\n"
)

func newClient(t *testing.T, keepAlive string, steps ...providertest.Step) (*ollama.Client, *providertest.Server) {
	t.Helper()
	none := 0
	for i := range steps {
		if steps[i].Header == nil {
			steps[i].Header = map[string]string{"Content-Type": "application/x-ndjson"}
		}
	}
	server := providertest.Serve(t, steps...)
	return ollama.New(
		provider.Options{Name: "local", URL: server.URL, Retry: provider.Retry{MaxAttempts: &none}},
		keepAlive,
	), server
}

func msg(role, text string) message.Message {
	return message.Message{Message: sdk.Message{Role: role, Content: text, Type: sdk.TypeNormal}}
}

func hello() *provider.Request {
	return &provider.Request{Model: "qwen3:8b", Messages: []message.Message{msg("user", "hello")}}
}

// body sends req and returns what the server received.
func body(t *testing.T, req *provider.Request, keepAlive string) map[string]any {
	t.Helper()
	c, server := newClient(t, keepAlive, providertest.Step{Body: done})
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

// HO-44
func TestStream(t *testing.T) {
	stream := `{"message":{"role":"assistant","content":"","thinking":"Let me "},"done":false}
{"message":{"role":"assistant","content":"","thinking":"see."},"done":false}

{"message":{"role":"assistant","content":"Grüße "},"done":false}
{"message":{"role":"assistant","content":"🐺"},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"Read","arguments":{"path":"main.go"}}},{"id":"call_9","function":{"name":"Read","arguments":"{\"path\":\"x\"}"}}]},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"Done"}},{"id":"bad","function":{"name":"Done","arguments":"{\"a"}}]},"done":false}
` + done
	c, server := newClient(t, "", providertest.Step{Chunks: chunks(stream, 5)})
	var deltas []provider.Delta
	resp, err := c.Chat(t.Context(), hello(), func(d provider.Delta) { deltas = append(deltas, d) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []provider.Delta{
		{Thinking: "Let me "},
		{Thinking: "see."},
		{Text: "Grüße "},
		{Text: "🐺"},
	}; !reflect.DeepEqual(
		deltas,
		want,
	) {
		t.Errorf("deltas = %v", deltas)
	}
	m := resp.Message
	if m.Role != "assistant" || m.Type != "normal" || m.Content != "Grüße 🐺" || m.Thinking != "Let me see." {
		t.Errorf("message = %+v", m)
	}
	if len(m.ToolCalls) != 4 || m.ToolCalls[0].ID == "" || m.ToolCalls[0].ID == m.ToolCalls[2].ID ||
		m.ToolCalls[1].ID != "call_9" ||
		!reflect.DeepEqual(m.ToolCalls[0].Arguments, map[string]any{"path": "main.go"}) ||
		!reflect.DeepEqual(m.ToolCalls[1].Arguments, map[string]any{"path": "x"}) ||
		m.ToolCalls[2].Arguments == nil {
		t.Errorf("calls = %+v", m.ToolCalls)
	}
	if !reflect.DeepEqual(resp.Malformed, map[string]string{"bad": `{"a`}) {
		t.Errorf("malformed = %v", resp.Malformed)
	}
	if resp.Stop != "tool_calls" || resp.Usage != (provider.Usage{Input: 26, Output: 8}) {
		t.Errorf("stop = %q, usage = %+v", resp.Stop, resp.Usage)
	}
	if r := server.Last(); r.Path != "/api/chat" || r.Header.Get("Authorization") != "" {
		t.Errorf("request = %+v", r)
	}
}

func chunks(s string, n int) []string {
	var out []string
	for c := range slices.Chunk([]byte(s), n) {
		out = append(out, string(c))
	}
	return out
}

// HO-55: pictures are in the request.
func TestRequest(t *testing.T) {
	temperature, topK, seed := 0.5, 40, 7
	call := msg("assistant", "")
	call.Thinking = "hm"
	call.ToolCalls = []sdk.MessageToolCall{
		{ID: "c1", Name: "Read", Arguments: map[string]any{"path": "<a&b>"}},
		{ID: "c2", Name: "Done"},
	}
	result := msg("tool", "content")
	result.ToolCallID, result.ToolName = "c1", "Read"
	second := msg("tool", "ok")
	second.ToolCallID, second.ToolName = "c2", "Done"
	first := msg("user", "look")
	first.Images = []message.Image{{MediaType: "image/png", Data: []byte("png")}}
	old := msg("assistant", "hi")
	old.Thinking = "old"

	got := body(t, &provider.Request{
		Model:    "qwen3:8b",
		System:   "Be brief.",
		Messages: []message.Message{old, first, call, result, second},
		Tools: []provider.Tool{
			{Name: "Read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`)},
		},
		Think: "low",
		Generation: provider.Generation{
			Temperature:      &temperature,
			TopP:             &temperature,
			TopK:             &topK,
			FrequencyPenalty: &temperature,
			PresencePenalty:  &temperature,
			MaxOutputTokens:  100,
			Stop:             []string{"END"},
			Seed:             &seed,
			Context:          16384,
		},
	}, "10m0s")
	sameJSON(t, got, `{
	  "model": "qwen3:8b", "stream": true, "think": true, "keep_alive": "10m0s",
	  "messages": [
	    {"role": "system", "content": "Be brief."},
	    {"role": "assistant", "content": "hi"},
	    {"role": "user", "content": "look", "images": ["cG5n"]},
	    {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [
	      {"id": "c1", "function": {"name": "Read", "arguments": {"path": "<a&b>"}}},
	      {"id": "c2", "function": {"name": "Done", "arguments": {}}}
	    ]},
	    {"role": "tool", "content": "content", "tool_name": "Read", "tool_call_id": "c1"},
	    {"role": "tool", "content": "ok", "tool_name": "Done", "tool_call_id": "c2"}
	  ],
	  "tools": [{"type": "function", "function": {"name": "Read", "description": "reads", "parameters": {"type": "object"}}}],
	  "options": {"num_ctx": 16384, "num_predict": 100, "temperature": 0.5, "top_p": 0.5, "top_k": 40,
	    "frequency_penalty": 0.5, "presence_penalty": 0.5, "stop": ["END"], "seed": 7}
	}`)
	note := msg("assistant", "n")
	note.Type = sdk.TypeSynthetic
	req := hello()
	req.Messages = append(req.Messages, note)
	sameJSON(
		t,
		body(t, req, "")["messages"],
		`[{"role": "user", "content": "hello"}, {"role": "user", "content": "<note from=\"assistant\">\nn\n</note>"}]`,
	)
	sameJSON(
		t,
		body(t, hello(), "-1"),
		`{"model": "qwen3:8b", "stream": true, "keep_alive": -1, "messages": [{"role": "user", "content": "hello"}]}`,
	)
}

// HO-44
func TestThinking(t *testing.T) {
	for _, tt := range []struct {
		model, think string
		want         any
	}{
		{"qwen3", "", nil}, {"qwen3", "off", false}, {"qwen3", "high", true}, {"gpt-oss:20b", "high", "high"},
		{"gpt-oss:20b", "off", false},
	} {
		req := hello()
		req.Model, req.Think = tt.model, tt.think
		if got := body(t, req, "")["think"]; got != tt.want {
			t.Errorf("%s %s: %v", tt.model, tt.think, got)
		}
	}

	c, server := newClient(
		t,
		"",
		providertest.Step{
			Status: 400,
			Body:   `{"error":"\"llama3:8b\" does not support thinking"}`,
		},
		providertest.Step{Body: half + done},
	)
	req := hello()
	req.Think = "low"
	resp, err := c.Chat(t.Context(), req, nil)
	if err != nil || resp.Message.Content != "half" || strings.Contains(server.Last().Body, `"think"`) {
		t.Errorf("without thinking: %+v, %v", resp, err)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name  string
		step  providertest.Step
		class provider.Class
		text  string
	}{
		{"cut", providertest.Step{Body: half, Cut: true}, provider.Network, "cut"},
		{"not done", providertest.Step{Body: half}, provider.Network, "without its last line"},
		{
			"half a call",
			providertest.Step{Body: half + `{"message":{"tool_calls":[{"function":{"name":"Re`},
			provider.Network,
			"cut",
		},
		{"invalid JSON", providertest.Step{Body: half + "{\"message\":\n" + done}, provider.Server, "not JSON"},
		{"wrong types", providertest.Step{Body: "{\"message\":7}\n" + done}, provider.Server, "not JSON"},
		{"HTML", providertest.Step{Body: "<html><title>Proxy</title>"}, provider.Server, "HTML page (Proxy)"},
		{"empty", providertest.Step{}, provider.Server, "empty answer"},
		{
			"error in the stream",
			providertest.Step{Body: half + `{"error":"model runner has unexpectedly stopped: internal error"}` + "\n"},
			provider.Server,
			"unexpectedly stopped",
		},
		{
			"absent model",
			providertest.Step{Status: 404, Body: `{"error":"model 'x' not found"}`},
			provider.ModelUnavailable,
			"model 'x' not found",
		},
		{
			"nameless call",
			providertest.Step{Body: `{"message":{"tool_calls":[{"function":{}}]}}` + "\n" + done},
			provider.Server,
			"without a name",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newClient(t, "", tt.step)
			resp, err := c.Chat(t.Context(), hello(), nil)
			e, ok := errors.AsType[*provider.Error](err)
			if resp != nil || !ok || e.Class != tt.class || !strings.Contains(e.Error(), tt.text) ||
				e.Provider != "local" {
				t.Errorf("resp = %v, err = %#v (%v)", resp, err, err)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	c, _ := newClient(t, "", providertest.Step{Body: half, Stall: true})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Chat(ctx, hello(), func(provider.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// HO-28
func TestModel(t *testing.T) {
	tests := []struct {
		name, answer string
		want         sdk.ModelInfo
	}{
		{
			"llama3:8b",
			`{"details":{"family":"llama","parameter_size":"8.0B"},"model_info":{"general.architecture":"llama","general.parameter_count":8030261248,"llama.context_length":8192},"capabilities":["completion","tools"]}`,
			sdk.ModelInfo{
				Name:           "llama3:8b",
				Family:         "llama",
				ParameterCount: 8000000000,
				ContextLength:  8192,
				Capabilities:   []string{"tools", "context_override"},
			},
		},
		{
			"gpt-oss:20b",
			`{"details":{"family":"gptoss"},"model_info":{"general.parameter_count":20914757184,"gptoss.context_length":131072},"capabilities":["completion","tools","thinking"],"parameters":"temperature    1\nnum_ctx        32768\n"}`,
			sdk.ModelInfo{
				Name:           "gpt-oss:20b",
				Family:         "gptoss",
				ParameterCount: 20914757184,
				ContextLength:  32768,
				Capabilities:   []string{"tools", "thinking", "thinking_levels", "context_override"},
			},
		},
		{
			"odd",
			`{"details":{"family":"odd","parameter_size":"8x7B"},"model_info":{"odd.context_length":"many"},"capabilities":["vision","embedding","insert"]}`,
			sdk.ModelInfo{
				Name:           "odd",
				Family:         "odd",
				ParameterCount: 56000000000,
				Capabilities:   []string{"vision", "embedding", "context_override"},
			},
		},
	}
	for _, tt := range tests {
		c, server := newClient(t, "", providertest.Step{Body: tt.answer})
		if got := c.Model(t.Context(), tt.name); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if r := server.Last(); r.Path != "/api/show" || r.Body != `{"model":"`+tt.name+`"}` {
			t.Errorf("request = %+v", r)
		}
	}
	c, _ := newClient(t, "", providertest.Step{Status: 404, Body: `{"error":"model 'absent' not found"}`})
	if got := c.Model(t.Context(), "absent"); got.Name != "absent" || got.ContextLength != 0 {
		t.Errorf("absent: %+v", got)
	}
}

func TestModels(t *testing.T) {
	c, server := newClient(
		t,
		"",
		providertest.Step{
			Body: `{"models":[{"name":"llama3:8b","details":{"family":"llama","parameter_size":"8.0B"}},{"model":"nomic","details":{"family":"bert","parameter_size":"137M"}}]}`,
		},
	)
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 2 || list[0].ParameterCount != 8e9 || list[0].Family != "llama" ||
		list[1].Name != "nomic" ||
		list[1].ParameterCount != 137e6 {
		t.Errorf("models = %+v, %v", list, err)
	}
	if server.Last().Path != "/api/tags" {
		t.Errorf("request = %+v", server.Last())
	}
}
