package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/jsontext"
)

// defaultTimeout is the idle timeout when Options.Timeout is zero.
const defaultTimeout = 5 * time.Minute

// maxErrorBody is how much of an error answer is looked at, in bytes.
const maxErrorBody = 64 << 10

// Options configures one client. Name and URL are required.
type Options struct {
	Name    string            // Provider name in the configuration; appears in errors.
	URL     string            // Base URL; a trailing slash is ignored.
	Token   string            // Empty sends none.
	Timeout time.Duration     // Idle timeout: time without a byte, also to the first one. 0 = 5m.
	Retry   Retry             // Zero value = defaults.
	Headers map[string]string // Extra headers for every request; they win over the client's own.
	Logger  *slog.Logger      // nil = discard.
}

// Transport sends requests to one server: it retries, classifies errors and
// watches streams for stalls. It is safe for use by several goroutines.
type Transport struct {
	name    string
	base    string
	baseErr error // Why base cannot be used; reported by every request.
	timeout time.Duration
	retry   Retry
	headers map[string]string
	secrets []string // Texts that must not appear in messages.
	noToken bool
	log     *slog.Logger
	client  *http.Client
}

// NewTransport makes the transport of one client. A URL that cannot be used is
// reported by the first request.
func NewTransport(o Options) *Transport {
	t := &Transport{
		name:    o.Name,
		base:    strings.TrimRight(strings.TrimSpace(o.URL), "/"),
		timeout: o.Timeout,
		retry:   o.Retry,
		headers: o.Headers,
		secrets: secrets(o),
		noToken: strings.TrimSpace(o.Token) == "",
		log:     o.Logger,
	}
	if t.timeout <= 0 {
		t.timeout = defaultTimeout
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.baseErr = checkURL(t.base)
	t.client = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{
				Timeout: min(t.timeout, 15*time.Second), KeepAlive: 30 * time.Second,
			}).DialContext,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   4,
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   min(t.timeout, 15*time.Second),
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true, // A compressed stream arrives in lumps.
			ReadBufferSize:        16 << 10,
			WriteBufferSize:       64 << 10,
		},
		// A followed redirect turns POST into GET and carries the token to
		// another host. The answer is reported instead.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return t
}

// CloseIdle closes connections that no request uses.
func (t *Transport) CloseIdle() { t.client.CloseIdleConnections() }

// post is a request for a stream.
func post(path string, header http.Header, body []byte, format Format) call {
	accept := "text/event-stream"
	if format == JSONLines {
		accept = "application/x-ndjson"
	}
	return call{http.MethodPost, path, header, body, accept, format}
}

