package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/provider/providertest"
)

const token = "sk-very-secret-token"

// quick retries without waiting.
var quick = Retry{BaseDelay: time.Microsecond}

func transport(t *testing.T, url string, change ...func(*Options)) *Transport {
	t.Helper()
	o := Options{Name: "mock", URL: url, Token: token, Retry: quick}
	for _, f := range change {
		f(&o)
	}
	tr := NewTransport(o)
	t.Cleanup(tr.CloseIdle)
	return tr
}

// drain posts and reads a stream to its end.
func drain(ctx context.Context, tr *Transport, format Format) ([]string, error) {
	s, err := tr.do(ctx, post("/x", nil, []byte(`{}`), format))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out []string
	for {
		ev, err := s.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, ev.Name+"|"+string(ev.Data))
	}
}

func TestStream(t *testing.T) {
	srv := providertest.Serve(
		t,
		providertest.Step{Chunks: []string{"event: a\r\nda", "ta: za\xc5", "\xbc\r\n", "\r\ndata: [DONE]\n\n"}},
	)
	tr := transport(
		t,
		srv.URL+"/",
		func(o *Options) { o.Headers = map[string]string{"X-Extra": "1", "User-Agent": "mine"} },
	)
	s, err := tr.do(t.Context(), post("/x", http.Header{"Authorization": {"Bearer " + token}}, []byte(`{"a":1}`), SSE))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		ev, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ev.Name+"|"+string(ev.Data))
	}
	if want := []string{"a|zaż", "|[DONE]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Close()
	s.Close()
	if _, err := s.Next(); err == nil {
		t.Error("a closed stream gives events")
	}
	r := srv.Last()
	if r.Method != "POST" || r.Path != "/x" || r.Body != `{"a":1}` {
		t.Errorf("request: %+v", r)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + token, "X-Extra": "1", "User-Agent": "mine", "Content-Type": "application/json",
		"Accept": "text/event-stream",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("header %s: got %q, want %q", name, got, want)
		}
	}
}

