package lifecycle

import (
	"strconv"
	"strings"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/sdk"
)

// What Python handlers see of the moments whose events do not have the names of the
// SDK. Those that are large or frequent write their JSON themselves: encoding/json
// would be most of what such an event costs.
type (
	sessionEvent struct {
		Action    string `json:"action"`
		SessionID string `json:"session_id"`
		Resumed   bool   `json:"resumed"`
		Reason    string `json:"reason"`
	}
	textEvent struct {
		Content string `json:"content"`
	}
	turnEvent struct {
		Iteration int `json:"iteration"`
	}
	chunkEvent struct {
		Text      string `json:"text"`
		Reasoning string `json:"reasoning_text"`
		Finished  bool   `json:"finished"`
	}
	responseEvent struct {
		Content    string        `json:"content"`
		Thinking   string        `json:"thinking"`
		StopReason string        `json:"stop_reason"`
		ToolCalls  []pendingCall `json:"tool_calls"`
	}
	pendingCall struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	callEvent struct {
		ToolName   string         `json:"tool_name"`
		ToolCallID string         `json:"tool_call_id"`
		Arguments  map[string]any `json:"arguments"`
		Agent      string         `json:"agent"`
	}
	resultEvent struct {
		Output     string         `json:"output"`
		ToolName   string         `json:"tool_name"`
		ToolCallID string         `json:"tool_call_id"`
		Arguments  map[string]any `json:"arguments"`
		IsError    bool           `json:"is_error"`
		Error      string         `json:"error"`
		DurationMS float64        `json:"duration_ms"`
	}
	errorEvent struct {
		Message     string `json:"message"`
		Recoverable bool   `json:"recoverable"`
		Type        string `json:"error_type"`
		Status      int    `json:"status_code"`
	}
)

func sessionStarted(d *sdk.SessionStartContext, _ bool) any {
	return sessionEvent{"started", d.SessionID, d.Resumed, ""}
}

func sessionEnded(d *sdk.SessionEndContext, _ bool) any {
	return sessionEvent{"ended", d.SessionID, false, d.Reason}
}

func userSaid(d *sdk.UserMessageContext, _ bool) any { return textEvent{d.Text} }

func answered(d *sdk.AfterResponseContext, _ bool) any {
	e := responseEvent{Content: d.Response, Thinking: d.Thinking, StopReason: "end_turn", ToolCalls: []pendingCall{}}
	for _, c := range d.Calls {
		e.StopReason = "tool_use"
		e.ToolCalls = append(e.ToolCalls, pendingCall{c.Name, emptyMap(c.Args)})
	}
	return e
}

func toolCalled(d *sdk.BeforeToolContext, _ bool) any {
	return callEvent{d.ToolName, d.ToolCallID, emptyMap(d.Arguments), d.Agent}
}

// toolFinished shows the result as the model would read it: with its error, unless an
// earlier handler has replaced the text.
func toolFinished(d *sdk.AfterToolContext, changed bool) any {
	output, text := d.ToolResult, "Error: "+d.ToolError
	switch {
	case d.ToolError == "", changed && output != "", strings.HasSuffix(output, text):
	case output == "":
		output = text
	default:
		output += "\n\n" + text
	}
	return resultEvent{
		output, d.ToolName, d.ToolCallID, emptyMap(d.Arguments), d.ToolError != "", d.ToolError,
		float64(d.ToolDuration.Microseconds()) / 1000,
	}
}

func failed(d *sdk.OnErrorContext, _ bool) any {
	return errorEvent{d.Error, d.Retryable, d.ErrorType, d.StatusCode}
}

func emptyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// AppendJSON appends the event as JSON.
func (e callEvent) AppendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"tool_name":`...), e.ToolName)
	b = jsontext.AppendString(append(b, `,"tool_call_id":`...), e.ToolCallID)
	b = jsontext.AppendObject(append(b, `,"arguments":`...), e.Arguments)
	b = jsontext.AppendString(append(b, `,"agent":`...), e.Agent)
	return append(b, '}')
}

// Size is about how many bytes that will be.
func (e callEvent) Size() int { return sizeOf(e.Arguments) }

// AppendJSON appends the event as JSON.
func (e resultEvent) AppendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"output":`...), e.Output)
	b = jsontext.AppendString(append(b, `,"tool_name":`...), e.ToolName)
	b = jsontext.AppendString(append(b, `,"tool_call_id":`...), e.ToolCallID)
	b = jsontext.AppendObject(append(b, `,"arguments":`...), e.Arguments)
	b = strconv.AppendBool(append(b, `,"is_error":`...), e.IsError)
	b = jsontext.AppendString(append(b, `,"error":`...), e.Error)
	b = jsontext.AppendValue(append(b, `,"duration_ms":`...), e.DurationMS)
	return append(b, '}')
}

// Size is about how many bytes that will be.
func (e resultEvent) Size() int { return len(e.Output) + len(e.Error) + sizeOf(e.Arguments) }

// AppendJSON appends the event as JSON.
func (e chunkEvent) AppendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"text":`...), e.Text)
	b = jsontext.AppendString(append(b, `,"reasoning_text":`...), e.Reasoning)
	b = strconv.AppendBool(append(b, `,"finished":`...), e.Finished)
	return append(b, '}')
}

// Size is about how many bytes that will be.
func (e chunkEvent) Size() int { return len(e.Text) + len(e.Reasoning) }

// sizeOf is about how long arguments are: their texts count, the rest is short.
func sizeOf(args map[string]any) int {
	n := 0
	for _, v := range args {
		if s, ok := v.(string); ok {
			n += len(s)
		}
	}
	return n
}
