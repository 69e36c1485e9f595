package pyext

import (
	"maps"
	"slices"
	"unicode/utf8"
)

// appender is an event whose fields are large enough that encoding/json would be
// most of what the event costs.
type appender interface{ appendJSON(b []byte) []byte }

func (e callEvent) appendJSON(b []byte) []byte {
	b = appendField(append(b, '{'), "tool_name", e.ToolName)
	b = appendField(append(b, ','), "tool_call_id", e.ToolCallID)
	b = appendField(append(b, ','), "arguments", e.Arguments)
	b = appendField(append(b, ','), "agent", e.Agent)
	return append(b, '}')
}

func (e resultEvent) appendJSON(b []byte) []byte {
	b = appendField(append(b, '{'), "output", e.Output)
	b = appendField(append(b, ','), "tool_name", e.ToolName)
	b = appendField(append(b, ','), "tool_call_id", e.ToolCallID)
	b = appendField(append(b, ','), "arguments", e.Arguments)
	b = appendField(append(b, ','), "is_error", e.IsError)
	b = appendField(append(b, ','), "error", e.Error)
	b = appendField(append(b, ','), "duration_ms", e.DurationMS)
	return append(b, '}')
}

func appendField(b []byte, name string, value any) []byte {
	b = append(append(b, '"'), name...)
	return appendValue(append(b, `":`...), value)
}

// appendValue appends a value as JSON. Plain texts are copied; what is not plain
// is left to encoding/json, and what that refuses is null.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		if plain(v) {
			return append(append(append(b, '"'), v...), '"')
		}
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(appendValue(b, key), ':'), v[key])
		}
		return append(b, '}')
	}
	data, err := marshal(value)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, data...)
}

// plain reports whether a text means the same inside quotes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
