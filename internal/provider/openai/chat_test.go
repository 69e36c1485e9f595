package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/providertest"
	"github.com/idelchi/aura/sdk"
)

type step = providertest.Step

func client(t testing.TB, url, api string) *Client {
	t.Helper()
	c := New(provider.Options{
		Name:    "mock",
		URL:     url,
		Token:   "sk-secret",
		Timeout: time.Minute,
		Retry:   provider.Retry{BaseDelay: time.Microsecond},
	}, api)
	t.Cleanup(c.t.CloseIdle)
	return c
}

func say(texts ...string) *provider.Request {
	req := &provider.Request{Model: "m"}
	for _, text := range texts {
		req.Messages = append(req.Messages, user(text))
	}
	return req
}

func user(text string) message.Message {
	return message.Message{Message: sdk.Message{Role: message.User, Content: text, Type: sdk.TypeNormal}}
}

// chunks makes a stream of chat chunks, each the given delta, and ends it.
func chunks(finish string, deltas ...string) string {
	var data []string
	for _, d := range deltas {
		data = append(
			data,
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":`+d+`,"finish_reason":null}]}`,
		)
	}
	data = append(
		data,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}}`,
		"[DONE]",
	)
	return providertest.SSE(data...)
}

// call makes a delta with one piece of a tool call.
func call(fields string) string { return `{"tool_calls":[{` + fields + `}]}` }

func TestChatText(t *testing.T) {
	srv := providertest.Serve(t, step{Body: chunks("stop",
		`{"role":"assistant","content":""}`, `{"content":"Hello"}`, `{"content":", wörld"}`)})
	var deltas []provider.Delta
	r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), func(d provider.Delta) { deltas = append(deltas, d) })
	if err != nil {
		t.Fatal(err)
	}
	if r.Message.Content != "Hello, wörld" || r.Message.Role != "assistant" || r.Message.Type != "normal" ||
		r.Stop != "stop" {
		t.Errorf("got %+v", r)
	}
	if want := (provider.Usage{Input: 12, Output: 3, CacheRead: 5}); r.Usage != want {
		t.Errorf("usage %+v", r.Usage)
	}
	if want := []provider.Delta{{Text: "Hello"}, {Text: ", wörld"}}; !slices.Equal(deltas, want) {
		t.Errorf("deltas %+v", deltas)
	}
	req := srv.Last()
	if req.Path != "/chat/completions" || req.Header.Get("Authorization") != "Bearer sk-secret" {
		t.Errorf("request %+v", req)
	}
}

// HO-44
func TestChatThinking(t *testing.T) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		srv := providertest.Serve(
			t,
			step{Body: chunks("stop", `{"`+field+`":"Let me "}`, `{"`+field+`":"see."}`, `{"content":"42"}`)},
		)
		var thought string
		r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), func(d provider.Delta) { thought += d.Thinking })
		if err != nil || r.Message.Thinking != "Let me see." || thought != "Let me see." || r.Message.Content != "42" {
			t.Errorf("%s: got %+v, %v", field, r, err)
		}
	}
}

func TestChatToolCalls(t *testing.T) {
	a, b := map[string]any{"path": "a"}, map[string]any{"path": "b"}
	tests := []struct {
		name   string
		stream string
		ids    []string // "*" stands for any that is not empty.
		args   []map[string]any
	}{
		{
			"two interleaved",
			chunks(
				"tool_calls",
				call(`"index":0,"id":"c1","type":"function","function":{"name":"Read","arguments":""}`),
				call(`"index":1,"id":"c2","type":"function","function":{"name":"Read","arguments":""}`),
				call(`"index":1,"function":{"arguments":"{\"pa"}`),
				call(`"index":0,"function":{"arguments":"{\"path\":"}`),
				call(
					`"index":0,"function":{"arguments":"\"a\"}"}`,
				),
				call(`"index":1,"function":{"arguments":"th\":\"b\"}"}`),
			),
			[]string{"c1", "c2"},
			[]map[string]any{a, b},
		},
		{
			"whole, no index",
			chunks(
				"tool_calls",
				call(
					`"id":"c1","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}`,
				),
				call(`"id":"c2","function":{"name":"Read","arguments":"{\"path\":\"b\"}"}`),
			),
			[]string{"c1", "c2"},
			[]map[string]any{a, b},
		},
		{
			"neither index nor id",
			chunks(
				"stop",
				call(
					`"function":{"name":"Read","arguments":"{\"path\":\"a\"}"}`,
				),
				call(`"function":{"name":"Read","arguments":"{\"path\":"}`),
				call(`"function":{"arguments":"\"b\"}"}`),
			),
			[]string{"*", "*"},
			[]map[string]any{a, b},
		},
		{
			"index always 0",
			chunks(
				"tool_calls",
				call(
					`"index":0,"id":"c1","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}`,
				),
				call(`"index":0,"id":"c2","function":{"name":"Read","arguments":"{\"path\":\"b\"}"}`),
			),
			[]string{"c1", "c2"},
			[]map[string]any{a, b},
		},
		{
			"id repeated",
			chunks(
				"tool_calls",
				call(
					`"index":0,"id":"c1","function":{"name":"Read","arguments":"{\"path\":"}`,
				),
				call(`"index":0,"id":"c1","function":{"name":"Read","arguments":"\"a\"}"}`),
			),
			[]string{"c1"},
			[]map[string]any{a},
		},
		{
			"same id twice",
			chunks(
				"tool_calls",
				call(
					`"index":0,"id":"c","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}`,
				),
				call(`"index":1,"id":"c","function":{"name":"Read","arguments":"{\"path\":\"b\"}"}`),
			),
			[]string{"c", "*"},
			[]map[string]any{a, b},
		},
		{
			"arguments as an object",
			chunks("tool_calls", call(`"index":0,"id":7,"function":{"name":"Read","arguments":{"path":"a"}}`)),
			[]string{"7"},
			[]map[string]any{a},
		},
		{
			"arguments encoded twice",
			chunks(
				"tool_calls",
				call(`"index":0,"id":"c1","function":{"name":"Read","arguments":"\"{\\\"path\\\":\\\"a\\\"}\""}`),
			),
			[]string{"c1"},
			[]map[string]any{a},
		},
		{
			"no arguments",
			chunks("tool_calls", call(`"index":0,"id":"c1","function":{"name":"Read"}`)),
			[]string{"c1"},
			[]map[string]any{{}},
		},
		{
			"no finish reason but done",
			providertest.SSE(
				`{"choices":[{"delta":`+call(
					`"index":0,"id":"c1","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}`,
				)+`}]}`,
				"[DONE]",
			),
			[]string{"c1"},
			[]map[string]any{a},
		},
		{
			"not streamed",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}}]},"finish_reason":"tool_calls"}]}`,
			[]string{"c1"},
			[]map[string]any{a},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, step{Body: tt.stream})
			r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Stop != "tool_calls" || len(r.Malformed) > 0 || len(r.Message.ToolCalls) != len(tt.ids) {
				t.Fatalf("got %+v", r)
			}
			seen := map[string]bool{}
			for i, c := range r.Message.ToolCalls {
				if c.Name != "Read" || c.ID == "" || seen[c.ID] || tt.ids[i] != "*" && c.ID != tt.ids[i] ||
					!reflect.DeepEqual(c.Arguments, tt.args[i]) {
					t.Errorf("call %d: got %+v", i, c)
				}
				seen[c.ID] = true
			}
		})
	}
}

func TestChatMalformedArguments(t *testing.T) {
	for _, finish := range []string{"length", "tool_calls"} {
		srv := providertest.Serve(
			t,
			step{
				Body: chunks(
					finish,
					call(`"index":0,"id":"c1","function":{"name":"Write","arguments":"{\"text\":\"abc"}`),
				),
			},
		)
		r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), nil)
		if err != nil || r.Stop != finish || r.Malformed["c1"] != `{"text":"abc` || len(r.Message.ToolCalls) != 1 ||
			len(r.Message.ToolCalls[0].Arguments) != 0 {
			t.Errorf("%s: got %+v, %v", finish, r, err)
		}
	}
}

