package agent

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/conversation"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/internal/wording"
	"github.com/idelchi/aura/sdk"
)

// call is one tool call on its way from lookup to committed result. Every call
// goes this way: those of the model, of batches and of sub-agents.
type call struct {
	sdk.MessageToolCall
	tool    tool.Tool
	invalid string // Why the call cannot be made at all: malformed or unknown.

	nested   bool // Made by a tool: the result goes to that tool.
	rejected bool // Never executed: the answer is ephemeral.
	result   tool.Result
	replaced *string  // What handlers made of the result.
	feedback []string // What handlers tell the model with it.
	err      error
	duration time.Duration
}

// malformedText is what a model reads whose arguments cannot be parsed.
func malformedText(raw string) string {
	if len(raw) > 200 {
		raw = wording.Head(raw, 200) + "…"
	}
	return fmt.Sprintf("the arguments are not a valid JSON object: %s\nSend the call again with valid JSON.", raw)
}

// cutText is what a model reads whose call did not fit into its answer.
const cutText = "the call was cut at the output limit of your answer: its arguments are incomplete and nothing " +
	"was done. " +
	"Do not send the same call again. Do the work in smaller pieces, for example write a long file in several calls."

// incomplete reports whether the last call of an answer that reached the output limit was
// cut: its arguments are malformed, or none had come of those that it needs.
func (c *call) incomplete(malformed bool) bool {
	return malformed || c.invalid == "" && len(c.Arguments) == 0 && len(c.tool.Schema.Check(c.Arguments)) > 0
}

// checkArguments says what is wrong with arguments of the call; empty if nothing is.
func (c *call) checkArguments(args map[string]any) string {
	return strings.Join(c.tool.Schema.Check(args), "; ")
}

// reject answers a call without executing it.
func (c *call) reject(reason string) { c.rejected, c.err = true, errors.New(reason) }

// limit cuts what the call answered to a number of tokens.
func (c *call) limit(tokens *conversation.Tokens, limit int) {
	c.result.Text = tokens.Cut(c.result.Text, limit)
	if c.err == nil {
		return
	}
	if text := tokens.Cut(c.err.Error(), limit); text != c.err.Error() {
		c.err = errors.New(text)
	}
}

// edited lists the files that an executed call changed in part.
func (c *call) edited() []string {
	if c.err != nil || c.Name != "Patch" && c.Name != "Edit" || c.tool.Paths == nil {
		return nil
	}
	paths, err := c.tool.Paths(c.Arguments)
	if err != nil {
		return nil
	}
	return paths.Write
}

// done is an executed call as the snapshot lists it.
func (c *call) done() sdk.ToolCall {
	out := sdk.ToolCall{
		Name:     c.Name,
		Args:     tool.CloneArgs(c.Arguments),
		ArgsJSON: tool.ArgsJSON(c.Arguments),
		Result:   c.result.Text,
		Duration: c.duration,
	}
	if c.err != nil {
		out.Error = c.err.Error()
	}
	return out
}

// text is what the model reads as the answer to the call.
func (c *call) text() string {
	text := c.result.Text
	switch {
	case c.replaced != nil:
		text = *c.replaced
	case c.err != nil && text == "":
		text = errorLine(c.err)
	case c.err != nil:
		text += "\n\n" + errorLine(c.err)
	}
	if len(c.feedback) == 0 {
		return text
	}
	return strings.TrimLeft(strings.TrimRight(text, "\n")+"\n\n"+strings.Join(c.feedback, "\n"), "\n")
}

// errorLine is an error as the model reads it. Extensions name the kind of error
// themselves, as in "Error [exception]: ...".
func errorLine(err error) string {
	if text := err.Error(); strings.HasPrefix(text, "Error [") {
		return text
	}
	return "Error: " + err.Error()
}

// answer is the message that commits the result. Calls that were never executed
// are seen once and then forgotten.
func (c *call) answer() message.Message {
	kind := sdk.TypeNormal
	if c.rejected {
		kind = message.Ephemeral
	}
	return message.Message{
		Message: sdk.Message{Role: message.Tool, Content: c.text(), ToolName: c.Name, ToolCallID: c.ID, Type: kind},
		Images:  c.result.Images, Failed: c.err != nil,
	}
}
