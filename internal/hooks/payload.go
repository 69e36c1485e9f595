package hooks

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// patchHeaders begin the lines of a patch that name files.
var patchHeaders = []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}

// extract finds the paths in the arguments of a tool call, whichever tool it is:
// under path, file_path and paths, and in the headers of a patch. They are made
// absolute; each is named once.
func extract(args map[string]any, cwd string) []string {
	var list []string
	add := func(path string) {
		if path = strings.TrimSpace(path); path == "" {
			return
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		if path = filepath.Clean(path); !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	for _, key := range []string{"path", "file_path"} {
		if s, ok := args[key].(string); ok {
			add(s)
		}
	}
	switch paths := args["paths"].(type) {
	case []any:
		for _, p := range paths {
			if s, ok := p.(string); ok {
				add(s)
			}
		}
	case []string:
		for _, s := range paths {
			add(s)
		}
	}
	if patch, ok := args["patch"].(string); ok {
		for line := range strings.Lines(patch) {
			for _, h := range patchHeaders {
				if name, ok := strings.CutPrefix(line, h); ok {
					add(name)
				}
			}
		}
	}
	return list
}

// toolPayload is an Event with what a session adds to it.
type toolPayload struct {
	Event
	SessionID string `json:"session_id,omitempty"`
}

// encodeTool is the payload of a hook around a tool call.
func encodeTool(event, name string, input any, output, cwd string, paths []string, session string) []byte {
	p := toolPayload{Event: Event{HookEvent: event, CWD: cwd, FilePaths: paths}, SessionID: session}
	p.Tool.Name, p.Tool.Output = name, output
	p.Tool.Input = input
	if args, ok := input.(map[string]any); ok {
		p.Tool.Input = json.RawMessage(tool.ArgsJSON(args)) // Leaves out what JSON has no form for.
	}
	text, err := encode(p)
	if err != nil {
		p.Tool.Input = nil
		text, _ = encode(p)
	}
	return text
}

// encodeMoment is the payload of a hook at any other moment: the data that
// plugins get too, with hook_event and cwd in front.
func encodeMoment(function, cwd string, data any) ([]byte, error) {
	head, err := encode(struct {
		HookEvent string `json:"hook_event"`
		CWD       string `json:"cwd"`
	}{function, cwd})
	if err != nil {
		return nil, err
	}
	body, err := encode(data)
	if err != nil {
		return nil, err
	}
	return slices.Concat(head[:len(head)-2], []byte(","), body[1:]), nil
}

// payload is what the hook reads for an event.
func (h *bound) payload(ev *lifecycle.Event, cwd string, paths []string) ([]byte, error) {
	if h.hook.Foreign != "" {
		return h.foreignPayload(ev, cwd)
	}
	switch d := ev.Data.(type) {
	case *sdk.BeforeToolContext:
		return encodeTool(preToolUse, d.ToolName, d.Arguments, "", cwd, paths, d.SessionID), nil
	case *sdk.AfterToolContext:
		return encodeTool(postToolUse, d.ToolName, d.Arguments, d.ToolResult, cwd, paths, d.SessionID), nil
	}
	return encodeMoment(h.row.Function, cwd, ev.Data)
}
