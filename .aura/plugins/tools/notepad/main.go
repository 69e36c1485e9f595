// Package notepad is a tool that reads and writes scratch files. It shows how a tool
// of a plugin takes part in the sandbox and in read-before-write.
package notepad

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idelchi/aura/sdk"
)

// Schema describes the tool to the model. The host checks arguments against it, so
// that Execute and Paths see only what fits.
func Schema() sdk.ToolSchema {
	return sdk.ToolSchema{
		Name:        "Notepad",
		Description: "Read or write a scratch file.",
		Parameters: sdk.ToolParameters{
			Type: "object",
			Properties: map[string]sdk.ToolProperty{
				"action":  {Type: "string", Description: "read or write", Enum: []any{"read", "write"}},
				"path":    {Type: "string", Description: "File path"},
				"content": {Type: "string", Description: "Content to write (required for write action)"},
			},
			Required: []string{"action", "path"},
		},
	}
}

// Execute runs the tool.
func Execute(_ context.Context, c sdk.Context, args map[string]any) (string, error) {
	action, _ := args["action"].(string)
	path, _ := args["path"].(string)
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Workdir, file) // The directory of the program may be another one.
	}
	switch action {
	case "read":
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		return string(data), nil
	case "write":
		content, ok := args["content"].(string)
		if !ok {
			return "", fmt.Errorf("content is required for write action")
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return "", err
		}
		return fmt.Sprintf("wrote %d bytes to %s", len(content), path), nil
	}
	return "", fmt.Errorf("unknown action: %s", action)
}

// Parallel is false because order matters: a write that follows a read in one
// response must wait for it.
func Parallel() bool { return false }

// Paths declares what a call will do to the file system, before it does it.
func Paths(args map[string]any) (sdk.ToolPaths, error) {
	action, _ := args["action"].(string)
	path, _ := args["path"].(string)
	switch action {
	case "read":
		return sdk.ToolPaths{
			Read:   []string{path}, // Sandbox: may be read.
			Record: []string{path}, // Afterwards the model knows the content.
		}, nil
	case "write":
		return sdk.ToolPaths{
			Write: []string{path}, // Sandbox: may be written.
			Guard: []string{path}, // An existing file must have been read before.
		}, nil
	}
	return sdk.ToolPaths{}, nil
}
