package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/app"
	"github.com/idelchi/aura/internal/tool"
)

// runTool runs a tool with the arguments of the command line.
func runTool(ctx context.Context, e *env, a *app.App, t *tool.Tool, f toolsFlags, args []string) error {
	values, err := toolArguments(t, args, f.raw)
	if err != nil {
		return &usageError{fmt.Errorf("%s: %w", t.Name, err)}
	}
	snap := a.Agent().Snapshot()
	if err := confine(t, values, f.restrictions(snap.Workdir), snap.Workdir, e.warn); err != nil {
		return err
	}
	result, err := t.Run(ctx, tool.Call{
		ID: "cli", Args: values, Context: snap, Workdir: snap.Workdir,
		Output: func(string) {}, // The result has all of it.
	})
	return printResult(e, result, err, f.json)
}

// toolArguments reads arguments from the command line and checks them.
func toolArguments(t *tool.Tool, words []string, raw bool) (map[string]any, error) {
	text := strings.Join(words, " ")
	if raw || strings.HasPrefix(strings.TrimSpace(text), "{") {
		var values map[string]any
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			return nil, fmt.Errorf("arguments are not a JSON object: %w", err)
		}
		return values, checked(t, values)
	}
	pairs := map[string]string{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("argument %q is neither key=value nor JSON", w)
		}
		pairs[key] = value
	}
	values, err := t.Schema.Coerce(pairs)
	if err != nil {
		return nil, err
	}
	return values, checked(t, values)
}

func checked(t *tool.Tool, values map[string]any) error {
	if problems := t.Schema.Check(values); len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// printResult prints what a tool answered; its error makes the exit code 1.
func printResult(e *env, r tool.Result, err error, asJSON bool) error {
	if !asJSON {
		if r.Text != "" {
			fmt.Fprintln(e.out, strings.TrimRight(r.Text, "\n"))
		}
		return err
	}
	out := struct {
		Result string `json:"result"`
		Error  string `json:"error,omitempty"`
	}{Result: r.Text}
	if err != nil {
		out.Error = err.Error()
	}
	if printErr := e.printJSON(out); printErr != nil || err == nil {
		return printErr
	}
	return codeError(exitError)
}
