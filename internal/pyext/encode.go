package pyext

import (
	"strconv"

	"github.com/idelchi/aura/internal/jsontext"
)

// appender is an event so large, or so frequent, that encoding/json would be most of
// what it costs.
type appender interface {
	appendJSON(b []byte) []byte
	size() int // About how many bytes that will be.
}

func (e callEvent) appendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"tool_name":`...), e.ToolName)
	b = jsontext.AppendString(append(b, `,"tool_call_id":`...), e.ToolCallID)
	b = jsontext.AppendObject(append(b, `,"arguments":`...), e.Arguments)
	b = jsontext.AppendString(append(b, `,"agent":`...), e.Agent)
	return append(b, '}')
}

func (e callEvent) size() int { return sizeOf(e.Arguments) }

func (e resultEvent) appendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"output":`...), e.Output)
	b = jsontext.AppendString(append(b, `,"tool_name":`...), e.ToolName)
	b = jsontext.AppendString(append(b, `,"tool_call_id":`...), e.ToolCallID)
	b = jsontext.AppendObject(append(b, `,"arguments":`...), e.Arguments)
	b = strconv.AppendBool(append(b, `,"is_error":`...), e.IsError)
	b = jsontext.AppendString(append(b, `,"error":`...), e.Error)
	b = jsontext.AppendValue(append(b, `,"duration_ms":`...), e.DurationMS)
	return append(b, '}')
}

func (e resultEvent) size() int { return len(e.Output) + len(e.Error) + sizeOf(e.Arguments) }

func (e chunkEvent) appendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"text":`...), e.Text)
	b = jsontext.AppendString(append(b, `,"reasoning_text":`...), e.Reasoning)
	b = strconv.AppendBool(append(b, `,"finished":`...), e.Finished)
	return append(b, '}')
}

func (e chunkEvent) size() int { return len(e.Text) + len(e.Reasoning) }

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
