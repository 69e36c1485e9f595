package tools

import (
	"context"

	"github.com/idelchi/aura/internal/tool"
)

const doneText = `Declare the whole task finished. Call it once, alone, when everything asked for is done and checked. It ends the turn.`

func doneTool() tool.Tool {
	return tool.Tool{
		Name:        "Done",
		Description: doneText,
		Schema: tool.MustSchema(`{"type":"object","properties":{
"summary":{"type":"string","minLength":1,"description":"What was done, for the user."}},
"required":["summary"],"additionalProperties":false}`),
		Serial:    true,
		InProcess: true,
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			return tool.Result{Text: text(call.Args, "summary"), Done: true}, nil
		},
	}
}
