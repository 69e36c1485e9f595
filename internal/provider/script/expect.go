package script

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/wording"
)

// expect says what a request must look like. What is not written is not checked.
type expect struct {
	Contains    []string  `yaml:"contains"`
	NotContains []string  `yaml:"not_contains"`
	Last        []string  `yaml:"last"`
	LastRole    string    `yaml:"last_role"`
	Tools       *[]string `yaml:"tools"`
	NotTools    []string  `yaml:"not_tools"`
	Messages    *int      `yaml:"messages"`
	Images      *int      `yaml:"images"`
	Thoughts    *int      `yaml:"thoughts"`
}

// check names every expectation that req does not meet.
func (e *expect) check(req *provider.Request) []string {
	var failed []string
	fail := func(format string, args ...any) { failed = append(failed, fmt.Sprintf(format, args...)) }

	for _, s := range e.Contains {
		if !contains(req, s) {
			fail("contains: the request does not contain %q", s)
		}
	}
	for _, s := range e.NotContains {
		if contains(req, s) {
			fail("not_contains: the request contains %q", s)
		}
	}
	content, role := "", "none"
	if n := len(req.Messages); n > 0 {
		content, role = req.Messages[n-1].Content, req.Messages[n-1].Role
	}
	for _, s := range e.Last {
		if !strings.Contains(content, s) {
			fail("last: the last message does not contain %q", s)
		}
	}
	if e.LastRole != "" && role != e.LastRole {
		fail("last_role: want %s, got %s", e.LastRole, role)
	}
	e.checkTools(req, fail)

	images, thoughts := 0, 0
	for i := range req.Messages {
		images += len(req.Messages[i].Images)
		thoughts += len(req.Messages[i].Thoughts)
	}
	for _, c := range []struct {
		key  string
		want *int
		got  int
	}{{"messages", e.Messages, len(req.Messages)}, {"images", e.Images, images}, {"thoughts", e.Thoughts, thoughts}} {
		if c.want != nil && *c.want != c.got {
			fail("%s: want %d, got %d", c.key, *c.want, c.got)
		}
	}
	return failed
}

func (e *expect) checkTools(req *provider.Request, fail func(string, ...any)) {
	offered := make(map[string]bool, len(req.Tools))
	names := make([]string, 0, len(req.Tools))
	for _, t := range req.Tools {
		offered[t.Name] = true
		names = append(names, t.Name)
	}
	if e.Tools != nil && len(*e.Tools) == 0 && len(names) > 0 {
		fail("tools: want none, got %s", strings.Join(names, ", "))
	}
	if e.Tools != nil {
		for _, name := range *e.Tools {
			if !offered[name] {
				fail("tools: %q is not offered, only [%s]", name, strings.Join(names, ", "))
			}
		}
	}
	for _, name := range e.NotTools {
		if offered[name] {
			fail("not_tools: %q is offered", name)
		}
	}
}

// contains looks for s in all that a model reads, tool descriptions excepted.
func contains(req *provider.Request, s string) bool {
	if strings.Contains(req.System, s) {
		return true
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		if strings.Contains(m.Content, s) || strings.Contains(m.Thinking, s) {
			return true
		}
		for _, c := range m.ToolCalls {
			if strings.Contains(c.Name, s) || bytes.Contains(argsJSON(c.Arguments), []byte(s)) {
				return true
			}
		}
	}
	return false
}

// describeLast shows the end of the conversation, so that a failed expectation
// can be understood without a debugger.
func describeLast(req *provider.Request) string {
	if len(req.Messages) == 0 {
		return "the request has no messages"
	}
	last := &req.Messages[len(req.Messages)-1]
	text := last.Content
	if runes := []rune(text[:min(len(text), 1000)]); len(runes) > 200 {
		text = string(runes[:200]) + "..."
	}
	return fmt.Sprintf("the last of %s is %s: %q", wording.Count(len(req.Messages), "message"), last.Role, text)
}
