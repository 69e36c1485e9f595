// Package word_count is a tool with one job. It shows Schema, Execute and Paths.
package word_count

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/idelchi/aura/sdk"
)

// Schema describes the tool to the model.
func Schema() sdk.ToolSchema {
	return sdk.ToolSchema{
		Name:        "WordCount",
		Description: "Count the lines, words and characters of a file or a text.",
		Examples:    `{"path": "README.md"} or {"text": "how many words?"}`,
		Parameters: sdk.ToolParameters{
			Type: "object",
			Properties: map[string]sdk.ToolProperty{
				"path": {Type: "string", Description: "The file"},
				"text": {Type: "string", Description: "The text, instead of a file"},
			},
		},
	}
}

// Paths tells the sandbox which file will be read. The model sees numbers, not the
// content, so the file does not count as read: no Record.
func Paths(args map[string]any) (sdk.ToolPaths, error) {
	if path, ok := args["path"].(string); ok {
		return sdk.ToolPaths{Read: []string{path}}, nil
	}
	return sdk.ToolPaths{}, nil
}

// Execute runs the tool.
func Execute(_ context.Context, c sdk.Context, args map[string]any) (string, error) {
	text, hasText := args["text"].(string)
	path, hasPath := args["path"].(string)
	if hasText == hasPath {
		return "", errors.New("give either path or text")
	}
	if hasPath {
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Workdir, path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	return fmt.Sprintf(
		"%d lines, %d words, %d characters",
		lines,
		len(strings.Fields(text)),
		utf8.RuneCountInString(text),
	), nil
}
