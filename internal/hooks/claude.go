package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/sdk"
)

// claudeTimeout is what hooks of Claude Code get when they name none.
const claudeTimeout = 60 * time.Second

// claudeEvents are the events of Claude Code that have an equivalent.
var claudeEvents = map[string]string{
	"PreToolUse": "pre", "PostToolUse": "post", "UserPromptSubmit": "user_message", "SessionStart": "session_start",
	"SessionEnd": "session_end", "Stop": "after_response", "PreCompact": "before_compaction",
}

// claudeTools are the names under which hooks of Claude Code know our tools,
// where they differ. Whoever watches Edit there means every way to edit.
var claudeTools = map[string][]string{"Rg": {"Grep"}, "Ls": {"LS"}, "Patch": {"Edit", "MultiEdit", "Write"}}

// claudeGroup is a matcher with its hooks.
type claudeGroup struct {
	Matcher string                       `json:"matcher"`
	Hooks   []map[string]json.RawMessage `json:"hooks"`
}

// ImportClaude reads the hooks in a settings.json of Claude Code. scope, "user" or
// "project", becomes part of their names. The report names every part that has no
// equivalent here. A file that does not exist has no hooks.
func ImportClaude(path, scope string) (hks config.Hooks, report []string, err error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return parseClaude(src, path, scope)
}

func parseClaude(src []byte, path, scope string) (config.Hooks, []string, error) {
	var settings struct {
		Hooks    map[string]json.RawMessage `json:"hooks"`
		Disabled bool                       `json:"disableAllHooks"`
	}
	if err := json.Unmarshal(src, &settings); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	c := claudeImport{path: path, scope: scope, hooks: config.Hooks{}}
	if settings.Disabled {
		c.note("disableAllHooks is set: nothing is imported")
		return c.hooks, c.report, nil
	}
	for _, event := range slices.Sorted(maps.Keys(settings.Hooks)) {
		if claudeEvents[event] == "" {
			c.note("event %s has no equivalent", event)
			continue
		}
		var groups []claudeGroup
		if err := json.Unmarshal(settings.Hooks[event], &groups); err != nil {
			c.note("event %s cannot be read: %v", event, err)
			continue
		}
		n := 0
		for _, g := range groups {
			for _, fields := range g.Hooks {
				n++
				c.add(event, n, g.Matcher, fields)
			}
		}
	}
	return c.hooks, c.report, nil
}

// claudeImport is the state of one import.
type claudeImport struct {
	path, scope string
	hooks       config.Hooks
	report      []string
}

func (c *claudeImport) note(format string, args ...any) {
	c.report = append(c.report, c.path+": "+fmt.Sprintf(format, args...))
}

// add takes over one hook, or reports why not.
func (c *claudeImport) add(event string, n int, matcher string, f fields) {
	where := fmt.Sprintf("%s hook %d", event, n)
	if kind := f.text("type"); kind != "command" {
		c.note("%s: type %q has no equivalent", where, kind)
		return
	}
	h := config.Hook{
		Name:   fmt.Sprintf("claude:%s:%s:%02d", c.scope, event, n),
		Source: config.Source{File: c.path}, Event: claudeEvents[event], Command: f.text("command"),
		Timeout: claudeTimeout, Foreign: event,
	}
	if err := sh.Parse(h.Command); err != nil || strings.TrimSpace(h.Command) == "" {
		c.note("%s: command %q cannot be run: %v", where, h.Command, err)
		return
	}
	var err error
	if h.Matcher, err = claudeMatcher(event, matcher); err != nil {
		c.note("%s: %v", where, err)
		return
	}
	var seconds float64
	if decode(f, "timeout", "", &seconds) == nil && seconds > 0 && seconds < 1e6 {
		h.Timeout = time.Duration(seconds * float64(time.Second))
	}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains([]string{"type", "command", "timeout", "statusMessage"}, key) {
			c.note("%s: %s has no equivalent and is ignored", where, key)
		}
	}
	c.hooks[h.Name] = h
}

