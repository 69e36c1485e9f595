// Package google speaks the Gemini API. Retries, error classes and event streams
// belong to package provider; Vertex AI and its credentials are not covered.
package google

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

const (
	defaultURL = "https://generativelanguage.googleapis.com/v1beta"

	// format marks the thoughts that this wire format made.
	format = "google"
)

// Client talks to one server.
type Client struct {
	transport *provider.Transport
	header    http.Header
}

var _ provider.Client = (*Client)(nil)

// New makes a client. An empty URL means Google's own server; a URL includes the
// version of the API, as in https://generativelanguage.googleapis.com/v1beta.
func New(o provider.Options) *Client {
	if strings.TrimSpace(o.URL) == "" {
		o.URL = defaultURL
	}
	h := http.Header{}
	if token := strings.TrimSpace(o.Token); token != "" {
		h.Set("X-Goog-Api-Key", token)
	}
	return &Client{transport: provider.NewTransport(o), header: h}
}

// Chat implements provider.Client.
func (c *Client) Chat(ctx context.Context, req *provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	body, err := c.transport.Encode(encode(req))
	if err != nil {
		return nil, err
	}
	path := "/" + modelPath(req.Model) + ":streamGenerateContent?alt=sse"
	return c.transport.Chat(ctx, path, c.header, body, provider.SSE, on, c.read)
}

// modelPath is the resource of a model: names without a collection are in models/.
func modelPath(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		parts = []string{"models", name}
	}
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// description is a model as the server describes it.
type description struct {
	Name     string   `json:"name"`
	Input    int      `json:"inputTokenLimit"`
	Methods  []string `json:"supportedGenerationMethods"`
	Thinking bool     `json:"thinking"`
}

// maxPages bounds the list of models.
const maxPages = 20

// Models implements provider.Client. Models that neither chat nor embed are left out.
func (c *Client) Models(ctx context.Context) ([]provider.ModelInfo, error) {
	var out []provider.ModelInfo
	path := "/models?pageSize=1000"
	for range maxPages {
		var page struct {
			Models []description `json:"models"`
			Next   string        `json:"nextPageToken"`
		}
		if err := c.transport.GetJSON(ctx, path, c.header, &page); err != nil {
			return nil, err
		}
		for i := range page.Models {
			d := &page.Models[i]
			if len(d.Methods) > 0 && !slices.Contains(d.Methods, "generateContent") &&
				!slices.Contains(d.Methods, "embedContent") {
				continue
			}
			out = append(out, d.info(strings.TrimPrefix(d.Name, "models/")))
		}
		if page.Next == "" {
			break
		}
		path = "/models?pageSize=1000&pageToken=" + url.QueryEscape(page.Next)
	}
	return out, nil
}

// Model implements provider.Client: from the catalogue, else from the server.
func (c *Client) Model(ctx context.Context, name string) provider.ModelInfo {
	if info, ok := provider.Lookup(name); ok {
		info.Name = name
		return info
	}
	var d description
	if err := c.transport.GetJSON(provider.Once(ctx), "/"+modelPath(name), c.header, &d); err != nil {
		return provider.ModelInfo{Name: name}
	}
	return d.info(name)
}

// info adds what the server says to what the catalogue knows.
func (d *description) info(name string) provider.ModelInfo {
	info, known := provider.Lookup(name)
	info.Name = name
	if d.Input > 0 {
		info.ContextLength = d.Input
	}
	if known {
		return info
	}
	info.Family, _, _ = strings.Cut(name, "-")
	switch {
	case slices.Contains(d.Methods, "embedContent"):
		info.Capabilities = []string{provider.Embedding}
	case info.Family == "gemini":
		info.Capabilities = []string{provider.Vision, provider.Tools}
	}
	if d.Thinking {
		info.Capabilities = append(info.Capabilities, provider.Thinking)
	}
	return info
}
