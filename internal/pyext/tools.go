package pyext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// kind is the name of extensions in tool.Source.
const kind = "extension"

// Tools are the tools of all extensions. A tool whose schema cannot be used is
// left out and the user told.
func (h *Host) Tools() []tool.Tool {
	var out []tool.Tool
	for number, reg := range h.registered() {
		for _, spec := range reg.Tools {
			schema, err := tool.ParseSchema(spec.InputSchema, tool.Open)
			if err != nil {
				h.opts.Notice(h.name(number), fmt.Sprintf("tool %q is left out: input_%v", spec.Name, err))
				continue
			}
			out = append(out, h.tool(number, spec, schema))
		}
	}
	return out
}

func (h *Host) tool(number int, spec toolSpec, schema *tool.Schema) tool.Tool {
	name, _ := json.Marshal(spec.Name)
	effects := slices.DeleteFunc(slices.Clone(spec.SideEffects), func(s string) bool { return s == "none" })
	return tool.Tool{
		Name:        spec.Name,
		Description: spec.Description,
		Schema:      schema,
		Source:      tool.Source{Kind: kind, Name: h.name(number)},
		Confirm:     spec.RequiresApproval,
		SideEffects: effects,
		InProcess:   true,
		Execute: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			text, err := h.value(ctx, number, "tool", name, emptyMap(c.Args), &c.Context)
			if r, ok := errors.AsType[*raised](err); ok {
				return tool.Result{}, fmt.Errorf("Error [exception]: %s", r.text)
			}
			return tool.Result{Text: text}, err
		},
	}
}

// Commands are the slash commands of all extensions.
func (h *Host) Commands() []tool.Command {
	var out []tool.Command
	for number, reg := range h.registered() {
		for _, spec := range reg.Commands {
			name, _ := json.Marshal(spec.Name)
			out = append(out, tool.Command{
				CommandSchema: sdk.CommandSchema{Name: spec.Name, Description: spec.Description},
				Source:        tool.Source{Kind: kind, Name: h.name(number)},
				Run: func(ctx context.Context, args string, snapshot sdk.Context) (sdk.CommandResult, error) {
					text, err := h.value(ctx, number, "command", name, args, &snapshot)
					if err != nil {
						err = fmt.Errorf("/%s: extension %q: %w", spec.Name, h.name(number), err)
					}
					return sdk.CommandResult{Output: text}, err
				},
			})
		}
	}
	return out
}

// registered goes through what the extensions registered, in their order.
func (h *Host) registered() func(yield func(int, *loaded) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*loaded, len(h.found))
	for i := range h.found {
		if h.guards[i].Err() == nil {
			list[i] = h.regs[i+1]
		}
	}
	return func(yield func(int, *loaded) bool) {
		for i, reg := range list {
			if reg != nil && !yield(i+1, reg) {
				return
			}
		}
	}
}

// value calls a tool or command and returns its text.
func (h *Host) value(
	ctx context.Context,
	number int,
	op string,
	name []byte,
	args any,
	snapshot *sdk.Context,
) (string, error) {
	data, err := jsontext.Marshal(args)
	if err != nil {
		return "", err
	}
	c := &call{owner: number, op: op, context: snapshot, timeout: h.opts.ToolTimeout}
	c.fields = slices.Concat([]byte(`"name":`), name, []byte(`,"args":`), data)
	answer, err := h.call(ctx, c)
	if f, ok := errors.AsType[*lifecycle.Fault](err); ok {
		err = f.Err
	}
	if err != nil || answer == nil {
		return "", err
	}
	var v struct {
		Value string `json:"value"`
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		return "", fmt.Errorf("answer %s: %w", strconv.Quote(string(answer)), err)
	}
	return v.Value, nil
}