// claudeMatcher translates a matcher: whole names, and those of our tools too.
func claudeMatcher(event, matcher string) (string, error) {
	if matcher == "" || matcher == "*" {
		return "", nil
	}
	if _, err := regexp.Compile(matcher); err != nil { // Alone: brackets must not meet ours.
		return "", fmt.Errorf("matcher %q: %w", matcher, err)
	}
	whole := "^(?:" + matcher + ")$"
	exp, err := regexp.Compile(whole)
	if err != nil {
		return "", fmt.Errorf("matcher %q: %w", matcher, err)
	}
	if !strings.HasSuffix(event, "ToolUse") {
		return whole, nil
	}
	names := []string{matcher}
	for _, own := range slices.Sorted(maps.Keys(claudeTools)) {
		if !exp.MatchString(own) && slices.ContainsFunc(claudeTools[own], exp.MatchString) {
			names = append(names, own)
		}
	}
	return "^(?:" + strings.Join(names, "|") + ")$", nil
}

// foreignMatch is what the matcher of an imported hook looks at beyond tools.
func (h *bound) foreignMatch(ev *lifecycle.Event) bool {
	subject := ""
	switch d := ev.Data.(type) {
	case *sdk.SessionStartContext:
		if subject = "startup"; d.Resumed {
			subject = "resume"
		}
	case *sdk.SessionEndContext:
		subject = d.Reason
	case *sdk.BeforeCompactionContext:
		if subject = "auto"; d.Forced {
			subject = "manual"
		}
	case *sdk.AfterResponseContext:
		return len(d.Calls) == 0 // Stop is the end of the work, not of an answer.
	default:
		return true
	}
	return h.Matches(subject)
}

// foreignPayload is what an imported hook reads: the names that it knows.
func (h *bound) foreignPayload(ev *lifecycle.Event, cwd string) ([]byte, error) {
	c := ev.Context()
	p := map[string]any{
		"hook_event_name": h.hook.Foreign,
		"session_id":      c.SessionID,
		"cwd":             cwd,
		"permission_mode": "default",
		"transcript_path": "",
	}
	switch d := ev.Data.(type) {
	case *sdk.BeforeToolContext:
		p["tool_name"], p["tool_input"], p["tool_use_id"] = d.ToolName, claudeArgs(d.Arguments, cwd), d.ToolCallID
	case *sdk.AfterToolContext:
		p["tool_name"], p["tool_input"], p["tool_use_id"] = d.ToolName, claudeArgs(d.Arguments, cwd), d.ToolCallID
		p["tool_response"] = d.ToolResult
	case *sdk.UserMessageContext:
		p["prompt"] = d.Text
	case *sdk.SessionStartContext:
		if p["source"] = "startup"; d.Resumed {
			p["source"] = "resume"
		}
	case *sdk.SessionEndContext:
		p["reason"] = d.Reason
	case *sdk.BeforeCompactionContext:
		if p["trigger"] = "auto"; d.Forced {
			p["trigger"] = "manual"
		}
	case *sdk.AfterResponseContext:
		p["stop_hook_active"] = false
	}
	return encode(p)
}

// claudeArgs adds file_path, under which imported hooks look for the file.
func claudeArgs(args map[string]any, cwd string) map[string]any {
	path, ok := args["path"].(string)
	if _, has := args["file_path"]; has || !ok {
		return args
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	out := maps.Clone(args)
	out["file_path"] = path
	return out
}

// ownKeys undoes what claudeArgs added.
func (h *bound) ownKeys(args, input map[string]any) map[string]any {
	_, has := args["file_path"]
	path, moved := input["file_path"]
	if h.hook.Foreign == "" || has || !moved {
		return input
	}
	out := maps.Clone(input)
	delete(out, "file_path")
	if _, ok := args["path"]; ok {
		out["path"] = path
	}
	return out
}
