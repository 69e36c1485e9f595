// Package tools is the built-in tools: what the model can do to files, the shell,
// its todo list and the user. It does not decide whether a call may run; that is
// the agent's and its guards' business.
package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
)

// Options are the settings of the built-in tools. The zero value is the default.
type Options struct {
	// Todo is the list that the Todo tools change; nil means one of their own.
	Todo *todo.List

	// Env is the environment of Bash, asked at every call; nil means that of the process.
	Env func() []string

	// Bash are the limits of Bash.
	Bash BashLimits

	// ReadSmallFileTokens makes Read ignore a range and show the whole of a file that
	// is estimated to have at most so many tokens; 0 means that ranges always count.
	ReadSmallFileTokens int

	// Parallel reports which tools Batch may run side by side; nil means the built-in
	// ones that are not Serial.
	Parallel func(name string) bool
}

// fileTimeout ends a call on a file system that does not answer.
const fileTimeout = 2 * time.Minute

// errAlone is the answer of tools that need an agent around them.
var errAlone = errors.New("this tool needs a conversation: it cannot run on its own under `aura tools`")

// New makes the built-in tools, in the order in which they are listed.
func New(o Options) []tool.Tool {
	if o.Todo == nil {
		o.Todo = new(todo.List)
	}
	if o.Env == nil {
		o.Env = os.Environ
	}
	o.Bash = o.Bash.withDefaults()
	all := []tool.Tool{
		bashTool(o.Bash, o.Env),
		readTool(o.ReadSmallFileTokens),
		writeTool(),
		editTool(),
		patchTool(),
		globTool(),
		lsTool(),
		mkdirTool(),
		rgTool(),
		todoCreateTool(o.Todo),
		todoListTool(o.Todo),
		todoProgressTool(o.Todo),
		doneTool(),
		askTool(),
		taskTool(),
	}
	if o.Parallel == nil {
		serial := map[string]bool{}
		for _, t := range all {
			serial[t.Name] = t.Serial
		}
		o.Parallel = func(name string) bool {
			isSerial, builtin := serial[name]
			return builtin && !isSerial
		}
	}
	all = append(all, batchTool(o.Parallel))
	for i := range all {
		all[i].Source = tool.Source{Kind: "builtin"}
	}
	return all
}

// The arguments have passed the schema when a tool runs; these read them without
// trusting that, because a tool must never panic.

func text(args map[string]any, name string) string {
	s, _ := args[name].(string)
	return s
}

func flag(args map[string]any, name string) bool {
	b, _ := args[name].(bool)
	return b
}

// integer is 0 for an argument that was not given.
func integer(args map[string]any, name string) int {
	switch n := args[name].(type) {
	case float64:
		return int(max(-1<<31, min(n, 1<<31-1)))
	case int:
		return n
	case int64:
		return int(n)
	}
	return 0
}

func objects(args map[string]any, name string) []map[string]any {
	list, _ := args[name].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, v := range list {
		m, _ := v.(map[string]any)
		out = append(out, m)
	}
	return out
}

func texts(args map[string]any, name string) []string {
	switch list := args[name].(type) {
	case []string:
		return list
	case []any:
		out := make([]string, 0, len(list))
		for _, v := range list {
			s, _ := v.(string)
			out = append(out, s)
		}
		return out
	}
	return nil
}

// home expands a leading ~ to the user's home directory.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
		return path
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(dir, rest)
}

// absolute is the file a path argument means.
func absolute(workdir, path string) string {
	path = home(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(workdir, path)
	}
	return filepath.Clean(path)
}

// display is a path as the model should write it: relative below the working
// directory, absolute elsewhere, with forward slashes.
func display(workdir, path string) string {
	if rel, err := filepath.Rel(workdir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return filepath.ToSlash(path)
}

// orDot is the default of path arguments that name a directory.
func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}
