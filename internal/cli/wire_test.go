package cli_test

import (
	"fmt"
	"strings"
)

// wireFormats says how each format writes a turn, and where it is asked for one.
var wireFormats = map[string]struct {
	kind   string // Provider type and extra settings.
	suffix string // Of the chat path.
	line   string // How one event is written; %s is the name, %s the data.
	events func(mockTurn) []mockEvent
	fault  mockEvent // An error inside the stream.
}{
	"openai": {"type: openai\n  url: %s/v1", "/chat/completions", "data: %[2]s\n\n", openaiEvents,
		mockEvent{"", object{"error": object{"message": "too many friends", "type": "server_error", "code": 503}}}},
	"responses": {
		"type: openai\n  api: responses\n  url: %s/v1",
		"/responses",
		"event: %[1]s\ndata: %[2]s\n\n",
		responsesEvents,
		mockEvent{
			"response.failed",
			object{
				"type": "response.failed",
				"response": object{
					"status": "failed",
					"error":  object{"code": "server_error", "message": "too many friends"},
				},
			},
		},
	},
	"anthropic": {
		"type: anthropic\n  url: %s",
		"/messages",
		"event: %[1]s\ndata: %[2]s\n\n",
		anthropicEvents,
		mockEvent{
			"error",
			object{"type": "error", "error": object{"type": "overloaded_error", "message": "too many friends"}},
		},
	},
	"google": {"type: google\n  url: %s/v1beta", ":streamGenerateContent", "data: %[2]s\n\n", googleEvents,
		mockEvent{"", object{"error": object{"code": 503, "message": "too many friends", "status": "UNAVAILABLE"}}}},
	"ollama": {"type: ollama\n  url: %s", "/api/chat", "%[2]s\n", ollamaEvents,
		mockEvent{"", object{"error": "internal server error: too many friends"}}},
}

// mockEvent is one event of a stream. The last one of a list closes the stream.
type mockEvent struct {
	name string
	data any
}

type object = map[string]any

func openaiEvents(t mockTurn) (events []mockEvent) {
	delta := func(d object, finish any) {
		events = append(
			events,
			mockEvent{
				"",
				object{
					"id":      "c1",
					"object":  "chat.completion.chunk",
					"choices": []any{object{"index": 0, "delta": d, "finish_reason": finish}},
				},
			},
		)
	}
	if t.Thinking != "" {
		delta(object{"reasoning_content": t.Thinking}, nil)
	}
	for _, word := range strings.SplitAfter(t.Text, " ") {
		if word != "" {
			delta(object{"content": word}, nil)
		}
	}
	finish := "stop"
	for i, c := range t.Calls {
		finish = "tool_calls"
		args := c.args()
		delta(
			object{
				"tool_calls": []any{
					object{
						"index":    i,
						"id":       callID(c, i),
						"type":     "function",
						"function": object{"name": c.Name, "arguments": args[:len(args)/2]},
					},
				},
			},
			nil,
		)
		if t.Fault != "half" {
			delta(
				object{"tool_calls": []any{object{"index": i, "function": object{"arguments": args[len(args)/2:]}}}},
				nil,
			)
		}
	}
	if t.Fault == "half" {
		return append(events, mockEvent{"", "[DONE]"})
	}
	if t.Stop != "" {
		finish = t.Stop
	}
	delta(object{}, finish)
	if t.Usage != [2]int{} {
		events = append(
			events,
			mockEvent{
				"",
				object{
					"choices": []any{},
					"usage":   object{"prompt_tokens": t.Usage[0], "completion_tokens": t.Usage[1]},
				},
			},
		)
	}
	if t.Fault == "" || t.Fault == "crlf" || t.Fault == "split" {
		return append(events, mockEvent{"", "[DONE]"})
	}
	return events
}

func callID(c mockCall, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d", i+1)
}

// responsesStream collects the events of a response.
type responsesStream struct {
	events []mockEvent
	output []any // The items that are done.
}

func (s *responsesStream) add(name string, data object) {
	data["type"] = name
	s.events = append(s.events, mockEvent{name, data})
}

func (s *responsesStream) done(item object) {
	s.add("response.output_item.done", object{"output_index": len(s.output), "item": item})
	s.output = append(s.output, item)
}

func responsesEvents(t mockTurn) []mockEvent {
	var s responsesStream
	s.add("response.created", object{"response": object{"id": "resp_1", "status": "in_progress"}})
	if t.Thinking != "" {
		s.add(
			"response.reasoning_summary_text.delta",
			object{"item_id": "rs_1", "output_index": 0, "summary_index": 0, "delta": t.Thinking},
		)
		s.done(object{
			"type":              "reasoning",
			"id":                "rs_1",
			"summary":           []any{object{"type": "summary_text", "text": t.Thinking}},
			"encrypted_content": "enc",
		})
	}
	if t.Text != "" {
		s.message(t.Text)
	}
	for i, c := range t.Calls {
		if s.call(c, i, t.Fault == "half"); t.Fault == "half" {
			return s.events
		}
	}
	end, response := "response.completed", object{"id": "resp_1", "status": "completed", "output": s.output,
		"usage": object{"input_tokens": t.Usage[0], "output_tokens": t.Usage[1]}}
	if t.Stop == "length" {
		end, response["status"], response["incomplete_details"] = "response.incomplete", "incomplete", object{
			"reason": "max_output_tokens",
		}
	}
	s.add(end, object{"response": response})
	return s.events
}

