// Package ollama speaks the native API of Ollama. Its OpenAI-compatible API, which can
// neither set the context window nor describe models, is left to package openai.
package ollama

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/provider"
)

const defaultURL = "http://127.0.0.1:11434"

// askTime is how long Model waits for the server.
const askTime = 5 * time.Second

// Client talks to one server.
type Client struct {
	transport *provider.Transport
	header    http.Header
	keepAlive any // nil, a duration as text, or seconds.
}

var _ provider.Client = (*Client)(nil)

// New makes a client. An empty URL means the server on this machine. keepAlive says
// how long a model stays loaded after a call: a duration such as 10m, or seconds; for
// ever if negative. Empty leaves it to the server.
func New(o provider.Options, keepAlive string) *Client {
	o.URL = strings.TrimRight(strings.TrimSpace(o.URL), "/")
	o.URL = strings.TrimSuffix(strings.TrimSuffix(o.URL, "/v1"), "/api")
	if o.URL == "" {
		o.URL = defaultURL
	}
	c := &Client{transport: provider.NewTransport(o), header: http.Header{}}
	if token := strings.TrimSpace(o.Token); token != "" {
		c.header.Set("Authorization", "Bearer "+token)
	}
	if keepAlive != "" {
		c.keepAlive = keepAlive
		// The server takes text with a unit, or a number.
		if seconds, err := strconv.Atoi(keepAlive); err == nil {
			c.keepAlive = seconds
		}
	}
	return c
}

// Chat implements provider.Client. A model that cannot think is asked again
// without it: the level is a setting of the agent, not of the model.
func (c *Client) Chat(ctx context.Context, req *provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	body := encode(req)
	body.KeepAlive = c.keepAlive
	resp, err := c.send(ctx, body, on)
	if e, ok := errors.AsType[*provider.Error](
		err,
	); ok && body.Think != nil &&
		strings.Contains(e.Message, "does not support thinking") {
		body.Think = nil
		return c.send(ctx, body, on)
	}
	return resp, err
}

func (c *Client) send(ctx context.Context, body *request, on func(provider.Delta)) (*provider.Response, error) {
	b, err := c.transport.Encode(body)
	if err != nil {
		return nil, err
	}
	return c.transport.Chat(ctx, "/api/chat", c.header, b, provider.JSONLines, on, c.read)
}
