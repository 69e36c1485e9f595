package openai

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/providertest"
)

// typed makes an event stream in which the names repeat the types.
func typed(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		_, rest, _ := strings.Cut(e, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		out.WriteString("event: " + name + "\ndata: " + e + "\n\n")
	}
	return out.String()
}

const (
	created   = `{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}`
	completed = `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":8},"output_tokens":7}}}`
)

// HO-44
func TestResponses(t *testing.T) {
	srv := providertest.Serve(t, step{Body: typed(
		created,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"First"}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":" part"}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Second"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"enc","summary":[{"type":"summary_text","text":"First part"},{"type":"summary_text","text":"Second"}]}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1","content":[]}}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"Hel"}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"lo"}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Hello"}]}}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"reasoning","id":"rs_2","encrypted_content":"enc2","summary":[]}}`,
		`{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"Read","arguments":""}}`,
		`{"type":"response.output_item.added","output_index":4,"item":{"type":"function_call","id":"fc_2","call_id":"c2","name":"Write","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":4,"item_id":"fc_2","delta":"{\"b\":"}`,
		`{"type":"response.function_call_arguments.delta","output_index":3,"item_id":"fc_1","delta":"{\"a\":1}"}`,
		`{"type":"response.function_call_arguments.delta","output_index":4,"item_id":"fc_2","delta":"2}"}`,
		`{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"Read","arguments":"{\"a\":1}"}}`,
		`{"type":"response.output_item.done","output_index":4,"item":{"type":"function_call","id":"fc_2","call_id":"c2","name":"Write","arguments":"{\"b\":2}"}}`,
		completed,
	)})
	var text, thinking string
	r, err := client(
		t,
		srv.URL,
		Responses,
	).Chat(t.Context(), say("hi"), func(d provider.Delta) { text += d.Text; thinking += d.Thinking })
	if err != nil {
		t.Fatal(err)
	}
	m := r.Message
	if m.Content != "Hello" || text != "Hello" || m.Thinking != "First part\n\nSecond" || thinking != m.Thinking ||
		r.Stop != "tool_calls" {
		t.Errorf("got %+v", r)
	}
	if len(m.ToolCalls) != 2 || m.ToolCalls[0].ID != "c1" || m.ToolCalls[1].ID != "c2" ||
		m.ToolCalls[1].Name != "Write" ||
		!reflect.DeepEqual(m.ToolCalls[1].Arguments, map[string]any{"b": 2.0}) {
		t.Errorf("calls %+v", m.ToolCalls)
	}
	if want := []message.Thought{
		{Provider: thoughtResponses, ID: "rs_1", Text: "First part\n\nSecond", Signature: "enc"},
		{Provider: thoughtResponses, ID: "rs_2", CallID: "c1", Signature: "enc2"},
	}; !reflect.DeepEqual(m.Thoughts, want) {
		t.Errorf("thoughts %+v", m.Thoughts)
	}
	if want := (provider.Usage{Input: 20, Output: 7, CacheRead: 8}); r.Usage != want {
		t.Errorf("usage %+v", r.Usage)
	}
	if got := srv.Last().Path; got != "/responses" {
		t.Errorf("path %s", got)
	}
}

func TestResponsesTolerance(t *testing.T) {
	item := `{"type":"message","content":[{"type":"output_text","text":"x"}]}`
	tests := []struct{ name, stream, text, stop string }{
		{
			"no deltas",
			typed(`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`, completed),
			"x",
			"stop",
		},
		{
			"only the last event",
			typed(`{"type":"response.completed","response":{"output":[` + item + `]}}`),
			"x",
			"stop",
		},
		{"whole", `{"object":"response","status":"completed","error":null,"output":[` + item + `]}`, "x", "stop"},
		{
			"length",
			typed(
				`{"type":"response.output_text.delta","output_index":0,"delta":"x"}`,
				`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`,
			),
			"x",
			"length",
		},
		{"refusal", typed(`{"type":"response.refusal.delta","output_index":0,"delta":"no"}`, completed), "no", "stop"},
		{
			"reasoning that led to nothing",
			typed(
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r","encrypted_content":"e"}}`,
				completed,
			),
			"",
			"stop",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, step{Body: tt.stream})
			r, err := client(t, srv.URL, Responses).Chat(t.Context(), say("hi"), nil)
			if err != nil || r.Message.Content != tt.text || r.Stop != tt.stop || len(r.Message.Thoughts) > 0 {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

// HO-27
func TestResponsesErrors(t *testing.T) {
	text := `{"type":"response.output_text.delta","output_index":0,"delta":"x"}`
	tests := []struct {
		name  string
		step  step
		class provider.Class
		text  string

		requests int // 0 = 1: not repeated.
	}{
		{"no end", step{Body: typed(created, text)}, provider.Network, "stream ended early", 0},
		{
			"done is no end",
			step{Body: typed(created, text) + "data: [DONE]\n\n"},
			provider.Network,
			"stream ended early",
			0,
		},
		{
			"half a call",
			step{
				Body: typed(
					`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c","name":"Read"}}`,
					`{"type":"response.function_call_arguments.delta","delta":"{\"a"}`,
				),
			},
			provider.Network,
			"stream ended early",
			0,
		},
		{"cut", step{Body: typed(created, text), Cut: true}, provider.Network, "stream ended early", 0},
		{
			"failed",
			step{
				Body: typed(
					created,
					`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"sorry"}}}`,
				),
			},
			provider.Server,
			"sorry",
			3,
		},
		{
			"failed, context",
			step{
				Body: typed(
					`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"too long"}}}`,
				),
			},
			provider.ContextExhausted,
			"too long",
			0,
		},
		{
			"error event",
			step{Body: typed(`{"type":"error","code":"rate_limit_exceeded","message":"slow down"}`)},
			provider.RateLimit,
			"slow down",
			3,
		},
		{
			"error object",
			step{Body: providertest.SSE(`{"error":{"message":"broken","code":500}}`)},
			provider.Server,
			"broken",
			3,
		},
		{
			"filter",
			step{
				Body: typed(
					text,
					`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`,
				),
			},
			provider.ContentFilter,
			"stopped",
			0,
		},
		{"invalid JSON", step{Body: providertest.SSE(`{"type":`, `{}`)}, provider.Server, "invalid event", 0},
		{"401", step{Status: 401}, provider.Auth, "unauthorized", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, slices.Repeat([]step{tt.step}, max(tt.requests, 1))...)
			r, err := client(t, srv.URL, Responses).Chat(t.Context(), say("hi"), nil)
			if n := len(srv.Requests()); n != max(tt.requests, 1) {
				t.Errorf("%d requests", n)
			}
			if r != nil || err == nil || provider.ClassOf(err) != tt.class || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %+v, %v; want class %q and %q", r, err, tt.class, tt.text)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		srv := providertest.Serve(t, step{Body: typed(text), Stall: true})
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := client(
			t,
			srv.URL,
			Responses,
		).Chat(ctx, say("hi"), func(provider.Delta) { cancel() }); err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
}

func TestResponsesMalformedArguments(t *testing.T) {
	srv := providertest.Serve(t, step{Body: typed(
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"Write"}}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"text\":\"ab"}`,
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`,
	)})
	r, err := client(t, srv.URL, Responses).Chat(t.Context(), say("hi"), nil)
	if err != nil || r.Stop != "length" || r.Malformed["c1"] != `{"text":"ab` || len(r.Message.ToolCalls) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
}
