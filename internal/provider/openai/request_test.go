package openai

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

func assistant(text string, calls ...sdk.MessageToolCall) message.Message {
	return message.Message{
		Message: sdk.Message{Role: message.Assistant, Content: text, ToolCalls: calls, Type: sdk.TypeNormal},
	}
}

func result(id, text string, images ...message.Image) message.Message {
	return message.Message{
		Message: sdk.Message{Role: message.Tool, Content: text, ToolCallID: id, ToolName: "Read"},
		Images:  images,
	}
}

// same fails unless got and want are the same JSON.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func conversation() *provider.Request {
	picture := message.Image{MediaType: "image/png", Data: []byte("png")}
	seen := user("look")
	seen.Images = []message.Image{picture}
	hidden := assistant("not sent")
	hidden.Type = message.DisplayOnly
	return &provider.Request{
		Model:  "gpt-5",
		System: "Be \"good\".",
		Messages: []message.Message{
			seen,
			hidden,
			assistant(
				"",
				sdk.MessageToolCall{ID: "c1", Name: "Read", Arguments: map[string]any{"path": "<a>", "n": 1.0}},
				sdk.MessageToolCall{ID: "c2", Name: "Read"},
			),
			result("c1", "one", picture),
			result("c2", ""),
			assistant("done"),
			user("thanks"),
		},
		Tools: []provider.Tool{
			{
				Name:        "Read",
				Description: "reads",
				Parameters:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
			},
			{Name: "Bad", Parameters: json.RawMessage(`{`)},
		},
		Think: "high",
	}
}

func TestEncodeChat(t *testing.T) {
	temperature, k := 0.5, 40
	req := conversation()
	req.Generation = provider.Generation{
		Temperature:     &temperature,
		TopK:            &k,
		MaxOutputTokens: 100,
		Stop:            []string{"END"},
		Seed:            &k,
	}
	same(t, New(provider.Options{URL: "http://localhost"}, "").encodeChat(req), `{
		"model":"gpt-5","stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"high",
		"temperature":0.5,"top_k":40,"max_tokens":100,"stop":["END"],"seed":40,
		"tools":[
			{"type":"function","function":{"name":"Read","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},
			{"type":"function","function":{"name":"Bad","description":"","parameters":{"type":"object","properties":{}}}}],
		"messages":[
			{"role":"system","content":"Be \"good\"."},
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]},
			{"role":"assistant","content":null,"tool_calls":[
				{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\"n\":1,\"path\":\"<a>\"}"}},
				{"id":"c2","type":"function","function":{"name":"Read","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"one"},
			{"role":"tool","tool_call_id":"c2","content":""},
			{"role":"user","content":[{"type":"text","text":"Image from the result of tool Read:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]},
			{"role":"assistant","content":"done"},
			{"role":"user","content":"thanks"}]}`)
}

func TestEncodeResponses(t *testing.T) {
	req := conversation()
	req.Generation.MaxOutputTokens = 100
	calls := &req.Messages[2]
	calls.Thoughts = []message.Thought{
		{Provider: thoughtResponses, ID: "rs_1", CallID: "c1", Text: "hm", Signature: "enc1"},
		{Provider: thoughtResponses, ID: "rs_2", CallID: "gone", Signature: "enc2"},
		{Provider: "anthropic", ID: "x", CallID: "c1", Signature: "sig"},
	}
	req.Messages[5].Thoughts = []message.Thought{{Provider: thoughtResponses, ID: "rs_3", Signature: "enc3"}}
	same(t, New(provider.Options{}, Responses).encodeResponses(req), `{
		"model":"gpt-5","stream":true,"store":false,"instructions":"Be \"good\".","max_output_tokens":100,
		"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"},
		"tools":[
			{"type":"function","strict":false,"name":"Read","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}},
			{"type":"function","strict":false,"name":"Bad","description":"","parameters":{"type":"object","properties":{}}}],
		"input":[
			{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,cG5n"}]},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc1"},
			{"type":"function_call","call_id":"c1","name":"Read","arguments":"{\"n\":1,\"path\":\"<a>\"}"},
			{"type":"function_call","call_id":"c2","name":"Read","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,cG5n"}]},
			{"type":"function_call_output","call_id":"c2","output":""},
			{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"enc3"},
			{"role":"assistant","content":"done"},
			{"role":"user","content":"thanks"}]}`)
}

