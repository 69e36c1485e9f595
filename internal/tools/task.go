package tools

import (
	"context"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

const taskText = `Let a sub-agent do a piece of work and return its answer. It starts with an empty conversation and sees nothing of this one: the prompt must say everything it needs, and what to report back. Several Task calls in one response run at the same time.`

func taskTool() tool.Tool {
	return tool.Tool{
		Name:        "Task",
		Description: taskText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"description":{"type":"string","minLength":1,"description":"The work in three to five words, shown to the user."},
"prompt":{"type":"string","minLength":1,"description":"The complete instructions."},
"agent":{"type":"string","description":"The agent to use (default: the active one)."}},
"required":["description","prompt"],"additionalProperties":false}`),
		InProcess: true,
		Execute: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			if call.Host == nil {
				return tool.Result{}, errAlone
			}
			answer, err := call.Host.Delegate(
				ctx,
				text(call.Args, "agent"),
				text(call.Args, "description"),
				text(call.Args, "prompt"),
			)
			if err != nil {
				return tool.Result{}, err
			}
			if strings.TrimSpace(answer) == "" {
				answer = "the sub-agent finished without an answer"
			}
			return tool.Result{Text: answer}, nil
		},
	}
}
