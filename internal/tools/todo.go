package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/todo"
	"github.com/idelchi/aura/internal/tool"
)

const (
	todoCreateText = `Make the todo list for the current work; it replaces the previous list. Use it for work of three or more steps. All items start as pending; report progress with TodoProgress.`

	todoListText = `Show the todo list: numbered items, [ ] pending, [>] in progress, [x] completed.`

	todoProgressText = `Set the status of todo items. Items are numbered from 1. Mark an item in_progress when you start it and completed as soon as it is done. If any update is wrong, none is made.`
)

func todoCreateTool(list *todo.List) tool.Tool {
	return tool.Tool{
		Name:        "TodoCreate",
		Description: todoCreateText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"summary":{"type":"string","description":"What the work is about, in one line."},
"items":{"type":"array","minItems":1,"maxItems":200,"description":"The steps, in order.","items":{"type":"object","properties":{
"content":{"type":"string","minLength":1,"description":"One step."}},"required":["content"],"additionalProperties":false}}},
"required":["items"],"additionalProperties":false}`),
		Serial:    true,
		InProcess: true,
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			var items []todo.Item
			for i, it := range objects(call.Args, "items") {
				content := strings.TrimSpace(text(it, "content"))
				if content == "" {
					return tool.Result{}, fmt.Errorf("items[%d].content is empty", i)
				}
				items = append(items, todo.Item{Content: content, Status: todo.Pending})
			}
			if len(items) == 0 {
				return tool.Result{}, errors.New("items is empty: a todo list needs at least one step")
			}
			list.Replace(text(call.Args, "summary"), items)
			return tool.Result{Text: list.String()}, nil
		},
	}
}

func todoListTool(list *todo.List) tool.Tool {
	return tool.Tool{
		Name:        "TodoList",
		Description: todoListText,
		Schema:      tool.MustSchema(`{"type":"object","properties":{},"additionalProperties":false}`),
		Serial:      true,
		InProcess:   true,
		Execute: func(context.Context, tool.Call) (tool.Result, error) {
			if s := list.String(); s != "" {
				return tool.Result{Text: s}, nil
			}
			return tool.Result{Text: "the todo list is empty"}, nil
		},
	}
}

func todoProgressTool(list *todo.List) tool.Tool {
	return tool.Tool{
		Name:        "TodoProgress",
		Description: todoProgressText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"updates":{"type":"array","minItems":1,"items":{"type":"object","properties":{
"index":{"type":"integer","minimum":1,"description":"Number of the item, from 1."},
"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["index","status"],"additionalProperties":false}}},
"required":["updates"],"additionalProperties":false}`),
		Serial:    true,
		InProcess: true,
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			summary, items := list.Snapshot()
			// Tried on a copy first, so that a wrong update leaves the list as it was.
			var trial todo.List
			trial.Replace(summary, items)
			var problems []error
			for _, u := range objects(call.Args, "updates") {
				problems = append(problems, trial.Update(integer(u, "index"), todo.Status(text(u, "status"))))
			}
			if err := errors.Join(problems...); err != nil {
				return tool.Result{}, err
			}
			list.Replace(trial.Snapshot())
			return tool.Result{Text: list.String()}, nil
		},
	}
}
