package google_test

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
	"github.com/idelchi/aura/internal/provider/google"
	"github.com/idelchi/aura/internal/provider/providertest"
	"github.com/idelchi/aura/sdk"
)

const (
	half = `{"candidates":[{"content":{"role":"model","parts":[{"text":"half"}]}}]}`
	done = `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`
)

func newClient(t *testing.T, steps ...providertest.Step) (*google.Client, *providertest.Server) {
	t.Helper()
	none := 0
	server := providertest.Serve(t, steps...)
	return google.New(provider.Options{
		Name: "gemini", URL: server.URL, Token: "AIza1", Retry: provider.Retry{MaxAttempts: &none},
	}), server
}

func msg(role, text string) message.Message {
	return message.Message{Message: sdk.Message{Role: role, Content: text, Type: sdk.TypeNormal}}
}

func hello() *provider.Request {
	return &provider.Request{Model: "gemini-3-flash", Messages: []message.Message{msg("user", "hello")}}
}

// body sends req and returns what the server received.
func body(t *testing.T, req *provider.Request) map[string]any {
	t.Helper()
	c, server := newClient(t, providertest.Step{Body: providertest.SSE(done)})
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
	stream := providertest.SSE(
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"**Looking**","thought":true}]}}],"usageMetadata":{"promptTokenCount":50}}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Grüße "}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"🐺"},{"functionCall":{"name":"Read","args":{"path":"main.go"}},"thoughtSignature":"c2lnMQ=="}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"srv1","name":"Done"}}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"c2lnMg=="}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":30,"candidatesTokenCount":7,"thoughtsTokenCount":20}}`,
	)
	c, server := newClient(t, providertest.Step{Chunks: chunks(stream, 5)})
	var deltas []provider.Delta
	resp, err := c.Chat(t.Context(), hello(), func(d provider.Delta) { deltas = append(deltas, d) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []provider.Delta{
		{Thinking: "**Looking**"},
		{Text: "Grüße "},
		{Text: "🐺"},
	}; !reflect.DeepEqual(
		deltas,
		want,
	) {
		t.Errorf("deltas = %v", deltas)
	}
	m := resp.Message
	if m.Role != "assistant" || m.Type != "normal" || m.Content != "Grüße 🐺" || m.Thinking != "**Looking**" {
		t.Errorf("message = %+v", m)
	}
	if len(m.ToolCalls) != 2 || m.ToolCalls[0].ID == "" || m.ToolCalls[1].ID != "srv1" ||
		m.ToolCalls[1].Arguments == nil ||
		!reflect.DeepEqual(m.ToolCalls[0].Arguments, map[string]any{"path": "main.go"}) {
		t.Fatalf("calls = %+v", m.ToolCalls)
	}
	if want := []message.Thought{
		{Provider: "google", CallID: m.ToolCalls[0].ID, Signature: "c2lnMQ=="},
		{Provider: "google", Signature: "c2lnMg=="},
	}; !reflect.DeepEqual(m.Thoughts, want) {
		t.Errorf("thoughts = %+v", m.Thoughts)
	}
	if want := (provider.Usage{Input: 50, Output: 27, CacheRead: 30}); resp.Usage != want ||
		resp.Stop != "tool_calls" ||
		resp.Malformed != nil {
		t.Errorf("usage = %+v, stop = %q, malformed = %v", resp.Usage, resp.Stop, resp.Malformed)
	}
	r := server.Last()
	if r.Path != "/models/gemini-3-flash:streamGenerateContent?alt=sse" || r.Header.Get("X-Goog-Api-Key") != "AIza1" {
		t.Errorf("request = %+v", r)
	}

	// What came back goes out again, signatures in place.
	result := func(i int) message.Message {
		r := msg("tool", "result")
		r.ToolName, r.ToolCallID = m.ToolCalls[i].Name, m.ToolCalls[i].ID
		return r
	}
	req := hello()
	req.Messages = append(req.Messages, m, result(0), result(1))
	sameJSON(t, body(t, req)["contents"], `[
	  {"role": "user", "parts": [{"text": "hello"}]},
	  {"role": "model", "parts": [
	    {"text": "Grüße 🐺", "thoughtSignature": "c2lnMg=="},
	    {"functionCall": {"name": "Read", "args": {"path": "main.go"}}, "thoughtSignature": "c2lnMQ=="},
	    {"functionCall": {"id": "srv1", "name": "Done", "args": {}}}
	  ]},
	  {"role": "user", "parts": [
	    {"functionResponse": {"name": "Read", "response": {"output": "result"}}},
	    {"functionResponse": {"id": "srv1", "name": "Done", "response": {"output": "result"}}}
	  ]}
	]`)
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
	foreign := msg("assistant", "")
	foreign.Thoughts = []message.Thought{{Provider: "anthropic", Signature: "foreign"}}
	foreign.ToolCalls = []sdk.MessageToolCall{{ID: "toolu_1", Name: "Shot", Arguments: map[string]any{"of": "<a&b>"}}}
	result := msg("tool", "no screen")
	result.ToolCallID, result.ToolName, result.Failed = "toolu_1", "Shot", true
	result.Images = []message.Image{{MediaType: "image/png", Data: []byte("png")}}
	first := msg("user", "look")
	first.Images = []message.Image{{MediaType: "image/jpeg", Data: []byte("jpeg")}}
	note := msg("assistant", "n")
	note.Type = sdk.TypeSynthetic

	req := &provider.Request{
		Model:    "gemini-3-pro-preview",
		System:   "Be brief.",
		Messages: []message.Message{first, foreign, result, note},
		Tools: []provider.Tool{
			{Name: "Shot", Description: "takes a picture", Parameters: json.RawMessage(`{"type":"object"}`)},
		},
		Think: "low",
		Generation: provider.Generation{
			Temperature: &temperature, TopP: &temperature, TopK: &topK, FrequencyPenalty: &temperature,
			PresencePenalty: &temperature, MaxOutputTokens: 1000, Stop: []string{"END"}, Seed: &seed,
		},
	}
	sameJSON(t, body(t, req), `{
	  "systemInstruction": {"parts": [{"text": "Be brief."}]},
	  "contents": [
	    {"role": "user", "parts": [{"inlineData": {"mimeType": "image/jpeg", "data": "anBlZw=="}}, {"text": "look"}]},
	    {"role": "model", "parts": [{"functionCall": {"id": "toolu_1", "name": "Shot", "args": {"of": "<a&b>"}}, "thoughtSignature": "skip_thought_signature_validator"}]},
	    {"role": "user", "parts": [{"functionResponse": {"id": "toolu_1", "name": "Shot", "response": {"error": "no screen"}}}]},
	    {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "cG5n"}}, {"text": "<note from=\"assistant\">\nn\n</note>"}]}
	  ],
	  "tools": [{"functionDeclarations": [{"name": "Shot", "description": "takes a picture", "parametersJsonSchema": {"type": "object"}}]}],
	  "generationConfig": {
	    "temperature": 0.5, "topP": 0.5, "topK": 40, "frequencyPenalty": 0.5, "presencePenalty": 0.5, "maxOutputTokens": 1000,
	    "stopSequences": ["END"], "seed": 7, "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"}
	  }
	}`)

	req = hello()
	req.Messages = []message.Message{msg("assistant", "hi")}
	sameJSON(t, body(t, req)["contents"], `[
	  {"role": "user", "parts": [{"text": "(The conversation begins with the assistant.)"}]},
	  {"role": "model", "parts": [{"text": "hi"}]},
	  {"role": "user", "parts": [{"text": "Continue."}]}
	]`)
}

// HO-44
func TestThinking(t *testing.T) {
	tests := []struct {
		model, think string
		budget       int
		want         string
	}{
		{"gemini-3-flash", "", 0, `null`},
		{"gemini-3-flash", "medium", 0, `{"includeThoughts":true,"thinkingLevel":"medium"}`},
		{"gemini-3-pro-preview", "medium", 0, `{"includeThoughts":true,"thinkingLevel":"high"}`},
		{"gemini-3.1-pro", "off", 0, `{"thinkingLevel":"low"}`},
		{"gemini-3.1-pro", "high", 5000, `{"includeThoughts":true,"thinkingBudget":5000}`},
		{"gemini-2.5-flash", "off", 0, `{"thinkingBudget":0}`},
		{"gemini-2.5-pro", "off", 0, `{"thinkingBudget":128}`},
		{"gemini-2.5-flash", "low", 0, `{"includeThoughts":true,"thinkingBudget":4096}`},
		{"gemini-2.5-flash", "high", 0, `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-pro", "high", 0, `{"includeThoughts":true,"thinkingBudget":32768}`},
		{"gemini-2.5-pro", "high", 999, `{"includeThoughts":true,"thinkingBudget":999}`},
		{"gemini-flash-latest", "low", 0, `{"includeThoughts":true,"thinkingBudget":4096}`},
		{"gemini-2.0-flash", "high", 0, `null`},
		{"gemma-3", "high", 0, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+tt.think, func(t *testing.T) {
			req := hello()
			req.Model, req.Think, req.Generation.ThinkBudget = tt.model, tt.think, tt.budget
			got := body(t, req)["generationConfig"].(map[string]any)
			sameJSON(t, got["thinkingConfig"], tt.want)
		})
	}
}

