package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/idelchi/aura/internal/tool"
)

// field is one value that a server wants from the user.
type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	OneOf       []choice `json:"oneOf"`
	Items       *struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
}

type choice struct {
	Const string `json:"const"`
}

// maxFields bounds how much a server may ask at once.
const maxFields = 20

// elicit puts a question of the server to the user. What they do not want to answer
// is declined. A server may ask only while it works on a call.
func (c *conn) elicit(ctx context.Context, req *protocol.ElicitRequest) (*protocol.ElicitResult, error) {
	declined := &protocol.ElicitResult{Action: "decline"}
	c.mu.Lock()
	calls := slices.Clone(c.calls)
	c.mu.Unlock()
	if len(calls) == 0 || req.Params == nil || req.Params.Mode == "url" {
		return declined, nil
	}
	for _, r := range calls {
		r.pause()
		defer r.resume()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(calls[len(calls)-1].ctx, cancel)()
	values, err := c.form(ctx, req.Params)
	switch {
	case ctx.Err() != nil:
		return &protocol.ElicitResult{Action: "cancel"}, nil
	case err != nil:
		c.hub.opts.Logger.Debug("question declined", "server", c.server.Name, "error", err)
		return declined, nil
	}
	return &protocol.ElicitResult{Action: "accept", Content: values}, nil
}

// form asks for the fields one by one, in the order of the schema.
func (c *conn) form(ctx context.Context, p *protocol.ElicitParams) (map[string]any, error) {
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	head := fmt.Sprintf("MCP server %s asks: %s", c.server.Name, clip(p.Message, 2000))
	const yes, no = "answer", "decline"
	if reply, err := c.ask(ctx, head, []string{yes, no}, false); err != nil || !slices.Contains(reply, yes) {
		return nil, fmt.Errorf("declined: %v", err)
	}
	values := map[string]any{}
	names := keysOf(schema.Properties, schema.Required)
	if len(names) > maxFields {
		return nil, fmt.Errorf("%d fields are too many", len(names))
	}
	for _, name := range names {
		var f field
		if err := json.Unmarshal(schema.Properties[name], &f); err != nil {
			return nil, err
		}
		value, err := c.fieldValue(ctx, name, f, slices.Contains(schema.Required, name))
		if err != nil {
			return nil, err
		}
		if value != nil {
			values[name] = value
		}
	}
	return values, nil
}

// keysOf lists the required fields first, then the others by name: the decoded schema
// has no order of its own.
func keysOf(properties map[string]json.RawMessage, required []string) []string {
	var names []string
	for _, name := range required {
		if _, ok := properties[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var rest []string
	for name := range properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}

func (c *conn) ask(ctx context.Context, text string, options []string, multi bool) ([]string, error) {
	return c.hub.opts.Ask(ctx, tool.Question{Text: text, Options: options, Multi: multi})
}

// fieldValue asks for one field; nil means that an optional one was left out.
func (c *conn) fieldValue(ctx context.Context, name string, f field, required bool) (any, error) {
	text := name
	if f.Title != "" {
		text = oneLine(f.Title, 200)
	}
	if f.Description != "" {
		text += ": " + oneLine(f.Description, 500)
	}
	if !required {
		text += " (optional)"
	}
	options := slices.Clone(f.Enum)
	for _, x := range f.OneOf {
		options = append(options, x.Const)
	}
	if f.Items != nil {
		options = append(options, f.Items.Enum...)
		for _, x := range f.Items.AnyOf {
			options = append(options, x.Const)
		}
	}
	if f.Type == "boolean" {
		options = []string{"yes", "no"}
	}
	reply, err := c.ask(ctx, text, options, f.Type == "array")
	if err != nil {
		return nil, err
	}
	joined := strings.TrimSpace(strings.Join(reply, ", "))
	switch {
	case joined == "" && !required:
		return nil, nil
	case f.Type == "array":
		return anys(reply), nil
	case f.Type == "boolean":
		return slices.Contains([]string{"yes", "y", "true"}, strings.ToLower(joined)), nil
	case f.Type == "integer":
		return strconv.ParseInt(joined, 10, 64)
	case f.Type == "number":
		return strconv.ParseFloat(joined, 64)
	}
	return joined, nil
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