// Answers that are no complete stream end with one clear error.
func TestFaults(t *testing.T) {
	html := "<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head><body>" + strings.Repeat(
		"x",
		10000,
	) + "</body></html>"
	tests := []struct {
		name  string
		step  providertest.Step
		class Class
		text  string
	}{
		{
			"cut in an event",
			providertest.Step{Body: "data: {}\n\ndata: {\"a\"", Cut: true},
			Network,
			"stream ended early",
		},
		{"cut between events", providertest.Step{Body: "data: {}\n\n", Cut: true}, Network, "stream ended early"},
		{"ended in an event", providertest.Step{Body: "data: {}\n\ndata: {\"a\""}, Network, "stream ended early"},
		{"stall", providertest.Step{Body: "data: {}\n\n", Stall: true}, Network, "nothing received for 50ms"},
		{"stall before the first byte", providertest.Step{Stall: true}, Network, "nothing received for 50ms"},
		{
			"html",
			providertest.Step{Header: map[string]string{"Content-Type": "text/html"}, Body: html},
			Server,
			"HTML page (Welcome to nginx!); check the provider's url",
		},
		{"html without type", providertest.Step{Body: "\n " + html}, Server, "HTML page"},
		{"empty", providertest.Step{}, Server, "empty answer"},
		{"blank", providertest.Step{Body: " \n\n"}, Server, "empty answer"},
		{
			"error as JSON with 200",
			providertest.Step{Body: `{"error":{"message":"who are you","code":401}}`},
			Auth,
			"who are you",
		},
		{
			"redirect",
			providertest.Step{Status: 302, Header: map[string]string{"Location": "https://example.com/v1"}},
			"",
			"redirects to https://example.com",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, tt.step)
			tr := transport(t, srv.URL, func(o *Options) {
				if tt.step.Stall {
					o.Timeout = 50 * time.Millisecond
				}
			})
			_, err := drain(t.Context(), tr, SSE)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Class != tt.class || !strings.Contains(e.Message, tt.text) || e.Provider != "mock" {
				t.Fatalf("got %#v, want class %q and %q", err, tt.class, tt.text)
			}
			if len(e.Error()) > 1000 {
				t.Errorf("the message is too long: %s", e)
			}
			if n := len(srv.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A server that answers plain JSON although a stream was asked for.
func TestWholeAnswer(t *testing.T) {
	srv := providertest.Serve(
		t,
		providertest.Step{
			Header: map[string]string{"Content-Type": "application/json"},
			Chunks: []string{`{"a":`, "1}\n"},
		},
	)
	got, err := drain(t.Context(), transport(t, srv.URL), SSE)
	if err != nil || len(got) != 1 || strings.TrimSpace(got[0]) != `|{"a":1}` {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRetries(t *testing.T) {
	ok := providertest.Step{Body: "data: 1\n\n"}
	fail := func(status int, header map[string]string, body string) providertest.Step {
		return providertest.Step{Status: status, Header: header, Body: body}
	}
	after := func(s string) map[string]string { return map[string]string{"Retry-After": s} }
	none := 0
	tests := []struct {
		name  string
		retry Retry
		steps []providertest.Step
		class Class // Empty: success.
		wait  time.Duration
	}{
		{
			"429 then success",
			quick,
			[]providertest.Step{fail(429, map[string]string{"Retry-After-Ms": "1"}, ""), ok},
			"",
			0,
		},
		{"500 twice then success", quick, []providertest.Step{fail(500, nil, ""), fail(503, nil, ""), ok}, "", 0},
		{
			"529 then success",
			quick,
			[]providertest.Step{
				fail(529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
				ok,
			},
			"",
			0,
		},
		{"cut before the first byte", quick, []providertest.Step{{Cut: true}, ok}, "", 0},
		{
			"500 thrice",
			quick,
			[]providertest.Step{fail(500, nil, ""), fail(500, nil, ""), fail(500, nil, "")},
			Server,
			0,
		},
		{"switched off", Retry{MaxAttempts: &none}, []providertest.Step{fail(500, nil, "")}, Server, 0},
		{"server asks for too long", quick, []providertest.Step{fail(429, after("3600"), "")}, RateLimit, time.Hour},
		{
			"server says no",
			quick,
			[]providertest.Step{fail(500, map[string]string{"X-Should-Retry": "false"}, "")},
			Server,
			0,
		},
		{
			"quota",
			quick,
			[]providertest.Step{fail(429, nil, `{"error":{"code":"insufficient_quota"}}`)},
			CreditExhausted,
			0,
		},
		{"auth", quick, []providertest.Step{fail(401, nil, "")}, Auth, 0},
		{"not after the first event", quick, []providertest.Step{{Body: "data: 1\n\n", Cut: true}}, Network, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, tt.steps...)
			_, err := drain(t.Context(), transport(t, srv.URL, func(o *Options) { o.Retry = tt.retry }), SSE)
			if ClassOf(err) != tt.class || tt.class == "" && err != nil {
				t.Fatalf("got %v, want class %q", err, tt.class)
			}
			if n := len(srv.Requests()); n != len(tt.steps) {
				t.Errorf("%d requests, want %d", n, len(tt.steps))
			}
			if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter != tt.wait {
				t.Errorf("RetryAfter %s, want %s", e.RetryAfter, tt.wait)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, url := range []string{providertest.Refused(t), "http://host.invalid"} {
		_, err := drain(t.Context(), transport(t, url), SSE)
		if ClassOf(err) != Network {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

func TestBadURL(t *testing.T) {
	for url, want := range map[string]string{
		"": "url is empty", "localhost:11434": "must start with http://", "http://": "no host",
		"http://u:pass word@x": "cannot be parsed",
	} {
		_, err := drain(t.Context(), transport(t, url), SSE)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: got %v, want %q", url, err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Run("in the stream", func(t *testing.T) {
		srv := providertest.Serve(t, providertest.Step{Body: "data: 1\n\n", Stall: true})
		ctx, cancel := context.WithCancel(t.Context())
		s, err := transport(t, srv.URL).do(ctx, post("/x", nil, nil, SSE))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(time.Millisecond, cancel)
		defer stop.Stop()
		if _, err := s.Next(); err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
	t.Run("before the answer", func(t *testing.T) {
		srv := providertest.Serve(t, providertest.Step{Stall: true})
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := time.AfterFunc(time.Millisecond, func() { cancel(errors.New("enough")) })
		defer stop.Stop()
		if _, err := drain(ctx, transport(t, srv.URL), SSE); err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
	t.Run("while waiting for a retry", func(t *testing.T) {
		srv := providertest.Serve(t, providertest.Step{Status: 500})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		tr := transport(t, srv.URL, func(o *Options) { o.Retry = Retry{BaseDelay: time.Hour, MaxDelay: time.Hour} })
		if _, err := drain(ctx, tr, SSE); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
	})
}

// A consumer that takes its time is not a stall: the clock runs while reading only.
func TestSlowConsumer(t *testing.T) {
	srv := providertest.Serve(t, providertest.Step{Chunks: []string{"data: 1\n\n", "data: 2\n\n"}, Stall: true})
	s, err := transport(t, srv.URL).do(t.Context(), post("/x", nil, nil, SSE))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if s.timer.Stop() {
			t.Error("the idle timer runs while nobody reads")
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJSON(t *testing.T) {
	js := map[string]string{"Content-Type": "application/json"}
	srv := providertest.Serve(t,
		providertest.Step{Header: js, Body: `{"a":1}`},
		providertest.Step{Header: js, Body: `{"a":2}`},
		providertest.Step{Header: js, Body: `{"a":`},
		providertest.Step{Status: 404, Header: js, Body: `{"error":"model 'x' not found"}`},
	)
	tr := transport(t, srv.URL)
	var out struct{ A int }
	if err := tr.GetJSON(t.Context(), "/m?key=v", nil, &out); err != nil || out.A != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	if r := srv.Last(); r.Method != "GET" || r.Path != "/m?key=v" {
		t.Errorf("request %+v", r)
	}
	if err := tr.PostJSON(t.Context(), "/m", nil, map[string]int{"b": 1}, &out); err != nil || out.A != 2 {
		t.Errorf("got %+v, %v", out, err)
	}
	if r := srv.Last(); r.Method != "POST" || r.Body != `{"b":1}` {
		t.Errorf("request %+v", r)
	}
	if err := tr.GetJSON(t.Context(), "/m", nil, &out); ClassOf(err) != Server {
		t.Errorf("got %v", err)
	}
	if err := tr.GetJSON(
		t.Context(),
		"/m",
		nil,
		&out,
	); ClassOf(err) != ModelUnavailable ||
		!strings.Contains(err.Error(), "model 'x' not found") {
		t.Errorf("got %v", err)
	}
}

// Neither errors nor logs show the token, even if the server repeats it.
func TestTokenIsNeverShown(t *testing.T) {
	srv := providertest.Serve(
		t,
		providertest.Step{Status: 500, Body: token},
		providertest.Step{
			Status: 401,
			Body:   `{"error":{"message":"Incorrect API key provided: ` + token + ` or ` + "other-secret" + `"}}`,
		},
	)
	var log strings.Builder
	tr := transport(t, srv.URL, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Headers = map[string]string{"Api-Key": "other-secret"}
	})
	err := tr.GetJSON(t.Context(), "/m?key="+token, http.Header{"Authorization": {"Bearer " + token}}, nil)
	if ClassOf(err) != Auth || log.Len() == 0 {
		t.Errorf("got %v, log %q", err, log.String())
	}
	refused := transport(t, providertest.Refused(t)).GetJSON(t.Context(), "/m?key="+token, nil, nil)
	for _, text := range []string{err.Error(), log.String(), refused.Error()} {
		if strings.Contains(text, token) || strings.Contains(text, "other-secret") {
			t.Errorf("shows the token: %s", text)
		}
	}
}

// The connection is used again although the stream was not read to its end.
func TestKeepAlive(t *testing.T) {
	step := providertest.Step{Body: "data: [DONE]\n\n"}
	srv := providertest.Serve(t, step, step, step)
	tr := transport(t, srv.URL)
	for range 3 {
		s, err := tr.do(t.Context(), post("/x", nil, nil, SSE))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		<-s.inner.Done() // Close has finished its work behind the scenes.
	}
	if n := srv.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "Thu, 02 Jan 2025 03:04:15 GMT", 10 * time.Second},
		{"Retry-After", "Thu, 02 Jan 2020 03:04:15 GMT", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-1", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 365 * 24 * time.Hour},
		{"retry-after-ms", "250", 250 * time.Millisecond},
	}
	for _, tt := range tests {
		h := http.Header{}
		h.Set(tt.name, tt.value)
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	many := 100
	r := Retry{MaxAttempts: &many, BaseDelay: time.Second, MaxDelay: 5 * time.Second}
	for attempt, most := range []time.Duration{1, 2, 4, 5, 5} {
		most *= time.Second
		for range 50 {
			got, ok := r.wait(attempt, &Error{})
			if !ok || got > most || got < most*3/4 {
				t.Fatalf("attempt %d: got %s, %v; want at most %s", attempt, got, ok, most)
			}
		}
	}
	if d, ok := (Retry{}).wait(1, &Error{}); !ok || d > 2*time.Second {
		t.Errorf("default: %s, %v", d, ok)
	}
	if _, ok := (Retry{}).wait(2, &Error{}); ok {
		t.Error("default: more than two retries")
	}
}

// HO-27: what fails inside a stream is retried like the same failure before it, until
// something of the answer has come.
func TestChatRetries(t *testing.T) {
	const (
		busy = `{"error":{"type":"overloaded_error","message":"busy"}}`
		rate = `{"error":{"type":"rate_limit_error","message":"slow down"}}`
		auth = `{"error":{"type":"authentication_error","message":"who?"}}`
	)
	tests := []struct {
		name     string
		first    providertest.Step
		requests int
	}{
		{"overloaded", providertest.Step{Body: providertest.SSE(`{}`, busy)}, 2},
		{"rate limited", providertest.Step{Body: providertest.SSE(`{}`, rate)}, 2},
		{"overloaded in place of a stream", providertest.Step{Body: busy}, 2},
		{"cut before the answer", providertest.Step{Body: providertest.SSE(`{}`), Cut: true}, 2},
		{"another mistake", providertest.Step{Body: providertest.SSE(`{}`, auth)}, 1},
		{"not JSON", providertest.Step{Body: providertest.SSE(`{}`, `{"x`)}, 1},
		{"after text", providertest.Step{Body: providertest.SSE(`{"text":"a"}`, busy)}, 1},
		{"after a call", providertest.Step{Body: providertest.SSE(`{"call":true}`, busy)}, 1},
		{"cut in the answer", providertest.Step{Body: providertest.SSE(`{"text":"a"}`), Cut: true}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := providertest.Serve(t, tt.first, providertest.Step{Body: providertest.SSE(`{"text":"b"}`)})
			tr := transport(t, srv.URL)
			said := ""
			resp, err := tr.Chat(
				t.Context(),
				"/x",
				nil,
				[]byte(`{}`),
				SSE,
				func(d Delta) { said += d.Text },
				readPlain(tr),
			)
			if n := len(srv.Requests()); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			if tt.requests == 1 {
				if _, ok := errors.AsType[*Error](err); !ok || resp != nil {
					t.Errorf("got %v, %v", resp, err)
				}
			} else if err != nil || said != "b" {
				t.Errorf("got %q, %v", said, err)
			}
		})
	}
}

// readPlain reads a stream of pieces of text, calls and errors.
func readPlain(tr *Transport) func(*Stream, func(Delta)) (*Response, error) {
	return func(s *Stream, on func(Delta)) (*Response, error) {
		for {
			ev, err := s.Next()
			if err == io.EOF {
				return &Response{}, nil
			}
			if err != nil {
				return nil, err
			}
			var piece struct {
				Text  string
				Call  bool
				Error any
			}
			if err := json.Unmarshal(ev.Data, &piece); err != nil {
				return nil, tr.Fail(Server, 0, "not JSON: %v", err)
			}
			switch {
			case piece.Error != nil:
				return nil, tr.Classify(0, ev.Data)
			case piece.Call:
				s.Begun()
			case piece.Text != "":
				on(Delta{Text: piece.Text})
			}
		}
	}
}
