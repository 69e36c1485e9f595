package tools

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

const mkdirText = `Create directories, with missing parents. One that exists is left as it is. Write and Patch create parents by themselves.`

func mkdirTool() tool.Tool {
	return tool.Tool{
		Name:        "Mkdir",
		Description: mkdirText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"paths":{"type":"array","items":{"type":"string","minLength":1},"minItems":1,"maxItems":100,"description":"The directories, relative to the working directory or absolute."}},
"required":["paths"],"additionalProperties":false}`),
		Serial:      true,
		SideEffects: []string{"write"},
		Timeout:     fileTimeout,
		Paths: func(args map[string]any) (tool.Paths, error) {
			var paths tool.Paths
			for _, p := range texts(args, "paths") {
				paths.Write = append(paths.Write, home(p))
			}
			return paths, nil
		},
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			var done []string
			for _, p := range texts(call.Args, "paths") {
				path := absolute(call.Workdir, p)
				verb := "created"
				if info, err := os.Stat(path); err == nil {
					if !info.IsDir() {
						return tool.Result{}, failedAfter(
							done,
							fmt.Errorf("%s exists and is not a directory", display(call.Workdir, path)),
						)
					}
					verb = "exists"
				}
				if err := os.MkdirAll(path, 0o777); err != nil {
					return tool.Result{}, failedAfter(done, explain(call.Workdir, path, err))
				}
				done = append(done, verb+" "+display(call.Workdir, path))
			}
			return tool.Result{Text: strings.Join(done, "\n")}, nil
		},
	}
}

// failedAfter adds what had been done before the error.
func failedAfter(done []string, err error) error {
	if len(done) == 0 {
		return err
	}
	return fmt.Errorf("%w (before that: %s)", err, strings.Join(done, ", "))
}
