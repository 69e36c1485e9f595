// Package hooks provides user-configurable shell hooks that run before and after
// LLM tool calls, and at the other moments of a session.
//
// Hooks are defined in .aura/config/hooks/**/*.yaml, matched by a regular
// expression for the tool name, and executed via mvdan/sh. They receive JSON context
// on stdin and control what happens through exit codes and optional JSON on stdout.
//
// Exit code semantics:
//   - 0: success, stdout is parsed for optional {"message": "...", "deny": true, "reason": "..."}
//   - 2: block (pre) or feedback (post), stderr is returned as the message
//   - other: non-blocking, stderr (or stdout) is returned as feedback to the LLM
//
// The package reads no files: package config does. It is no sandbox either: a hook
// runs with the rights of the user who wrote it down.
package hooks

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/jsontext"
)

// DefaultTimeout is the default hook execution timeout.
const DefaultTimeout = 10 * time.Second

// Values of hook_event for hooks around tool calls.
const (
	preToolUse  = "PreToolUse"
	postToolUse = "PostToolUse"
)

// Entry is a compiled hook ready to match and execute.
type Entry struct {
	Name    string         // hook name from config map key
	Matcher *regexp.Regexp // nil = match all tools
	Files   string         // glob pattern for filepath.Match against basenames
	Command string
	Timeout time.Duration // 0 = DefaultTimeout
	Silent  bool          // suppress all output and exit codes

	hook *config.Hook // What else is configured; nil for an entry made by hand.
}

// Matches reports whether the hook is for the tool.
func (e Entry) Matches(toolName string) bool {
	return e.Matcher == nil || e.Matcher.MatchString(toolName)
}

// MatchedPaths returns file paths that match the entry's files glob. If no files
// glob is set, returns all paths unchanged.
func (e Entry) MatchedPaths(filePaths []string) []string {
	if e.Files == "" {
		return filePaths
	}
	var list []string
	for _, p := range filePaths {
		if ok, _ := filepath.Match(e.Files, filepath.Base(p)); ok {
			list = append(list, p)
		}
	}
	return list
}

// Event is the JSON payload piped to hook stdin.
type Event struct {
	HookEvent string `json:"hook_event"`
	Tool      struct {
		Name   string `json:"name"`
		Input  any    `json:"input"`
		Output string `json:"output,omitempty"`
	} `json:"tool"`
	CWD       string   `json:"cwd"`
	FilePaths []string `json:"file_paths,omitempty"`
}

// Result is what the hooks of one tool call came to.
type Result struct {
	Blocked bool   // A pre hook refused the call.
	Message string // The reason if Blocked, else the feedback of all hooks in order.
}

// Runner holds compiled pre and post hooks. Zero value is safe: all methods
// return immediately when no hooks are configured. This is a value type; no nil
// checks needed at call sites.
//
// A Runner judges single calls, outside a session: what a hook wants to change or
// to ask a user has nobody to go to, so a wish to ask blocks and changes are
// dropped. Sessions bind a Set instead.
type Runner struct {
	Pre     []Entry
	Post    []Entry
	OnStart func(hookName string) // called before each matching hook executes; nil = no-op
}

// New compiles hook entries from config and orders them by dependency DAG. Panics
// on invalid regex (fail-fast). Returns error on dependency cycles or missing deps.
func New(hks config.Hooks) (Runner, error) {
	pre, post, err := Order(hks)
	if err != nil {
		return Runner{}, err
	}
	return Runner{Pre: compile(hks, pre), Post: compile(hks, post)}, nil
}

// Order returns the names of the enabled pre and post hooks in running order.
func Order(hks config.Hooks) (pre, post []string, err error) {
	if pre, err = hks.Sort("pre"); err != nil {
		return nil, nil, err
	}
	if post, err = hks.Sort("post"); err != nil {
		return nil, nil, err
	}
	return pre, post, nil
}

func compile(hks config.Hooks, names []string) []Entry {
	var list []Entry
	for _, name := range names {
		hook := hks[name]
		e := Entry{
			Name:    name,
			Files:   hook.Files,
			Command: hook.Command,
			Timeout: hook.Timeout,
			Silent:  hook.Silent,
			hook:    &hook,
		}
		if e.Timeout <= 0 {
			e.Timeout = DefaultTimeout
		}
		if hook.Matcher != "" {
			e.Matcher = regexp.MustCompile(hook.Matcher)
		}
		list = append(list, e)
	}
	return list
}

// RunPre runs the pre hooks that match a call, up to the first that blocks it.
func (r Runner) RunPre(ctx context.Context, toolName string, toolInput any, cwd string) Result {
	return r.run(ctx, r.Pre, preToolUse, toolName, toolInput, "", cwd)
}

// RunPost runs the post hooks that match a call.
func (r Runner) RunPost(ctx context.Context, toolName string, toolInput any, toolOutput, cwd string) Result {
	return r.run(ctx, r.Post, postToolUse, toolName, toolInput, toolOutput, cwd)
}

func (r Runner) run(
	ctx context.Context,
	entries []Entry,
	event, toolName string,
	input any,
	output, cwd string,
) Result {
	var payload []byte
	var paths, said []string
	for _, e := range entries {
		if !e.Matches(toolName) {
			continue
		}
		if payload == nil {
			paths = extract(object(input), cwd)
			payload = encodeTool(event, toolName, input, output, cwd, paths, "")
		}
		matched := e.MatchedPaths(paths)
		if e.Files != "" && len(matched) == 0 {
			continue
		}
		if r.OnStart != nil {
			r.OnStart(e.Name)
		}
		res, err := e.start(ctx, job{payload: payload, paths: matched, dir: cwd, tool: toolName})
		if ctx.Err() != nil {
			break
		}
		message, blocked := e.plainly(event == preToolUse, res, err)
		if blocked {
			return Result{Blocked: true, Message: message}
		}
		if message != "" {
			said = append(said, e.prefix()+message)
		}
	}
	return Result{Message: strings.Join(said, "\n")}
}

// prefix is what stands before the words of a hook.
func (e Entry) prefix() string { return "[Hook: " + e.Name + "]:\n" }

// object is the arguments of a call as a map, whatever type they came in.
func object(input any) map[string]any {
	if m, ok := input.(map[string]any); ok {
		return m
	}
	var m map[string]any
	if text, err := json.Marshal(input); err == nil {
		_ = json.Unmarshal(text, &m)
	}
	return m
}

// encode is v as one line of JSON, its end included, in which shell text stays readable.
func encode(v any) ([]byte, error) {
	text, err := jsontext.Marshal(v)
	return append(text, '\n'), err
}