// message streams the text of an answer.
func (s *responsesStream) message(text string) {
	n := len(s.output)
	s.add("response.output_item.added", object{
		"output_index": n,
		"item":         object{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{}},
	})
	for _, word := range strings.SplitAfter(text, " ") {
		s.add(
			"response.output_text.delta",
			object{"item_id": "msg_1", "output_index": n, "content_index": 0, "delta": word},
		)
	}
	s.done(object{
		"type":    "message",
		"id":      "msg_1",
		"role":    "assistant",
		"status":  "completed",
		"content": []any{object{"type": "output_text", "text": text}},
	})
}

// call streams a tool call, or only its first half.
func (s *responsesStream) call(c mockCall, i int, half bool) {
	n, id, args := len(s.output), fmt.Sprintf("fc_%d", i+1), c.args()
	item := object{"type": "function_call", "id": id, "call_id": callID(c, i), "name": c.Name, "arguments": ""}
	s.add("response.output_item.added", object{"output_index": n, "item": item})
	for _, delta := range []string{args[:len(args)/2], args[len(args)/2:]} {
		s.add(
			"response.function_call_arguments.delta",
			object{"item_id": id, "output_index": n, "delta": delta},
		)
		if half {
			return
		}
	}
	s.done(object{
		"type":      "function_call",
		"id":        id,
		"call_id":   callID(c, i),
		"name":      c.Name,
		"arguments": args,
		"status":    "completed",
	})
}

func anthropicEvents(t mockTurn) (events []mockEvent) {
	add := func(name string, data object) {
		data["type"] = name
		events = append(events, mockEvent{name, data})
	}
	add(
		"message_start",
		object{
			"message": object{
				"id":      "msg_1",
				"role":    "assistant",
				"content": []any{},
				"usage":   object{"input_tokens": t.Usage[0], "output_tokens": 1},
			},
		},
	)
	n := 0
	block := func(start object, deltas ...object) {
		add("content_block_start", object{"index": n, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", object{"index": n, "delta": d})
		}
		add("content_block_stop", object{"index": n})
		n++
	}
	if t.Thinking != "" {
		block(
			object{"type": "thinking", "thinking": ""},
			object{"type": "thinking_delta", "thinking": t.Thinking},
			object{"type": "signature_delta", "signature": "sig-1"},
		)
	}
	if t.Text != "" {
		var deltas []object
		for _, word := range strings.SplitAfter(t.Text, " ") {
			deltas = append(deltas, object{"type": "text_delta", "text": word})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	stop := "end_turn"
	for i, c := range t.Calls {
		stop = "tool_use"
		args := c.args()
		start := object{"type": "tool_use", "id": callID(c, i), "name": c.Name, "input": object{}}
		if t.Fault == "half" {
			add("content_block_start", object{"index": n, "content_block": start})
			add(
				"content_block_delta",
				object{"index": n, "delta": object{"type": "input_json_delta", "partial_json": args[:len(args)/2]}},
			)
			return events
		}
		block(
			start,
			object{"type": "input_json_delta", "partial_json": args[:len(args)/2]},
			object{"type": "input_json_delta", "partial_json": args[len(args)/2:]},
		)
	}
	if t.Stop == "length" {
		stop = "max_tokens"
	}
	add("message_delta", object{"delta": object{"stop_reason": stop}, "usage": object{"output_tokens": t.Usage[1]}})
	add("message_stop", object{})
	return events
}

func googleEvents(t mockTurn) (events []mockEvent) {
	parts := func(finish string, list ...any) {
		c := object{"content": object{"role": "model", "parts": list}}
		data := object{"candidates": []any{c}}
		if finish != "" {
			c["finishReason"] = finish
			data["usageMetadata"] = object{"promptTokenCount": t.Usage[0], "candidatesTokenCount": t.Usage[1]}
		}
		events = append(events, mockEvent{"", data})
	}
	if t.Thinking != "" {
		parts("", object{"text": t.Thinking, "thought": true})
	}
	for _, word := range strings.SplitAfter(t.Text, " ") {
		if word != "" {
			parts("", object{"text": word})
		}
	}
	for _, c := range t.Calls {
		parts("", object{"functionCall": object{"name": c.Name, "args": c.Arguments}, "thoughtSignature": "sig-g"})
	}
	if t.Fault == "half" {
		return append(events, mockEvent{"", `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"Ba`})
	}
	finish := "STOP"
	if t.Stop == "length" {
		finish = "MAX_TOKENS"
	} else if t.Stop != "" {
		finish = t.Stop
	}
	parts(finish, object{"text": ""})
	return events
}

func ollamaEvents(t mockTurn) (events []mockEvent) {
	line := func(msg object, done bool) {
		msg["role"] = "assistant"
		data := object{"model": "llama3:8b", "message": msg, "done": done}
		if done {
			data["done_reason"], data["prompt_eval_count"], data["eval_count"] = "stop", t.Usage[0], t.Usage[1]
			if t.Stop != "" {
				data["done_reason"] = t.Stop
			}
		}
		events = append(events, mockEvent{"", data})
	}
	if t.Thinking != "" {
		line(object{"content": "", "thinking": t.Thinking}, false)
	}
	for _, word := range strings.SplitAfter(t.Text, " ") {
		if word != "" {
			line(object{"content": word}, false)
		}
	}
	for _, c := range t.Calls {
		line(
			object{
				"content":    "",
				"tool_calls": []any{object{"function": object{"name": c.Name, "arguments": c.Arguments}}},
			},
			false,
		)
	}
	if t.Fault == "half" {
		return append(events, mockEvent{"", `{"message":{"role":"assistant","tool_calls":[{"function":{"na`})
	}
	line(object{"content": ""}, true)
	return events
}
