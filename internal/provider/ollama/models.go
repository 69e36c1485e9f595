package ollama

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/idelchi/aura/internal/provider"
)

// details are what a listing tells about a model.
type details struct {
	Family        string `json:"family"`
	ParameterSize string `json:"parameter_size"`
}

// Models implements provider.Client. The listing gives names, families and sizes; the
// rest is in Model.
func (c *Client) Models(ctx context.Context) ([]provider.ModelInfo, error) {
	var list struct {
		Models []struct {
			Name    string  `json:"name"`
			Model   string  `json:"model"`
			Details details `json:"details"`
		} `json:"models"`
	}
	if err := c.transport.GetJSON(ctx, "/api/tags", c.header, &list); err != nil {
		return nil, err
	}
	out := make([]provider.ModelInfo, 0, len(list.Models))
	for _, m := range list.Models {
		name := m.Name
		if name == "" {
			name = m.Model
		}
		out = append(out, provider.ModelInfo{
			Name: name, Family: m.Details.Family, ParameterCount: parameters(m.Details.ParameterSize),
			Capabilities: []string{provider.ContextOverride},
		})
	}
	return out, nil
}

// Model implements provider.Client with what /api/show says. A server that does not
// answer leaves what the catalogue knows.
func (c *Client) Model(ctx context.Context, name string) provider.ModelInfo {
	var show struct {
		Details      details                    `json:"details"`
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
		Capabilities []string                   `json:"capabilities"`
		Parameters   string                     `json:"parameters"`
	}
	known, _ := provider.Lookup(name)
	known.Name = name
	ctx, cancel := context.WithTimeout(provider.Once(ctx), askTime)
	defer cancel()
	if err := c.transport.PostJSON(ctx, "/api/show", c.header, map[string]string{"model": name}, &show); err != nil {
		return known
	}
	info := provider.ModelInfo{
		Name:           name,
		Family:         show.Details.Family,
		ParameterCount: parameters(show.Details.ParameterSize),
	}
	if info.ParameterCount == 0 {
		info.ParameterCount = int64(number(show.ModelInfo["general.parameter_count"]))
	}
	for key, value := range show.ModelInfo {
		if strings.HasSuffix(key, ".context_length") {
			info.ContextLength = max(info.ContextLength, int(number(value)))
		}
	}
	// The Modelfile may allow less than the model was trained for.
	if n := numCtx(show.Parameters); n > 0 && (info.ContextLength == 0 || n < info.ContextLength) {
		info.ContextLength = n
	}
	info.Capabilities = capabilities(show.Capabilities, known.Capabilities, name+" "+info.Family)
	if info.Family == "" {
		info.Family = known.Family
	}
	if info.ContextLength == 0 {
		info.ContextLength = known.ContextLength
	}
	return info
}

// capabilities maps Ollama's words onto ours; servers too old to tell leave it to
// the catalogue. The context window can always be chosen.
func capabilities(told, known []string, model string) []string {
	out := slices.Clone(known)
	if told != nil {
		out = nil
		for _, c := range []string{provider.Vision, provider.Tools, provider.Thinking, provider.Embedding} {
			if slices.Contains(told, c) {
				out = append(out, c)
			}
		}
		levels := strings.Contains(model, "gpt-oss") || strings.Contains(model, "gptoss")
		if levels && slices.Contains(out, provider.Thinking) {
			out = append(out, provider.ThinkingLevels)
		}
	}
	if !slices.Contains(out, provider.ContextOverride) {
		out = append(out, provider.ContextOverride)
	}
	return out
}

// parameters reads sizes such as "8.0B", "137M" and "8x7B"; 0 if it cannot.
func parameters(size string) int64 {
	size = strings.ToUpper(strings.TrimSpace(size))
	if size == "" {
		return 0
	}
	scale := map[byte]float64{'K': 1e3, 'M': 1e6, 'B': 1e9, 'T': 1e12}[size[len(size)-1]]
	if scale == 0 {
		scale = 1
	} else {
		size = size[:len(size)-1]
	}
	product := scale
	for factor := range strings.SplitSeq(size, "X") {
		f, err := strconv.ParseFloat(factor, 64)
		if err != nil || f < 0 {
			return 0
		}
		product *= f
	}
	if product > 1e18 || product != product {
		return 0
	}
	return int64(product + 0.5)
}

// number reads a JSON number; anything else is 0.
func number(raw json.RawMessage) float64 {
	var f float64
	if json.Unmarshal(raw, &f) != nil || f < 0 || f > 1e15 {
		return 0
	}
	return f
}

// numCtx finds num_ctx in the parameters of a Modelfile.
func numCtx(parameters string) int {
	for l := range strings.Lines(parameters) {
		if f := strings.Fields(l); len(f) == 2 && f[0] == "num_ctx" {
			n, err := strconv.Atoi(f[1])
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
