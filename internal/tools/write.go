package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

const writeText = `Write a file: create it, or replace its whole content.

- Missing parent directories are created.
- The content is written as it is given; nothing is added or converted.
- An existing file must have been read before. To change a part of a file use Edit or Patch.`

func writeTool() tool.Tool {
	return tool.Tool{
		Name:        "Write",
		Description: writeText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"The file, relative to the working directory or absolute."},
"content":{"type":"string","description":"The whole content."}},
"required":["path","content"],"additionalProperties":false}`),
		Serial:      true,
		SideEffects: []string{"write"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			return overwrites(text(args, "path")), nil
		},
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			content := text(call.Args, "content")
			path := absolute(call.Workdir, text(call.Args, "path"))
			if strings.HasSuffix(text(call.Args, "path"), "/") {
				return tool.Result{}, fmt.Errorf(
					"%s names a directory, not a file: use Mkdir to create a directory",
					text(call.Args, "path"),
				)
			}
			created, err := save(call.Workdir, path, content)
			if err != nil {
				return tool.Result{}, err
			}
			verb := "replaced"
			if created {
				verb = "created"
			}
			lines := strings.Count(content, "\n")
			if content != "" && !strings.HasSuffix(content, "\n") {
				lines++
			}
			return tool.Result{
				Text: fmt.Sprintf("%s %s: %d bytes, %d lines", verb, display(call.Workdir, path), len(content), lines),
			}, nil
		},
	}
}

// overwrites is what a tool declares that replaces a file the model must know.
// It records too: the model knows what it has just written.
func overwrites(path string) tool.Paths {
	list := []string{home(path)}
	return tool.Paths{Write: list, Guard: list, Record: list}
}
