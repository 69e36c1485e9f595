// Package tool_logger keeps a record of every tool call in a file: one JSON object
// per line with time, session, tool, arguments, duration, and result or error.
// Arguments and results can contain secrets; the file is for its owner only.
package tool_logger

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/idelchi/aura/sdk"
)

// configDir is the project's .aura directory.
var configDir string

// Init is called once, when the plugin is loaded.
func Init(c sdk.ToolConfig) { configDir = c.ConfigDir }

// AfterToolExecution runs after every tool call that was executed, failed ones
// included. An error that it returns is logged by the host and disturbs nobody.
func AfterToolExecution(_ context.Context, c sdk.AfterToolContext) (sdk.Result, error) {
	limit := 500
	if v, ok := c.PluginConfig["max_result"].(int); ok {
		limit = v
	}
	args, err := json.Marshal(c.Arguments)
	if err != nil {
		return sdk.Result{}, err
	}
	entry := map[string]any{
		"time":        time.Now().Format(time.RFC3339),
		"session":     c.SessionID,
		"tool":        c.ToolName,
		"args":        cut(string(args), limit),
		"duration_ms": c.ToolDuration.Milliseconds(),
		"result":      cut(c.ToolResult, limit),
	}
	if c.ToolError != "" {
		entry["error"] = cut(c.ToolError, limit)
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return sdk.Result{}, err
	}
	return sdk.Result{}, add(file(c.Context), line)
}

// file is where the log is.
func file(c sdk.Context) string {
	path, _ := c.PluginConfig["path"].(string)
	switch {
	case path == "" && configDir != "":
		return filepath.Join(configDir, "tool-logger.log")
	case path == "":
		return filepath.Join(c.Workdir, ".aura", "tool-logger.log")
	case filepath.IsAbs(path):
		return path
	}
	return filepath.Join(c.Workdir, path)
}

// add appends one line with a single write, so that two sessions can share a file.
func add(path string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// cut keeps the first characters of a text.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}
