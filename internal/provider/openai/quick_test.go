package openai

import (
	"encoding/json"
	"testing"
)

func TestQuick(t *testing.T) {
	for _, tt := range []struct {
		want quick
		in   string
	}{
		{quick{content: "a"}, `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`},
		{
			quick{content: "a\né"}, ` { "id" : "x", "created": 17, "choices" : [ { "delta" : { ` +
				`"role":"assistant", "content" : "a\n\u00e9" } } ] , "usage":null } `,
		},
		{
			quick{reasoningContent: "r"},
			`{"choices":[{"delta":{"content":null,"reasoning_content":"r"},"logprobs":null}],"timings":{"a":[1,{"b":"}"}]}}`,
		},
		{quick{reasoning: "r"}, `{"choices":[{"delta":{"reasoning":"r","content":""}}]}`},
		{quick{}, `{"choices":[{"delta":{}}]}`},
	} {
		if got, ok := readQuick([]byte(tt.in)); !ok || got != tt.want {
			t.Errorf("%s: got %+v, %v", tt.in, got, ok)
		}
	}
	for _, in := range []string{
		``, `{}`, `{"choices":[]}`, `{"choices":[{"delta":{}},{"delta":{}}]}`, `{"choices":[{"delta":{"content":"a"}}]`,
		`{"choices":[{"delta":{"content":"a"}}]}x`,
		`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"tool_calls":[]}}]}`, `{"choices":[{"delta":{"content":["a"]}}]}`, `{"error":{},"choices":[{"delta":{}}]}`,
		`{"usage":{},"choices":[{"delta":{}}]}`, `{"choices":[{"delta":{"Content":"a"}}]}`, `{"a":tru,"choices":[{"delta":{}}]}`, `{"choices":[{"delta":{"content":"a\`,
		`{"choices":[{"delta":{"content":"\x"}}]}`, `{"choices":[{"delta":{},"delta":{}}]}`,
		"{\"choices\":[{\"delta\":{\"content\":\"a\nb\"}}]}",
	} {
		if got, ok := readQuick([]byte(in)); ok {
			t.Errorf("%s: got %+v", in, got)
		}
	}
}

// What is read quickly is what encoding/json reads.
func FuzzQuick(f *testing.F) {
	f.Add(
		[]byte(
			`{"id":"x","choices":[{"index":0,"delta":{"content":"a\u00e9\n","reasoning":null},"finish_reason":null}],"usage":null}`,
		),
	)
	f.Add([]byte(`{"a":{"b":[]},"c":-1.5e3,"choices":[{"delta":{"reasoning_content":"é"}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		q, ok := readQuick(in)
		if !ok {
			return
		}
		var c chunk[string]
		if err := json.Unmarshal(in, &c); err != nil {
			t.Fatalf("%v: %s", err, in)
		}
		d := c.Choices[0].Delta
		if len(c.Choices) != 1 || (quick{d.Content, d.ReasoningContent, d.Reasoning}) != q || len(d.ToolCalls) > 0 ||
			c.Choices[0].FinishReason != "" ||
			c.Usage != nil {
			t.Fatalf("got %+v, want %+v: %s", q, c, in)
		}
	})
}
