package provider

import (
	"strings"
	"testing"
	"time"
)

// HO-27
func TestClassify(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		class  Class
		text   string
	}{
		{
			"rate limit",
			429,
			`{"error":{"message":"Rate limit reached","type":"requests"}}`,
			RateLimit,
			"Rate limit reached",
		},
		{
			"quota",
			429,
			`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
			CreditExhausted,
			"You exceeded",
		},
		{
			"gemini rate limit",
			429,
			`[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}]`,
			RateLimit,
			"You exceeded",
		},
		{"unauthorized", 401, `{"error":{"message":"no"}}`, Auth, "no"},
		{"forbidden", 403, ``, Auth, "forbidden"},
		{
			"gemini key",
			400,
			`{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`,
			Auth,
			"API key not valid",
		},
		{
			"payment",
			402,
			`{"error":{"message":"This request requires more credits","code":402}}`,
			CreditExhausted,
			"more credits",
		},
		{
			"anthropic credit",
			400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}`,
			CreditExhausted,
			"credit balance",
		},
		{
			"not found",
			404,
			`{"error":{"message":"The model 'x' does not exist","code":"model_not_found"}}`,
			ModelUnavailable,
			"does not exist",
		},
		{"ollama not found", 404, `{"error":"model 'x' not found"}`, ModelUnavailable, "model 'x' not found"},
		{
			"bad model",
			400,
			`{"error":{"message":"x is not a valid model ID","code":400}}`,
			ModelUnavailable,
			"valid model",
		},
		{"server", 500, `oops`, Server, "oops"},
		{"unavailable", 503, ``, Server, "service unavailable"},
		{
			"overloaded",
			529,
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			Server,
			"Overloaded",
		},
		{"timeout", 408, ``, Network, "request timeout"},
		{"teapot", 418, `{"message":"short and stout"}`, "", "short and stout"},
		{
			"bad request",
			400,
			`{"error":{"message":"temperature must be at most 2","type":"invalid_request_error"}}`,
			"",
			"temperature",
		},
		{"validation", 422, `{"detail":"field required"}`, "", "field required"},
		{
			"openai context",
			400,
			`{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`,
			ContextExhausted,
			"8192",
		},
		{
			"anthropic context",
			400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
			ContextExhausted,
			"210000",
		},
		{
			"llama.cpp context",
			400,
			`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`,
			ContextExhausted,
			"available",
		},
		{
			"llama.cpp old context",
			500,
			`{"error":{"code":500,"message":"the request exceeds the available context size"}}`,
			ContextExhausted,
			"",
		},
		{
			"gemini context",
			400,
			`{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
			ContextExhausted,
			"1200000",
		},
		{
			"vllm context",
			400,
			`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400}`,
			ContextExhausted,
			"4096",
		},
		{"too large", 413, ``, ContextExhausted, ""},
		{
			"azure filter",
			400,
			`{"error":{"message":"The response was filtered","code":"content_filter"}}`,
			ContentFilter,
			"filtered",
		},
		{
			"openrouter filter",
			403,
			`{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged"}}`,
			ContentFilter,
			"",
		},
		{
			"html",
			502,
			"<html><head><title>502 Bad Gateway</title></head>" + strings.Repeat("<p>", 1000),
			Server,
			"HTML page (502 Bad Gateway)",
		},
		{"plain", 400, "no\x1b[31m way\n\n here", "", "no [31m way here"},
		{
			"nested upstream",
			400,
			`{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":\"prompt is too long\"}"}}}`,
			ContextExhausted,
			"Provider returned error: ",
		},
		{"in stream, code", 0, `{"error":{"code":502,"message":"Provider disconnected"}}`, Server, "disconnected"},
		{
			"in stream, type",
			0,
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			Server,
			"Overloaded",
		},
		{
			"in stream, rate",
			0,
			`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
			RateLimit,
			"slow down",
		},
		{"in stream, unknown", 0, `{"error":"hm"}`, "", "hm"},
		{"nothing", 0, ``, "", "no reason"},
	}
	tr := NewTransport(Options{Name: "mock", URL: "http://x", Token: "tokentoken"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tr.Classify(tt.status, []byte(tt.body))
			if e.Class != tt.class || !strings.Contains(e.Message, tt.text) || e.Provider != "mock" {
				t.Errorf("got %+v, want class %q and %q", e, tt.class, tt.text)
			}
			if tt.status != 0 && e.Status != tt.status {
				t.Errorf("status %d", e.Status)
			}
			if len(e.Message) > maxMessage+10 {
				t.Errorf("message of %d bytes", len(e.Message))
			}
		})
	}
}

func TestClassifyDetails(t *testing.T) {
	tr := NewTransport(Options{Name: "my-gpt", URL: "http://x"})
	e := tr.Classify(
		429,
		[]byte(
			`{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`,
		),
	)
	if e.RetryAfter != 34500*time.Millisecond {
		t.Errorf("RetryAfter %s", e.RetryAfter)
	}
	e = tr.Classify(401, []byte(`{"error":"who?"}`))
	if !strings.Contains(e.Message, "AURA_PROVIDERS_MY_GPT_TOKEN") {
		t.Errorf("no hint at the token: %s", e.Message)
	}
	e = tr.Classify(500, []byte(strings.Repeat("ż", 5000)))
	if len(e.Message) > maxMessage+10 || strings.Contains(e.Message, "\uFFFD") {
		t.Errorf("badly cut: %d bytes", len(e.Message))
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"x","code":1}}`, `[{"error":"x"}]`, `{"error":{"error":{"error":{"error":{"error":"x"}}}}}`, "<title>", "<TITLE>\xff</title>", `{"response":{"error":null}}`, "[[[["} {
		f.Add(s)
	}
	tr := NewTransport(Options{Name: "mock", URL: "http://x"})
	f.Fuzz(func(t *testing.T, body string) {
		if e := tr.Classify(400, []byte(body)); e.Message == "" || len(e.Message) > 2*maxMessage {
			t.Errorf("message %q", e.Message)
		}
	})
}
