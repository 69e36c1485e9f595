package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/provider"
)

// maxCallID is the longest ID of a tool call that OpenAI takes.
const maxCallID = 40

// encodeChat writes the body of a Chat Completions request.
func (c *Client) encodeChat(req *provider.Request) []byte {
	b := make([]byte, 0, estimate(req))
	b = append(b, `{"model":`...)
	b = jsontext.AppendString(b, req.Model)
	b = append(b, `,"stream":true,"stream_options":{"include_usage":true},"messages":[`...)
	first := len(b)
	if req.System != "" {
		b = append(b, `{"role":"system","content":`...)
		b = jsontext.AppendString(b, req.System)
		b = append(b, '}')
	}
	// Reasoning is handed back within the turn that goes on.
	turn := lastUser(req.Messages)
	for i := range req.Messages {
		m := &req.Messages[i]
		if !m.Sent() {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = c.appendMessage(b, m, i > turn)
		if m.Role == provider.RoleTool && !toolFollows(req.Messages[i+1:]) {
			b = appendToolImages(b, req.Messages[:i+1])
		}
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"type":"function","function":`...)
			b = append(appendTool(append(b, '{'), &req.Tools[i]), '}', '}')
		}
		b = append(b, ']')
	}
	if effort := c.effort(req); effort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = jsontext.AppendString(b, effort)
	} else if req.Think == "off" && c.selfRun && mayThink(req.Model) {
		// What llama.cpp, vLLM and SGLang understand.
		b = append(b, `,"chat_template_kwargs":{"enable_thinking":false}`...)
	}
	b = c.appendGeneration(b, &req.Generation)
	return append(b, '}')
}

// appendMessage writes one message. Current says that the turn it belongs to goes on.
func (c *Client) appendMessage(b []byte, m *provider.Message, current bool) []byte {
	b = append(b, `{"role":`...)
	b = jsontext.AppendString(b, m.Role)
	switch {
	case m.Role == provider.RoleTool:
		b = append(b, `,"tool_call_id":`...)
		b = jsontext.AppendString(b, callID(m.ToolCallID))
	case m.Role == provider.RoleAssistant && len(m.ToolCalls) > 0:
		b = append(b, `,"tool_calls":[`...)
		for i := range m.ToolCalls {
			if i > 0 {
				b = append(b, ',')
			}
			call := &m.ToolCalls[i]
			b = append(b, `{"id":`...)
			b = jsontext.AppendString(b, callID(call.ID))
			b = append(b, `,"type":"function","function":{"name":`...)
			b = jsontext.AppendString(b, call.Name)
			b = append(b, `,"arguments":`...)
			b = appendArguments(b, call.Arguments)
			b = append(b, '}', '}')
		}
		b = append(b, ']')
		if current && m.Thinking != "" && !c.official && wantsReasoning(m) {
			b = append(b, `,"reasoning_content":`...)
			b = jsontext.AppendString(b, m.Thinking)
		}
		if m.Content == "" {
			return append(b, `,"content":null}`...)
		}
	case m.Role == provider.RoleUser && len(m.Images) > 0:
		b = append(b, `,"content":[`...)
		if m.Content != "" {
			b = append(b, `{"type":"text","text":`...)
			b = append(jsontext.AppendString(b, m.Content), '}', ',')
		}
		return append(appendImages(b, m.Images), ']', '}')
	}
	b = append(b, `,"content":`...)
	return append(jsontext.AppendString(b, m.Content), '}')
}

// wantsReasoning reports whether the server that wrote m sent its reasoning in the
// field in which DeepSeek, Kimi and others demand it back while tools are called.
func wantsReasoning(m *provider.Message) bool {
	return slices.ContainsFunc(m.Thoughts, func(t provider.Thought) bool {
		return t.Provider == thoughtChat && t.ID == "reasoning_content"
	})
}

// lastUser returns the index of the last thing the user said, or -1.
func lastUser(messages []provider.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == provider.RoleUser {
			return i
		}
	}
	return -1
}

// toolFollows reports whether the next message that is sent is a tool's.
func toolFollows(rest []provider.Message) bool {
	for i := range rest {
		if rest[i].Sent() {
			return rest[i].Role == provider.RoleTool
		}
	}
	return false
}

// appendToolImages writes the pictures of the tool messages at the end of messages.
// The format has no place for them there, so a user message carries them.
func appendToolImages(b []byte, messages []provider.Message) []byte {
	first := len(messages)
	found := false
	for first > 0 && (messages[first-1].Role == provider.RoleTool || !messages[first-1].Sent()) {
		first--
		found = found || messages[first].Sent() && len(messages[first].Images) > 0
	}
	if !found {
		return b
	}
	b = append(b, `,{"role":"user","content":[`...)
	comma := false
	for i := range messages[first:] {
		m := &messages[first+i]
		if len(m.Images) == 0 || !m.Sent() {
			continue
		}
		if comma {
			b = append(b, ',')
		}
		comma = true
		b = append(b, `{"type":"text","text":`...)
		b = jsontext.AppendString(b, "Image from the result of tool "+m.ToolName+":")
		b = appendImages(append(b, '}', ','), m.Images)
	}
	return append(b, ']', '}')
}

func appendImages(b []byte, images []provider.Image) []byte {
	for i := range images {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = append(appendDataURL(b, &images[i]), '}', '}')
	}
	return b
}

func appendDataURL(b []byte, image *provider.Image) []byte {
	b = jsontext.AppendString(b, "data:"+image.MediaType+";base64,")
	b = base64.StdEncoding.AppendEncode(b[:len(b)-1], image.Data)
	return append(b, '"')
}

// appendArguments writes arguments as the format wants them: JSON inside a string.
func appendArguments(b []byte, args map[string]any) []byte {
	if len(args) == 0 {
		return append(b, `"{}"`...)
	}
	var small [256]byte
	inner := jsontext.AppendObject(small[:0], args)
	return jsontext.AppendString(b, string(inner))
}

// appendTool writes the fields of a tool.
func appendTool(b []byte, tool *provider.Tool) []byte {
	b = append(b, `"name":`...)
	b = jsontext.AppendString(b, tool.Name)
	b = append(b, `,"description":`...)
	b = jsontext.AppendString(b, tool.Description)
	b = append(b, `,"parameters":`...)
	schema := bytes.TrimSpace(tool.Parameters)
	// One broken schema must not cost the whole request.
	if len(schema) == 0 || schema[0] != '{' || !json.Valid(schema) {
		return append(b, `{"type":"object","properties":{}}`...)
	}
	return append(b, schema...)
}

func (c *Client) appendGeneration(b []byte, g *provider.Generation) []byte {
	b = appendNumber(b, "temperature", g.Temperature)
	b = appendNumber(b, "top_p", g.TopP)
	b = appendNumber(b, "frequency_penalty", g.FrequencyPenalty)
	b = appendNumber(b, "presence_penalty", g.PresencePenalty)
	if !c.official {
		b = appendInt(b, "top_k", g.TopK) // OpenAI refuses it.
	}
	b = appendInt(b, "seed", g.Seed)
	if g.MaxOutputTokens > 0 {
		key := "max_tokens"
		if c.official {
			// Reasoning models refuse the old name, other servers do not know the new one.
			key = "max_completion_tokens"
		}
		b = appendInt(b, key, &g.MaxOutputTokens)
	}
	if len(g.Stop) > 0 {
		b = append(b, `,"stop":[`...)
		for i, s := range g.Stop {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsontext.AppendString(b, s)
		}
		b = append(b, ']')
	}
	return b
}

func appendNumber(b []byte, key string, v *float64) []byte {
	if v == nil {
		return b
	}
	b = append(b, ',')
	b = append(jsontext.AppendString(b, key), ':')
	return jsontext.AppendValue(b, *v)
}

func appendInt(b []byte, key string, v *int) []byte {
	if v == nil {
		return b
	}
	b = append(b, ',')
	b = append(jsontext.AppendString(b, key), ':')
	return strconv.AppendInt(b, int64(*v), 10)
}

// callID shortens IDs that other providers made too long; equal ones stay equal.
func callID(id string) string {
	if len(id) <= maxCallID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}

// estimate is about the size of the encoded request.
func estimate(req *provider.Request) int {
	n := 1024 + len(req.System)
	for i := range req.Messages {
		m := &req.Messages[i]
		n += len(m.Content) + len(m.Content)/8 + 64
		for _, call := range m.ToolCalls {
			n += 128
			for key, value := range call.Arguments {
				text, _ := value.(string)
				n += len(key) + len(text) + len(text)/4 + 16
			}
		}
		for _, image := range m.Images {
			n += base64.StdEncoding.EncodedLen(len(image.Data)) + 128
		}
	}
	for i := range req.Tools {
		n += len(req.Tools[i].Description) + len(req.Tools[i].Parameters) + 128
	}
	return n
}