// Chat posts body to URL+path and has read make a response of the event stream. As long
// as nothing of the answer has come, an error inside the stream and a stream that is cut
// are retried like the same failure before the first byte: as Options.Retry says. Read
// gives the pieces of the answer to its on, and calls Begun for others. Failures are
// *Error, except a cancelled ctx, which is ctx.Err().
func (t *Transport) Chat(ctx context.Context, path string, header http.Header, body []byte, format Format,
	on func(Delta), read func(s *Stream, on func(Delta)) (*Response, error),
) (resp *Response, err error) {
	c := post(path, header, body, format)
	err = t.persist(ctx, c, func() (bool, error) {
		s, e, again := t.attempt(ctx, c)
		if e != nil {
			return again, e
		}
		defer s.Close()
		var err error
		resp, err = read(s, func(d Delta) {
			s.Begun()
			if on != nil {
				on(d)
			}
		})
		e, ok := errors.AsType[*Error](err)
		return ok && !s.begun && e.passing(), err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// GetJSON fetches URL+path and decodes the answer into out. Retries and errors are
// those of Stream.
func (t *Transport) GetJSON(ctx context.Context, path string, header http.Header, out any) error {
	return t.json(ctx, call{http.MethodGet, path, header, nil, "application/json", whole}, out)
}

// PostJSON posts in as JSON to URL+path and decodes the answer into out. Retries
// and errors are those of Stream.
func (t *Transport) PostJSON(ctx context.Context, path string, header http.Header, in, out any) error {
	body, err := t.Encode(in)
	if err != nil {
		return err
	}
	return t.json(ctx, call{http.MethodPost, path, header, body, "application/json", whole}, out)
}

// Encode makes the body of a request, without the escapes meant for HTML, which would
// only make it longer. The error is an *Error.
func (t *Transport) Encode(v any) ([]byte, error) {
	body, err := jsontext.Marshal(v)
	if err != nil {
		return nil, t.Fail("", 0, "cannot encode the request: %v", err)
	}
	return body, nil
}

func (t *Transport) json(ctx context.Context, c call, out any) error {
	s, err := t.do(ctx, c)
	if err != nil {
		return err
	}
	defer s.Close()
	ev, err := s.Next()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(ev.Data, out); err != nil {
		return t.Fail(Server, s.status, "the answer to %s is not the expected JSON: %v", c.place(), err)
	}
	return nil
}

// Fail makes an *Error with the provider's name. Secrets are removed from the text.
func (t *Transport) Fail(class Class, status int, format string, args ...any) *Error {
	return &Error{Class: class, Provider: t.name, Status: status, Message: t.clean(fmt.Sprintf(format, args...))}
}

// call is one request, as often as it has to be sent.
type call struct {
	method string
	path   string
	header http.Header
	body   []byte
	accept string
	format Format
}

// place names the request in messages; queries may hold secrets.
func (c call) place() string {
	path, _, _ := strings.Cut(c.path, "?")
	return c.method + " " + path
}

// do sends c until an answer begins or retrying is pointless.
func (t *Transport) do(ctx context.Context, c call) (s *Stream, err error) {
	err = t.persist(ctx, c, func() (bool, error) {
		var e *Error
		var again bool
		if s, e, again = t.attempt(ctx, c); e != nil {
			return again, e
		}
		return false, nil
	})
	return s, err
}

// persist calls try, which sends c once, until it succeeds or retrying is pointless.
// The flag of try says whether sending c again makes sense.
func (t *Transport) persist(ctx context.Context, c call, try func() (again bool, err error)) error {
	if t.baseErr != nil {
		return t.Fail("", 0, "%v", t.baseErr)
	}
	for attempt := 0; ; attempt++ {
		again, err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		wait, ok := t.retry.wait(attempt, e)
		if !again || !ok || isOnce(ctx) {
			t.log.Debug(
				"request failed",
				"provider",
				t.name,
				"request",
				c.place(),
				"class",
				e.Class,
				"status",
				e.Status,
				"message",
				e.Message,
			)
			return e
		}
		t.log.Debug(
			"request failed, will retry",
			"provider",
			t.name,
			"request",
			c.place(),
			"class",
			e.Class,
			"status",
			e.Status,
			"wait",
			wait,
		)
		tellRetry(ctx, e, wait)
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// attempt sends c once. The flag says whether sending it again makes sense.
func (t *Transport) attempt(ctx context.Context, c call) (*Stream, *Error, bool) {
	s := &Stream{t: t, ctx: ctx, format: c.format}
	s.inner, s.cancel = context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(s.inner, c.method, t.base+c.path, bytes.NewReader(c.body))
	if err != nil {
		s.cancel(nil)
		return nil, t.Fail("", 0, "cannot make the request %s: %v", c.place(), cause(err)), false
	}
	t.setHeader(req, c)
	s.timer = time.AfterFunc(t.timeout, func() { s.cancel(errIdle) })
	resp, err := t.client.Do(req)
	s.timer.Stop()
	if err != nil {
		e := s.broken(err)
		s.cancel(nil)
		return nil, e, e.passing()
	}
	s.body, s.status = resp.Body, resp.StatusCode
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		e := t.refused(s, resp)
		s.abort()
		return nil, e, e.Class.Retryable() && resp.Header.Get("X-Should-Retry") != "false"
	}
	if e := s.begin(resp.Header.Get("Content-Type")); e != nil {
		s.abort()
		return nil, e, e.passing()
	}
	return s, nil, false
}

func (t *Transport) setHeader(req *http.Request, c call) {
	req.Header.Set("Accept", c.accept)
	req.Header.Set("User-Agent", "aura")
	if c.method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	for name, value := range t.headers {
		req.Header.Set(name, value)
	}
}

// refused turns an answer that is not 2xx into an error.
func (t *Transport) refused(s *Stream, resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(readerFunc(s.read), maxErrorBody))
	e := t.Classify(resp.StatusCode, body)
	if wait := retryAfter(resp.Header, time.Now()); wait > 0 {
		e.RetryAfter = wait
	}
	if loc, err := resp.Location(); err == nil && resp.StatusCode < 400 {
		e.Message = t.clean(
			fmt.Sprintf("the server redirects to %s://%s: set the provider's url accordingly", loc.Scheme, loc.Host),
		)
	}
	return e
}

// checkURL says why base cannot be requested, or nil.
func checkURL(base string) error {
	u, err := url.Parse(base)
	switch {
	case base == "":
		return errors.New("url is empty")
	case err != nil:
		return fmt.Errorf("url cannot be parsed: %w", cause(err))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("url %q must start with http:// or https://", u.Redacted())
	case u.Host == "":
		return fmt.Errorf("url %q has no host", u.Redacted())
	}
	return nil
}

// cause takes the URL, which may hold secrets, off an error of net/http and net/url.
func cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
