package skills

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
)

const toolText = `Fetch a skill: instructions that somebody wrote for a kind of work. When a request fits the description of a skill, fetch it before you begin and follow it. Files that a skill mentions are relative to its directory. These are the skills:`

// What the list of skills may cost in every request.
const (
	maxDescription = 400      // Characters of one skill.
	maxFull        = 12 << 10 // Bytes of skills with their descriptions.
	maxText        = 16 << 10 // Bytes of names alone after that.
)

// Tool makes the tool with which the model fetches skills. ok is false if there is
// none that the model may use.
func Tool(list []Skill) (t tool.Tool, ok bool) {
	list = slices.DeleteFunc(slices.Clone(list), func(s Skill) bool { return s.Manual })
	if len(list) == 0 {
		return tool.Tool{}, false
	}
	return tool.Tool{
		Name:        "Skill",
		Description: toolText + index(list),
		Schema: tool.MustSchema(`{"type":"object","properties":{
"name":{"type":"string","minLength":1,"description":"Name of the skill."}},
"required":["name"],"additionalProperties":false}`),
		Source:    tool.Source{Kind: "builtin"},
		InProcess: true,
		Execute: func(_ context.Context, call tool.Call) (tool.Result, error) {
			name, _ := call.Args["name"].(string)
			s, err := Get(list, name)
			if err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Text: s.Text()}, nil
		},
	}, true
}

// Text is the skill as the model reads it: where it is, what comes with it, what it
// says.
func (s Skill) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Skill: %s\nDirectory: %s\n", s.Name, s.Dir)
	if len(s.Files) > 0 {
		more := ""
		if len(s.Files) == maxBundled {
			more = ", …"
		}
		fmt.Fprintf(&b, "Files in it: %s%s\n", strings.Join(s.Files, ", "), more)
	}
	if len(s.Tools) > 0 {
		fmt.Fprintf(&b, "Tools it is written for: %s\n", strings.Join(s.Tools, ", "))
	}
	b.WriteString("\n")
	b.WriteString(strings.ReplaceAll(s.Body, "${CLAUDE_SKILL_DIR}", s.Dir))
	return b.String()
}

// index lists skills with their descriptions, as long as there is room, then their
// names.
func index(list []Skill) string {
	var b strings.Builder
	for i, s := range list {
		if b.Len() > maxText {
			fmt.Fprintf(&b, "\n… and %d more", len(list)-i)
			break
		}
		b.WriteString("\n- " + s.Name)
		if b.Len() < maxFull && s.Description != "" {
			b.WriteString(": " + wording.Line(s.Description, maxDescription))
		}
	}
	return b.String()
}