// Oddities of servers that are no errors.
func TestChatTolerance(t *testing.T) {
	tests := []struct{ name, stream, text, stop string }{
		{
			"no usage, no done",
			providertest.SSE(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`),
			"x",
			"stop",
		},
		{
			"crlf, comments, names",
			": OPENROUTER PROCESSING\r\n\r\nevent: chunk\r\n" +
				"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"eos\"}]}\r\n\r\n" +
				"data: [DONE]\r\n\r\n",
			"x",
			"stop",
		},
		{
			"content in parts",
			chunks("stop", `{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`),
			"xy",
			"stop",
		},
		{
			"other choices",
			providertest.SSE(
				`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`,
			),
			"x",
			"stop",
		},
		{"max_tokens", chunks("max_tokens", `{"content":"x"}`), "x", "length"},
		{"own word", chunks("weird", `{"content":"x"}`), "x", "weird"},
		{"refusal", chunks("stop", `{"refusal":"I cannot"}`), "I cannot", "stop"},
		{"nothing but done", providertest.SSE("[DONE]"), "", "stop"},
		{
			"null fields",
			providertest.SSE(
				`{"error":null,"choices":[{"index":0,"delta":{"content":null,"tool_calls":null},"finish_reason":null}],"usage":null}`,
				`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`,
			),
			"x",
			"stop",
		},
		{"tool_calls without calls", chunks("tool_calls", `{"content":"x"}`), "x", "stop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, step{Body: tt.stream})
			r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), nil)
			if err != nil || r.Message.Content != tt.text || r.Stop != tt.stop {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	t.Run("cut after the finish reason", func(t *testing.T) {
		srv := providertest.Serve(
			t,
			step{Body: providertest.SSE(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`), Cut: true},
		)
		r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), nil)
		if err != nil || r.Message.Content != "x" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("utf-8 split", func(t *testing.T) {
		body := chunks("stop", `{"content":"zażółć 🦊"}`)
		var parts []string
		for i := range len(body) {
			parts = append(parts, body[i:i+1])
		}
		srv := providertest.Serve(t, step{Chunks: parts})
		r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), nil)
		if err != nil || r.Message.Content != "zażółć 🦊" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// HO-27
