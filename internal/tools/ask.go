package tools

import (
	"context"
	"strings"

	"github.com/idelchi/aura/internal/tool"
)

const askText = `Ask the user one question and wait for the answer. Use it only when the work cannot go on without a decision that is theirs. Offer options where there are few; without options any text can be the answer.`

func askTool() tool.Tool {
	return tool.Tool{
		Name:        "Ask",
		Description: askText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"question":{"type":"string","minLength":1,"description":"The question, complete in itself."},
"options":{"type":"array","items":{"type":"string","minLength":1},"maxItems":20,"description":"Answers to choose from."},
"multi_select":{"type":"boolean","description":"Several options may be chosen (default false)."}},
"required":["question"],"additionalProperties":false}`),
		Serial:    true,
		InProcess: true,
		Execute: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			if call.Host == nil {
				return tool.Result{}, errAlone
			}
			answers, err := call.Host.Ask(ctx, tool.Question{
				Text:    text(call.Args, "question"),
				Options: texts(call.Args, "options"),
				Multi:   flag(call.Args, "multi_select"),
			})
			if err != nil {
				return tool.Result{}, err
			}
			if len(answers) == 0 {
				return tool.Result{Text: "the user gave no answer"}, nil
			}
			return tool.Result{Text: strings.Join(answers, "\n")}, nil
		},
	}
}
