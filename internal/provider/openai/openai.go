// Package openai is the client for servers that speak OpenAI's Chat Completions or
// Responses API: OpenAI itself, llama.cpp, vLLM, OpenRouter, LM Studio and many
// more. It holds no conversation: every call sends all of it.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/provider"
)

// DefaultURL is used when Options.URL is empty.
const DefaultURL = "https://api.openai.com/v1"

// The values of the parameter api of New.
const (
	Chat      = "chat"      // Chat Completions, the default.
	Responses = "responses" // Responses.
)

// askTime is how long Model waits for the server.
const askTime = 2 * time.Second

// Client talks to one server.
type Client struct {
	t         *provider.Transport
	header    http.Header
	responses bool
	official  bool // OpenAI itself: strict about parameters, and its models are known.
	selfRun   bool // Plain HTTP: a server that somebody runs, such as llama.cpp.

	mu    sync.Mutex
	known map[string]provider.ModelInfo // What the server said about its models, once asked.
}

var _ provider.Client = (*Client)(nil)

// New makes a client. Api is Chat, Responses or empty, which is Chat.
func New(o provider.Options, api string) *Client {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	c := &Client{t: provider.NewTransport(o), header: http.Header{}, responses: api == Responses}
	if token := strings.TrimSpace(o.Token); token != "" {
		c.header.Set("Authorization", "Bearer "+token)
	}
	if u, err := url.Parse(o.URL); err == nil {
		c.official = u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com")
		c.selfRun = u.Scheme == "http"
	}
	return c
}

// Chat implements provider.Client.
func (c *Client) Chat(ctx context.Context, req *provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	path, body := "/chat/completions", []byte(nil)
	if c.responses {
		path, body = "/responses", c.encodeResponses(req)
	} else {
		body = c.encodeChat(req)
	}
	return c.t.Chat(ctx, path, c.header, body, provider.SSE, on, c.read)
}

// read consumes a stream to its end.
func (c *Client) read(stream *provider.Stream, on func(provider.Delta)) (*provider.Response, error) {
	a := answer{t: c.t, on: on, begun: stream.Begun}
	read := a.readChat
	if c.responses {
		read = a.readResponses
	}
	if err := read(stream); err != nil {
		return nil, err
	}
	return a.response()
}

// effort returns the reasoning effort to ask for; empty asks for none.
func (c *Client) effort(req *provider.Request) string {
	_, known := provider.Lookup(req.Model)
	switch {
	case req.Think == "":
		return ""
	case !mayThink(req.Model):
		return "" // OpenAI refuses the parameter for models that do not reason.
	case req.Think != "off":
		return req.Think
	case !c.official || !known:
		return "" // Compatible servers do not agree on a word for none.
	case strings.Contains(req.Model, "gpt-5."):
		return "none"
	case strings.Contains(req.Model, "gpt-5"):
		return "minimal"
	}
	return "low" // The o-series cannot be stopped from reasoning.
}

// mayThink reports whether a model reasons, or is not known.
func mayThink(model string) bool {
	info, known := provider.Lookup(model)
	return !known || has(info, provider.Thinking)
}

func has(info provider.ModelInfo, capability string) bool {
	return slices.Contains(info.Capabilities, capability)
}