// A call that the server could not read is no failure: the model can mend it.
func TestUnreadCall(t *testing.T) {
	const end = `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"why"}]}`
	call := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"Read","args":{}}}]}}]}`
	tests := []struct {
		name, body, text, stop string
		calls                  int
	}{
		{"alone", providertest.SSE(end), "", "malformed_function_call", 0},
		{"after text", providertest.SSE(half, end), "half", "malformed_function_call", 0},
		{"after a good one", providertest.SSE(call, end), "", "tool_calls", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newClient(t, providertest.Step{Body: tt.body})
			resp, err := c.Chat(t.Context(), hello(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Broken != "MALFORMED_FUNCTION_CALL: why" || resp.Stop != tt.stop ||
				resp.Message.Content != tt.text ||
				len(resp.Message.ToolCalls) != tt.calls {
				t.Errorf("got %+v", resp)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	finish := func(reason string) string {
		return providertest.SSE(half, `{"candidates":[{"finishReason":"`+reason+`","finishMessage":"why"}]}`)
	}
	tests := []struct {
		name  string
		step  providertest.Step
		class provider.Class
		text  string
	}{
		{"cut", providertest.Step{Body: providertest.SSE(half), Cut: true}, provider.Network, "cut"},
		{"no finishReason", providertest.Step{Body: providertest.SSE(half)}, provider.Network, "finishReason"},
		{
			"half a call",
			providertest.Step{
				Body: providertest.SSE(half) + `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"Re`,
			},
			provider.Network,
			"cut",
		},
		{
			"invalid JSON",
			providertest.Step{Body: providertest.SSE(half, `{"candidates":`)},
			provider.Server,
			"not JSON",
		},
		{
			"wrong types",
			providertest.Step{Body: providertest.SSE(`{"candidates":"none"}`)},
			provider.Server,
			"not JSON",
		},
		{"HTML", providertest.Step{Body: "<!doctype html><title>Login</title>"}, provider.Server, "HTML page"},
		{"empty", providertest.Step{}, provider.Server, "empty answer"},
		{
			"error in the stream",
			providertest.Step{
				Body: providertest.SSE(
					half,
					`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
				),
			},
			provider.Server,
			"overloaded",
		},
		{
			"quota",
			providertest.Step{
				Status: 429,
				Body:   `[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]`,
			},
			provider.RateLimit,
			"exhausted",
		},
		{
			"prompt blocked",
			providertest.Step{Body: providertest.SSE(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`)},
			provider.ContentFilter,
			"PROHIBITED_CONTENT",
		},
		{"answer blocked", providertest.Step{Body: finish("SAFETY")}, provider.ContentFilter, "SAFETY: why"},
		{
			"too many calls",
			providertest.Step{Body: finish("TOO_MANY_TOOL_CALLS")},
			provider.Server,
			"TOO_MANY_TOOL_CALLS: why",
		},
		{
			"nothing at all",
			providertest.Step{Body: providertest.SSE(`{"candidates":[{"finishReason":"OTHER"}]}`)},
			provider.Server,
			"OTHER",
		},
		{
			"nameless call",
			providertest.Step{Body: providertest.SSE(`{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}`)},
			provider.Server,
			"without a name",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newClient(t, tt.step)
			resp, err := c.Chat(t.Context(), hello(), nil)
			e, ok := errors.AsType[*provider.Error](err)
			if resp != nil || !ok || e.Class != tt.class || !strings.Contains(e.Error(), tt.text) ||
				e.Provider != "gemini" {
				t.Errorf("resp = %v, err = %#v (%v)", resp, err, err)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	for reason, want := range map[string]string{"STOP": "stop", "MAX_TOKENS": "length", "OTHER": "other"} {
		c, _ := newClient(
			t,
			providertest.Step{Body: providertest.SSE(half, `{"candidates":[{"finishReason":"`+reason+`"}]}`)},
		)
		resp, err := c.Chat(t.Context(), hello(), nil)
		if err != nil || resp.Stop != want || resp.Message.Content != "half" {
			t.Errorf("%s: %+v, %v", reason, resp, err)
		}
	}
	c, _ := newClient(
		t,
		providertest.Step{
			Body:   "[" + half + ",\n" + done + "]",
			Header: map[string]string{"Content-Type": "application/json"},
		},
	)
	if resp, err := c.Chat(t.Context(), hello(), nil); err != nil || resp.Message.Content != "halfok" {
		t.Errorf("array: %+v, %v", resp, err)
	}
	c, _ = newClient(
		t,
		providertest.Step{
			Body: providertest.SSE(
				`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"x","name":"Read","args":[1]}}]},"finishReason":"STOP"}]}`,
			),
		},
	)
	if resp, err := c.Chat(t.Context(), hello(), nil); err != nil || resp.Malformed["x"] != "[1]" {
		t.Errorf("malformed: %+v, %v", resp, err)
	}
}

func TestCancel(t *testing.T) {
	c, _ := newClient(t, providertest.Step{Body: providertest.SSE(half), Stall: true})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Chat(ctx, hello(), func(provider.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// HO-28
func TestModels(t *testing.T) {
	jsonType := map[string]string{"Content-Type": "application/json"}
	c, server := newClient(
		t,
		providertest.Step{Header: jsonType, Body: `{"models":[
			{"name":"models/gemini-2.5-pro","inputTokenLimit":1000000,"supportedGenerationMethods":["generateContent"],"thinking":true},
			{"name":"models/imagen-4","supportedGenerationMethods":["predict"]}],"nextPageToken":"p 2"}`},
		providertest.Step{
			Header: jsonType,
			Body:   `{"models":[{"name":"models/brandnew-1","inputTokenLimit":4096,"supportedGenerationMethods":["embedContent"]}]}`,
		},
		providertest.Step{
			Header: jsonType,
			Body:   `{"name":"models/brandnew-2","inputTokenLimit":8192,"thinking":true}`,
		},
		providertest.Step{Status: 404, Body: `{}`},
	)
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("models = %+v, %v", list, err)
	}
	if list[0].Name != "gemini-2.5-pro" || list[0].Family != "gemini" || list[0].ContextLength != 1000000 ||
		!slices.Contains(list[0].Capabilities, "thinking") {
		t.Errorf("first = %+v", list[0])
	}
	if want := (sdk.ModelInfo{
		Name: "brandnew-1", Family: "brandnew", ContextLength: 4096, Capabilities: []string{"embedding"},
	}); !reflect.DeepEqual(
		list[1],
		want,
	) {
		t.Errorf("second = %+v", list[1])
	}
	if path := server.Last().Path; !strings.Contains(path, "pageToken=p+2") {
		t.Errorf("path = %s", path)
	}
	if info := c.Model(t.Context(), "gemini-2.5-flash"); info.Family != "gemini" || info.ContextLength == 0 {
		t.Errorf("known model = %+v", info)
	}
	if info := c.Model(
		t.Context(),
		"brandnew-2",
	); info.ContextLength != 8192 ||
		!slices.Equal(info.Capabilities, []string{"thinking"}) {
		t.Errorf("unknown model = %+v", info)
	}
	if info := c.Model(t.Context(), "../absent"); !reflect.DeepEqual(info, sdk.ModelInfo{Name: "../absent"}) {
		t.Errorf("absent model = %+v", info)
	}
}
