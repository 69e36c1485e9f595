package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/tool"
)

const batchText = `Make up to 25 tool calls in one. They start in the given order; neighbours that only read run at the same time. All of them run, also after a failure; the results come in the order of the calls. Batch and Done cannot be inside a Batch.`

// maxBatch is how many calls one Batch may hold.
const maxBatch = 25

func batchTool(parallel func(name string) bool) tool.Tool {
	return tool.Tool{
		Name:        "Batch",
		Description: batchText,
		Examples:    `{"calls":[{"name":"Read","arguments":{"path":"go.mod"}},{"name":"Glob","arguments":{"pattern":"**/*_test.go"}}]}`,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"calls":{"type":"array","minItems":1,"maxItems":25,"items":{"type":"object","properties":{
"name":{"type":"string","minLength":1,"description":"The tool."},
"arguments":{"type":"object","description":"Its arguments."}},"required":["name"],"additionalProperties":false}}},
"required":["calls"],"additionalProperties":false}`),
		Serial:    true,
		InProcess: true,
		Execute: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			return batch(ctx, call, parallel)
		},
	}
}

// outcome is what became of one call of a batch.
type outcome struct {
	result tool.Result
	err    error
}

func batch(ctx context.Context, call tool.Call, parallel func(name string) bool) (tool.Result, error) {
	if call.Host == nil {
		return tool.Result{}, errAlone
	}
	calls := objects(call.Args, "calls")
	if len(calls) == 0 || len(calls) > maxBatch {
		return tool.Result{}, fmt.Errorf("calls: expected 1 to %d, got %d", maxBatch, len(calls))
	}
	for i, c := range calls {
		if name := text(c, "name"); name == "Batch" || name == "Done" {
			return tool.Result{}, fmt.Errorf("calls[%d]: %s cannot be inside a Batch: call it on its own", i, name)
		}
	}
	outcomes := make([]outcome, len(calls))
	for at := 0; at < len(calls); {
		end := at + 1
		if parallel(text(calls[at], "name")) {
			for end < len(calls) && parallel(text(calls[end], "name")) {
				end++
			}
		}
		var wg sync.WaitGroup
		for i := at; i < end; i++ {
			wg.Go(func() { outcomes[i] = runOne(ctx, call.Host, calls[i]) })
		}
		wg.Wait()
		at = end
	}
	return collect(calls, outcomes)
}

func runOne(ctx context.Context, host tool.Host, c map[string]any) (o outcome) {
	// In a goroutine of its own nobody else would catch it.
	defer func() {
		if r := recover(); r != nil {
			o.err = fmt.Errorf("panic: %v", r)
		}
	}()
	if err := ctx.Err(); err != nil {
		return outcome{err: err}
	}
	args, _ := c["arguments"].(map[string]any)
	if args == nil {
		args = map[string]any{}
	}
	o.result, o.err = host.Run(ctx, text(c, "name"), args)
	return o
}

func collect(calls []map[string]any, outcomes []outcome) (tool.Result, error) {
	var b strings.Builder
	var result tool.Result
	failed := 0
	for i, o := range outcomes {
		fmt.Fprintf(&b, "[%d/%d] %s", i+1, len(calls), text(calls[i], "name"))
		if o.err != nil {
			failed++
			fmt.Fprintf(&b, " failed: %v\n\n", o.err)
			continue
		}
		fmt.Fprintf(&b, ":\n%s\n\n", strings.TrimRight(o.result.Text, "\n"))
		result.Images = append(result.Images, o.result.Images...)
	}
	result.Text = strings.TrimRight(b.String(), "\n")
	if failed == len(outcomes) {
		return tool.Result{}, errors.New(result.Text)
	}
	return result, nil
}
