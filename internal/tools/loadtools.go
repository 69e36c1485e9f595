package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

const loadToolsText = `Load tools that are not offered yet, by name or by a pattern with * such as mcp__docs__*. They can be called from your next response on and stay loaded. Load only what you need. These can be loaded:`

// What the list of deferred tools may cost in every request.
const (
	maxDeferredLine = 120      // Characters about one tool.
	maxDeferredFull = 8 << 10  // Bytes of tools with what they do.
	maxDeferredText = 12 << 10 // Bytes of names alone after that.
)

// LoadTools makes the tool with which the model loads the deferred ones. It is not
// among those of New: without deferred tools there is nothing to load.
func LoadTools(deferred []tool.Tool) tool.Tool {
	return tool.Tool{
		Name:        "LoadTools",
		Description: loadToolsText + "\n" + deferredIndex(deferred),
		Schema: tool.MustSchema(`{"type":"object","properties":{
"tools":{"type":"array","minItems":1,"maxItems":200,"description":"Names or patterns.","items":{"type":"string","minLength":1}}},
"required":["tools"],"additionalProperties":false}`),
		Source:    tool.Source{Kind: "builtin"},
		Serial:    true,
		InProcess: true,
		Execute:   loadTools,
	}
}

func loadTools(_ context.Context, call tool.Call) (tool.Result, error) {
	if call.Host == nil {
		return tool.Result{}, errAlone
	}
	names := texts(call.Args, "tools")
	if len(names) == 0 {
		return tool.Result{}, errors.New("tools is empty: name at least one")
	}
	loaded, err := call.Host.Load(names)
	if len(loaded) == 0 {
		return tool.Result{}, err
	}
	answer := "loaded, and can be called now: " + strings.Join(loaded, ", ")
	if err != nil {
		answer += "\n" + err.Error()
	}
	return tool.Result{Text: answer}, nil
}

// deferredIndex lists tools with what they do, as long as there is room, then their
// names.
func deferredIndex(list []tool.Tool) string {
	var b strings.Builder
	for i, t := range list {
		if b.Len() > maxDeferredText {
			fmt.Fprintf(&b, "\n… and %d more", len(list)-i)
			break
		}
		line := "\n- " + t.Name
		text := wording.Clip(wording.FirstLine(t.Description), maxDeferredLine)
		if text != "" && b.Len() < maxDeferredFull {
			line += ": " + text
		}
		b.WriteString(line)
	}
	return strings.TrimPrefix(b.String(), "\n")
}