// HO-44
func TestThinkLevels(t *testing.T) {
	tests := []struct {
		url, model, think string
		chat, responses   string // What the request must contain; "-" = nothing about reasoning.
	}{
		{"", "gpt-5", "low", `"reasoning_effort":"low"`, `"reasoning":{"effort":"low","summary":"auto"}`},
		{"", "gpt-5", "off", `"reasoning_effort":"minimal"`, `"reasoning":{"effort":"minimal"`},
		{"", "gpt-5.1", "off", `"reasoning_effort":"none"`, `"reasoning":{"effort":"none"}`},
		{"", "o3", "off", `"reasoning_effort":"low"`, `"effort":"low"`},
		{"", "gpt-5", "", "-", `"include":["reasoning.encrypted_content"]`},
		{"", "gpt-4o", "high", "-", "-"},
		{"http://localhost", "my-model", "medium", `"reasoning_effort":"medium"`, `"effort":"medium"`},
		{"http://localhost", "my-model", "off", `"chat_template_kwargs":{"enable_thinking":false}`, "-"},
		{"http://localhost", "llama3.1", "off", "-", "-"},
		{"https://example.com", "qwen3-8b", "off", "-", ""},
	}
	for _, tt := range tests {
		c := New(provider.Options{URL: tt.url}, "")
		req := &provider.Request{Model: tt.model, Think: tt.think}
		for want, got := range map[string]string{
			tt.chat: string(c.encodeChat(req)), tt.responses: string(c.encodeResponses(req)),
		} {
			if want == "-" && (strings.Contains(got, "reason") || strings.Contains(got, "think")) ||
				want != "-" && !strings.Contains(got, want) {
				t.Errorf("%s %s %q: got %s, want %s", tt.url, tt.model, tt.think, got, want)
			}
		}
	}
}

// Servers that send reasoning_content get it back while the turn goes on.
func TestReasoningIsHandedBack(t *testing.T) {
	m := assistant("", sdk.MessageToolCall{ID: "c1", Name: "Read"})
	m.Thinking = "hm"
	m.Thoughts = []message.Thought{{Provider: thoughtChat, ID: "reasoning_content"}}
	turn := []message.Message{user("go"), m, result("c1", "ok")}
	const field = `"reasoning_content":"hm"`
	for _, tt := range []struct {
		url      string
		messages []message.Message
		want     bool
	}{
		{"http://localhost", turn, true},
		{"", turn, false},
		{"http://localhost", append(turn[:3:3], user("next")), false},
	} {
		got := string(
			New(provider.Options{URL: tt.url}, "").encodeChat(&provider.Request{Model: "m", Messages: tt.messages}),
		)
		if strings.Contains(got, field) != tt.want {
			t.Errorf("%s: %s", tt.url, got)
		}
	}
}

func TestLongCallIDs(t *testing.T) {
	long := strings.Repeat("x", 100)
	req := &provider.Request{
		Model: "m",
		Messages: []message.Message{
			user("a"),
			assistant("", sdk.MessageToolCall{ID: long, Name: "Read"}),
			result(long, "ok"),
		},
	}
	body := string(New(provider.Options{}, "").encodeChat(req))
	if id := callID(long); len(id) > maxCallID || strings.Count(body, `"`+id+`"`) != 2 {
		t.Errorf("got %s", body)
	}
}

func TestOfficialParameters(t *testing.T) {
	k := 40
	body := string(
		New(
			provider.Options{},
			"",
		).encodeChat(&provider.Request{Model: "gpt-4o", Generation: provider.Generation{TopK: &k, MaxOutputTokens: 9}}),
	)
	if strings.Contains(body, "top_k") || !strings.Contains(body, `"max_completion_tokens":9`) {
		t.Errorf("got %s", body)
	}
}

func BenchmarkEncode800(b *testing.B) {
	req := &provider.Request{Model: "gpt-4o", System: strings.Repeat("system ", 500)}
	text := strings.Repeat("\tfmt.Println(\"a line of a program, zażółć\", i+1)\n", 6)
	for range 200 {
		req.Messages = append(
			req.Messages,
			user(text),
			assistant(
				"",
				sdk.MessageToolCall{ID: "c1", Name: "Read", Arguments: map[string]any{"path": text, "limit": 10.0}},
			),
			result("c1", text),
			assistant(text),
		)
	}
	for _, api := range []string{Chat, Responses} {
		b.Run(api, func(b *testing.B) {
			c := New(provider.Options{}, api)
			b.ReportAllocs()
			for b.Loop() {
				if api == Chat {
					c.encodeChat(req)
				} else {
					c.encodeResponses(req)
				}
			}
		})
	}
}
