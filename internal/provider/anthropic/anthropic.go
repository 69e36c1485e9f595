// Package anthropic speaks the Messages API of Anthropic and of servers that
// imitate it. Retries, error classes and event streams belong to package provider.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

const (
	defaultURL = "https://api.anthropic.com"
	version    = "2023-06-01"

	// oauth is the beta that lets a token of a subscription in.
	oauth = "oauth-2025-04-20"

	// interleaved is the beta that lets models think between tool calls.
	interleaved = "interleaved-thinking-2025-05-14"

	// format marks the thoughts that this wire format made.
	format = "anthropic"
)

// Client talks to one server.
type Client struct {
	transport *provider.Transport
	header    http.Header
}

var _ provider.Client = (*Client)(nil)

// New makes a client. An empty URL means Anthropic's own server; a URL may end
// in /v1 or not. A token that begins with sk-ant-oat is sent as a bearer token.
func New(o provider.Options) *Client {
	o.URL = strings.TrimSuffix(strings.TrimRight(o.URL, "/"), "/v1")
	if o.URL == "" {
		o.URL = defaultURL
	}
	h := http.Header{"Anthropic-Version": {version}}
	switch token := strings.TrimSpace(o.Token); {
	case token == "":
	case strings.HasPrefix(token, "sk-ant-oat"):
		h.Set("Authorization", "Bearer "+token)
		h.Set("Anthropic-Beta", oauth)
	default:
		h.Set("X-Api-Key", token)
	}
	return &Client{transport: provider.NewTransport(o), header: h}
}

// Chat implements provider.Client. A server that refuses to think because of the thoughts
// in the history, which may come from other models or be incomplete, is asked to
// answer without.
func (c *Client) Chat(ctx context.Context, req *provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	body := encode(req)
	resp, err := c.send(ctx, req.Model, body, on)
	if e, ok := errors.AsType[*provider.Error](
		err,
	); ok && e.Status == http.StatusBadRequest && body.thinks() &&
		aboutThoughts(e.Message) {
		without := *req
		without.Think, without.Generation.ThinkBudget = "off", 0
		return c.send(ctx, req.Model, encode(&without), on)
	}
	return resp, err
}

// aboutThoughts recognises the refusal of a history whose thoughts do not fit.
func aboutThoughts(refusal string) bool {
	return strings.Contains(refusal, "must start with a thinking block") ||
		strings.Contains(refusal, "thinking") && strings.Contains(refusal, "cannot be modified")
}

func (c *Client) send(
	ctx context.Context,
	model string,
	body *request,
	on func(provider.Delta),
) (*provider.Response, error) {
	b, err := c.transport.Encode(body)
	if err != nil {
		return nil, err
	}
	header := c.header
	if body.thinks() && len(body.Tools) > 0 && familyOf(model).between {
		header = header.Clone()
		betas := interleaved
		if others := header.Get("Anthropic-Beta"); others != "" {
			betas = others + "," + interleaved
		}
		header.Set("Anthropic-Beta", betas)
	}
	return c.transport.Chat(ctx, "/v1/messages", header, b, provider.SSE, on, c.read)
}

// maxPages bounds the list of models.
const maxPages = 20

// Models implements provider.Client.
func (c *Client) Models(ctx context.Context) ([]provider.ModelInfo, error) {
	var out []provider.ModelInfo
	path := "/v1/models?limit=1000"
	for range maxPages {
		var page struct {
			Data []struct {
				ID       string `json:"id"`
				MaxInput int    `json:"max_input_tokens"`
			} `json:"data"`
			HasMore bool   `json:"has_more"`
			LastID  string `json:"last_id"`
		}
		if err := c.transport.GetJSON(ctx, path, c.header, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Data {
			info := describe(m.ID)
			if m.MaxInput > 0 {
				info.ContextLength = m.MaxInput
			}
			out = append(out, info)
		}
		if !page.HasMore || page.LastID == "" {
			break
		}
		path = "/v1/models?limit=1000&after_id=" + url.QueryEscape(page.LastID)
	}
	return out, nil
}

// Model implements provider.Client from the catalogue, without asking the server.
func (c *Client) Model(_ context.Context, name string) provider.ModelInfo { return describe(name) }

func describe(name string) provider.ModelInfo {
	info, ok := provider.Lookup(name)
	info.Name = name
	if !ok && strings.Contains(name, "claude") {
		// What every Claude of the last years can do at least.
		info.Family = "claude"
		info.ContextLength = 200_000
		info.Capabilities = []string{provider.Vision, provider.Tools, provider.Thinking, provider.ThinkingLevels}
	}
	return info
}
