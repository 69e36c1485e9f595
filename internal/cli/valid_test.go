package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checkRequest says why a strict server would refuse a chat request: every
// call is answered exactly once, with its own ID, in order and at once, and the
// roles take turns where the API demands it.
func checkRequest(format string, body []byte) []string {
	var c checker
	if err := json.Unmarshal(body, &c.body); err != nil {
		return []string{err.Error()}
	}
	switch format {
	case "openai", "ollama":
		c.chat(format == "openai")
	case "responses":
		c.responses()
	case "anthropic":
		c.anthropic()
	case "google":
		c.google()
	default:
		c.bad("no rules for %q", format)
	}
	return c.problems
}

// checker collects what is wrong with a request.
type checker struct {
	body     object
	open     []string // Calls that wait for their answer, in order.
	problems []string
}

func (c *checker) bad(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// list returns a list of objects; anything else is a mistake of the request.
func (c *checker) list(o object, key string) []object {
	raw, _ := o[key].([]any)
	out := make([]object, 0, len(raw))
	for _, v := range raw {
		m, ok := v.(object)
		if !ok {
			c.bad("%s: %v is not an object", key, v)
		}
		out = append(out, m)
	}
	return out
}

func text(o object, key string) string { s, _ := o[key].(string); return s }

// call notes a call.
func (c *checker) call(id, name string) {
	if id == "" || name == "" {
		c.bad("call %q of tool %q", id, name)
	}
	if slices.Contains(c.open, id) {
		c.bad("call %q is there twice", id)
	}
	c.open = append(c.open, id)
}

// answer notes the answer to a call.
func (c *checker) answer(id string) {
	if len(c.open) == 0 || c.open[0] != id {
		c.bad("answer to %q, but the open calls are %q", id, c.open)
		return
	}
	c.open = c.open[1:]
}

// settled demands that no call is open.
func (c *checker) settled(where string) {
	if len(c.open) > 0 {
		c.bad("%s: calls %q are not answered", where, c.open)
		c.open = nil
	}
}

// chat checks Chat Completions, and Ollama's form of it.
func (c *checker) chat(strings bool) {
	list := c.list(c.body, "messages")
	for i, m := range list {
		where := fmt.Sprintf("message %d", i)
		role := text(m, "role")
		calls := c.list(m, "tool_calls")
		if role == "tool" {
			c.answer(text(m, "tool_call_id"))
			continue
		}
		c.settled(where)
		if !slices.Contains([]string{"system", "user", "assistant"}, role) || role == "system" && i > 0 {
			c.bad("%s: role %q", where, role)
		}
		if m["content"] == nil && len(calls) == 0 || m["content"] == "" && role != "assistant" {
			c.bad("%s: %s without content", where, role)
		}
		for _, call := range calls {
			f, _ := call["function"].(object)
			c.call(text(call, "id"), text(f, "name"))
			args, ok := f["arguments"].(object)
			if strings {
				ok = json.Unmarshal([]byte(text(f, "arguments")), &args) == nil && args != nil
			}
			if !ok {
				c.bad("%s: arguments %v", where, f["arguments"])
			}
		}
	}
	c.settled("end")
	if n := len(list); n == 0 || text(list[n-1], "role") == "assistant" || text(list[n-1], "role") == "system" {
		c.bad("there is nothing to answer")
	}
}

func (c *checker) responses() {
	reasoning := false
	list := c.list(c.body, "input")
	for i, item := range list {
		where := fmt.Sprintf("item %d", i)
		switch text(item, "type") {
		case "function_call":
			var args object
			if json.Unmarshal([]byte(text(item, "arguments")), &args) != nil || args == nil {
				c.bad("%s: arguments %v", where, item["arguments"])
			}
			c.call(text(item, "call_id"), text(item, "name"))
		case "function_call_output":
			if reasoning {
				c.bad("%s: reasoning without what it led to", where)
			}
			c.answer(text(item, "call_id"))
		case "reasoning":
			reasoning = true
			continue
		default:
			c.settled(where)
			if role := text(
				item,
				"role",
			); role != "user" && role != "assistant" || item["content"] == nil ||
				item["content"] == "" {
				c.bad("%s: role %q, content %v", where, role, item["content"])
			}
		}
		reasoning = false
	}
	c.settled("end")
	if n := len(list); n == 0 || reasoning || text(list[n-1], "role") == "assistant" {
		c.bad("there is nothing to answer")
	}
}

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (c *checker) anthropic() {
	if n, _ := c.body["max_tokens"].(float64); n <= 0 {
		c.bad("max_tokens %v", c.body["max_tokens"])
	}
	encoded, _ := json.Marshal(c.body)
	if n := strings.Count(string(encoded), `"cache_control"`); n > 4 {
		c.bad("%d cache marks", n)
	}
	list := c.list(c.body, "messages")
	seen := map[string]bool{}
	for i, m := range list {
		where, role := fmt.Sprintf("message %d", i), text(m, "role")
		if want := []string{"user", "assistant"}[i%2]; role != want {
			c.bad("%s: role %q, want %q", where, role, want)
		}
		blocks := c.list(m, "content")
		if len(blocks) == 0 {
			c.bad("%s: no content", where)
		}
		last := ""
		for _, b := range blocks {
			kind := text(b, "type")
			switch kind {
			case "text":
				if strings.TrimSpace(text(b, "text")) == "" {
					c.bad("%s: blank text", where)
				}
			case "tool_use":
				id := text(b, "id")
				if _, ok := b["input"].(object); !ok || role != "assistant" || !anthropicID.MatchString(id) ||
					seen[id] {
					c.bad("%s: tool_use %v", where, b)
				}
				seen[id] = true
				c.call(id, text(b, "name"))
			case "tool_result":
				if role != "user" || last != "" && last != "tool_result" {
					c.bad("%s: tool_result after %s", where, last)
				}
				c.answer(text(b, "tool_use_id"))
			case "thinking", "redacted_thinking":
				if role != "assistant" || last != "" && last != kind {
					c.bad("%s: %s after %s", where, kind, last)
				}
			}
			last = kind
		}
		if role == "user" {
			c.settled(where)
		}
	}
	c.settled("end")
	if len(list)%2 == 0 {
		c.bad("there is nothing to answer")
	}
}

func (c *checker) google() {
	list := c.list(c.body, "contents")
	calls := 0 // Of the content before.
	for i, m := range list {
		where, role := fmt.Sprintf("content %d", i), text(m, "role")
		parts := c.list(m, "parts")
		if len(parts) == 0 || role != "user" && role != "model" || i == 0 && role != "user" {
			c.bad("%s: role %q with %d parts", where, role, len(parts))
		}
		asked, answered := 0, 0
		for _, p := range parts {
			if f, ok := p["functionCall"].(object); ok {
				asked++
				if _, ok := f["args"].(object); !ok || role != "model" {
					c.bad("%s: call %v", where, f)
				}
				c.open = append(c.open, text(f, "name")+"/"+text(f, "id"))
			}
			if f, ok := p["functionResponse"].(object); ok {
				answered++
				c.answer(text(f, "name") + "/" + text(f, "id"))
			}
		}
		if answered != calls || answered > 0 && answered != len(parts) {
			c.bad("%s: %d responses in %d parts for %d calls", where, answered, len(parts), calls)
		}
		calls = asked
	}
	c.settled("end")
	if n := len(list); n == 0 || text(list[n-1], "role") == "model" {
		c.bad("there is nothing to answer")
	}
}
