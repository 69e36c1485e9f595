package openai

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// Models implements provider.Client. The list is sorted by name.
func (c *Client) Models(ctx context.Context) ([]provider.ModelInfo, error) {
	var list listing
	if err := c.t.GetJSON(ctx, "/models", c.header, &list); err != nil {
		return nil, err
	}
	known := make(map[string]provider.ModelInfo, len(list))
	for _, raw := range list {
		if info := describe(raw); info.Name != "" {
			known[info.Name] = info
		}
	}
	c.mu.Lock()
	c.known = known
	c.mu.Unlock()
	infos := slices.Collect(maps.Values(known))
	slices.SortFunc(infos, func(a, b provider.ModelInfo) int { return strings.Compare(a.Name, b.Name) })
	return infos, nil
}

// Model implements provider.Client. The server is asked, once, only where its answer
// counts: for models that are not known or that anybody can run.
func (c *Client) Model(ctx context.Context, name string) provider.ModelInfo {
	info, ok := provider.Lookup(name)
	if c.official || ok && info.ContextLength > 0 && provider.Hosted(info.Family) {
		return info
	}
	c.mu.Lock()
	known := c.known
	c.mu.Unlock()
	if known == nil {
		ctx, cancel := context.WithTimeout(provider.Once(ctx), askTime)
		defer cancel()
		if _, err := c.Models(ctx); err != nil {
			return info
		}
		c.mu.Lock()
		known = c.known
		c.mu.Unlock()
	}
	if told, ok := known[name]; ok {
		return told
	}
	// A llama.cpp server serves its one model under every name.
	if len(known) == 1 && c.selfRun && !ok {
		for _, told := range known {
			told.Name = name
			return told
		}
	}
	return info
}

// listing is the answer of /models: under "data", under "models", or bare.
type listing []json.RawMessage

func (l *listing) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]json.RawMessage)(l))
	}
	var object struct {
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	*l = object.Data
	if *l == nil {
		*l = object.Models
	}
	return nil
}

// contextKeys and sizeKeys are where servers tell the context length and the
// parameter count, the best place first.
var (
	contextKeys = []string{
		"meta.n_ctx", "max_model_len", "context_length", "context_window", "max_context_length",
		"loaded_context_length", "top_provider.context_length", "meta.n_ctx_train",
	}
	sizeKeys = []string{"meta.n_params", "n_params", "parameter_count"}
)

// features are where servers tell capabilities, and the word for it if the place is a list.
var features = []struct{ path, word, capability string }{
	{"architecture.input_modalities", "image", provider.Vision},
	{"capabilities.vision", "", provider.Vision},
	{"capabilities", "multimodal", provider.Vision},
	{"capabilities", "vision", provider.Vision},
	{"supported_parameters", "tools", provider.Tools},
	{"capabilities.function_calling", "", provider.Tools},
	{"capabilities", "tool_use", provider.Tools},
	{"capabilities", "tools", provider.Tools},
	{"supported_parameters", "reasoning", provider.Thinking},
	{"supported_parameters", "reasoning_effort", provider.ThinkingLevels},
	{"capabilities", "thinking", provider.Thinking},
}

// describe joins what the server tells about one model with what its name tells.
func describe(raw json.RawMessage) provider.ModelInfo {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return provider.ModelInfo{}
	}
	name, _ := m["id"].(string)
	if name == "" {
		name, _ = m["name"].(string)
	}
	info, _ := provider.Lookup(name)
	for _, key := range contextKeys {
		if n := number(at(m, key)); n > 0 && n < 1<<31 {
			info.ContextLength = int(n)
			break
		}
	}
	for _, key := range sizeKeys {
		if n := number(at(m, key)); n > 0 && n < 1<<62 {
			info.ParameterCount = int64(n)
			break
		}
	}
	for _, f := range features {
		v := at(m, f.path)
		list, _ := v.([]any)
		if (v == true && f.word == "" || f.word != "" && slices.Contains(list, any(f.word))) &&
			!has(info, f.capability) {
			info.Capabilities = append(info.Capabilities, f.capability)
		}
	}
	return info
}

// at returns the value at a dotted path, or nil.
func at(m map[string]any, path string) any {
	for {
		key, rest, more := strings.Cut(path, ".")
		if !more {
			return m[key]
		}
		m, _ = m[key].(map[string]any)
		path = rest
	}
}

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}