func TestChatErrors(t *testing.T) {
	half := `{"choices":[{"index":0,"delta":` + call(
		`"index":0,"id":"c1","function":{"name":"Read","arguments":"{\"pa"}`,
	) + `}]}`
	text := `{"choices":[{"index":0,"delta":{"content":"Hel"}}]}`
	tests := []struct {
		name  string
		steps []step
		class provider.Class
		text  string
	}{
		{"no end", []step{{Body: providertest.SSE(text)}}, provider.Network, "stream ended early"},
		{
			"cut",
			[]step{{Body: providertest.SSE(text) + `data: {"cho`, Cut: true}},
			provider.Network,
			"stream ended early",
		},
		{"half a call", []step{{Body: providertest.SSE(half)}}, provider.Network, "stream ended early"},
		{"half a call, done", []step{{Body: providertest.SSE(half, "[DONE]")}}, provider.Network, "stream ended early"},
		{
			"invalid JSON",
			[]step{{Body: providertest.SSE(text, `{"choices":[`, "[DONE]")}},
			provider.Server,
			"invalid event",
		},
		{"no object", []step{{Body: providertest.SSE(`"hello"`)}}, provider.Server, "invalid event"},
		{"wrong type", []step{{Body: providertest.SSE(`{"choices":{"a":1}}`)}}, provider.Server, "invalid event"},
		{
			"error in the stream",
			[]step{{Body: providertest.SSE(text, `{"error":{"message":"upstream died","type":"server_error"}}`)}},
			provider.Server,
			"upstream died",
		},
		{
			"error with a code",
			[]step{
				{
					Body: providertest.SSE(
						text,
						`{"error":{"message":"slow down","code":429},"choices":[{"delta":{},"finish_reason":"error"}]}`,
					),
				},
			},
			provider.RateLimit,
			"slow down",
		},
		{
			"error of vLLM",
			[]step{{Body: providertest.SSE(`{"object":"error","message":"maximum context length is 10","code":400}`)}},
			provider.ContextExhausted,
			"10",
		},
		{
			"error event",
			slices.Repeat([]step{{Body: "event: error\ndata: {\"message\":\"overloaded\"}\n\n"}}, 3),
			provider.Server,
			"overloaded",
		},
		{
			"broken off",
			slices.Repeat([]step{{Body: chunks("error", `{"role":"assistant","content":""}`)}}, 3),
			provider.Server,
			"finish_reason error",
		},
		{
			"content filter",
			[]step{{Body: chunks("content_filter", `{"content":"x"}`)}},
			provider.ContentFilter,
			"content_filter",
		},
		{
			"call without name",
			[]step{{Body: chunks("tool_calls", call(`"index":0,"id":"c1","function":{"arguments":"{}"}`))}},
			provider.Server,
			"without naming it",
		},
		{"429", []step{{Status: 429}, {Status: 429}, {Status: 429}}, provider.RateLimit, "too many requests"},
		{
			"429 quota",
			[]step{{Status: 429, Body: `{"error":{"code":"insufficient_quota","message":"pay"}}`}},
			provider.CreditExhausted,
			"pay",
		},
		{"401", []step{{Status: 401, Body: `{"error":{"message":"bad key"}}`}}, provider.Auth, "bad key"},
		{"403", []step{{Status: 403}}, provider.Auth, "forbidden"},
		{"402", []step{{Status: 402}}, provider.CreditExhausted, "payment required"},
		{
			"404",
			[]step{{Status: 404, Body: `{"error":{"code":"model_not_found","message":"no m"}}`}},
			provider.ModelUnavailable,
			"no m",
		},
		{"503", []step{{Status: 503}, {Status: 503}, {Status: 503}}, provider.Server, "service unavailable"},
		{
			"400 context",
			[]step{{Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"too long"}}`}},
			provider.ContextExhausted,
			"too long",
		},
		{"418", []step{{Status: 418, Body: `{"error":{"message":"teapot"}}`}}, "", "teapot"},
		{
			"html",
			[]step{{Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>"}},
			provider.Server,
			"HTML page",
		},
		{"empty", []step{{}}, provider.Server, "empty answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, tt.steps...)
			r, err := client(t, srv.URL, "").Chat(t.Context(), say("hi"), nil)
			if r != nil || err == nil || provider.ClassOf(err) != tt.class || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %+v, %v; want class %q and %q", r, err, tt.class, tt.text)
			}
			if n := len(srv.Requests()); n != len(tt.steps) {
				t.Errorf("%d requests", n)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		if _, err := client(
			t,
			providertest.Refused(t),
			"",
		).Chat(t.Context(), say("hi"), nil); provider.ClassOf(
			err,
		) != provider.Network {
			t.Errorf("got %v", err)
		}
	})
	t.Run("stall", func(t *testing.T) {
		srv := providertest.Serve(t, step{Body: providertest.SSE(text), Stall: true})
		c := New(provider.Options{Name: "mock", URL: srv.URL, Timeout: 50 * time.Millisecond}, "")
		if _, err := c.Chat(t.Context(), say("hi"), nil); provider.ClassOf(err) != provider.Network {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		srv := providertest.Serve(t, step{Body: providertest.SSE(text), Stall: true})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := client(t, srv.URL, "").Chat(ctx, say("hi"), func(provider.Delta) { cancel() })
		if err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
}

// FuzzEvents feeds lines as events to both readers.
func FuzzEvents(f *testing.F) {
	for _, stream := range []string{
		chunks("stop", `{"content":"x"}`),
		chunks("tool_calls", call(`"index":0,"id":"c","function":{"name":"R","arguments":"{}"}`), call(`"function":{"name":"R","arguments":{"a":[1]}}`)),
		providertest.SSE(`{"choices":[{"delta":{"content":[{"text":{"text":1}}]}}]}`),
		providertest.SSE(`{"type":"response.output_item.done","output_index":-1,"item":{"type":"reasoning","encrypted_content":"x"}}`, `{"type":"response.completed"}`),
		typed(`{"type":"response.output_item.added","item":{"type":"function_call"}}`, `{"type":"response.function_call_arguments.delta","delta":"{"}`, completed),
	} {
		f.Add(strings.ReplaceAll(strings.ReplaceAll(stream, "data: ", ""), "\n\n", "\n"))
	}
	tr := provider.NewTransport(provider.Options{Name: "mock", URL: "http://localhost"})
	check := func(t *testing.T, a *answer) {
		r, err := a.response()
		if (r == nil) == (err == nil) {
			t.Fatalf("got %v, %v", r, err)
		}
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, c := range r.Message.ToolCalls {
			if c.ID == "" || seen[c.ID] || c.Name == "" || c.Arguments == nil {
				t.Fatalf("call %+v", c)
			}
			seen[c.ID] = true
		}
	}
	f.Fuzz(func(t *testing.T, stream string) {
		chat := &answer{t: tr, on: func(provider.Delta) {}, begun: func() {}}
		r := chatReader{answer: chat, slots: map[int]*toolCall{}}
		responses := &answer{t: tr, on: chat.on, begun: chat.begun}
		rr := responsesReader{answer: responses, calls: map[int]*toolCall{}, streamed: map[int]bool{}}
		for line := range strings.Lines(stream) {
			data := []byte(strings.TrimSpace(line))
			if len(data) == 0 {
				continue
			}
			_ = r.event("", data)
			var e responseEvent
			if json.Unmarshal(data, &e) == nil {
				_, _ = rr.event(&e, data)
			}
		}
		_ = r.finish(true)
		check(t, chat)
		check(t, responses)
	})
}

func benchmarkStream(b *testing.B, n int, text string) {
	var stream strings.Builder
	for range n {
		stream.WriteString(
			`data: {"id":"chatcmpl-AbCdEf","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"`,
		)
		stream.WriteString(text)
		stream.WriteString("\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n")
	}
	stream.WriteString(chunks("stop"))
	body := stream.String()
	steps := make([]step, 0, 10000)
	for range 10000 {
		steps = append(steps, step{Body: body})
	}
	srv := providertest.Serve(b, steps...)
	c := client(b, srv.URL, "")
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Chat(b.Context(), say("hi"), func(provider.Delta) {})
		if err != nil || len(r.Message.Content) != n*len(text) {
			b.Fatal(err)
		}
	}
}

func BenchmarkDeltas2000(b *testing.B) { benchmarkStream(b, 2000, "word ") }

// Twice the answer takes twice the time.
func BenchmarkLongAnswer(b *testing.B) {
	for _, mb := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("%dMB", mb), func(b *testing.B) { benchmarkStream(b, mb<<20/16, "0123456789abcdef") })
	}
}
