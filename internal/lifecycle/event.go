package lifecycle

import (
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// Event is one dispatch as a handler sees it.
type Event struct {
	Moment Moment

	// Data is a pointer to the moment's SDK context, for example
	// *sdk.BeforeToolContext. It is shared and never changed: a change that a
	// handler asks for makes a new value for the handlers after it. Whoever hands
	// it to code that might write to it passes on a copy.
	Data any
}

// Context returns the snapshot inside the event's data.
func (e *Event) Context() *sdk.Context {
	switch d := e.Data.(type) {
	case *sdk.SessionStartContext:
		return &d.Context
	case *sdk.UserMessageContext:
		return &d.Context
	case *sdk.BeforeChatContext:
		return &d.Context
	case *sdk.TransformContext:
		return &d.Context
	case *sdk.StreamChunkContext:
		return &d.Context
	case *sdk.AfterResponseContext:
		return &d.Context
	case *sdk.BeforeToolContext:
		return &d.Context
	case *sdk.AfterToolContext:
		return &d.Context
	case *sdk.OnErrorContext:
		return &d.Context
	case *sdk.BeforeCompactionContext:
		return &d.Context
	case *sdk.AfterCompactionContext:
		return &d.Context
	case *sdk.OnAgentSwitchContext:
		return &d.Context
	case *sdk.SessionEndContext:
		return &d.Context
	}
	return &sdk.Context{}
}

// call names the tool call that the event is about, if it is about one.
func (e *Event) call() (tool, id string) {
	switch d := e.Data.(type) {
	case *sdk.BeforeToolContext:
		return d.ToolName, d.ToolCallID
	case *sdk.AfterToolContext:
		return d.ToolName, d.ToolCallID
	}
	return "", ""
}

// Reply is what a handler answers. The zero Reply changes nothing. Parts that
// the moment does not allow are ignored.
type Reply struct {
	sdk.Result

	Arguments map[string]any // before_tool_execution: replaces the arguments.
	Text      *string        // user_message: replaces the text.
	Messages  []sdk.Message  // transform_messages: replaces the array; nil leaves it.

	Block  bool   // user_message, before_tool_execution: refuse.
	Reason string // Why, in the words the model or the user reads.
	Ask    string // before_tool_execution: put the call to the user, with this reason.

	// Feedback is read by the model with the result of the tool call, before and
	// after which it may be given. It is not part of the result: other handlers do
	// not see it.
	Feedback string
}

// apply returns the event's data as it is after r, and whether r changed it.
func apply(data any, r *Reply) (next any, changed bool) {
	switch d := data.(type) {
	case *sdk.UserMessageContext:
		if r.Text != nil && *r.Text != d.Text {
			c := *d
			c.Text = *r.Text
			return &c, true
		}
	case *sdk.TransformContext:
		if r.Messages != nil {
			c := *d
			c.Messages = append([]sdk.Message{}, r.Messages...)
			return &c, true
		}
	case *sdk.AfterResponseContext:
		if m := r.Response; m != nil && m.Content != nil {
			c := *d
			c.Response = *m.Content
			return &c, true
		}
	case *sdk.BeforeToolContext:
		if r.Arguments != nil {
			c := *d
			c.Arguments = tool.CloneArgs(r.Arguments)
			return &c, true
		}
	case *sdk.AfterToolContext:
		if r.Output != nil {
			c := *d
			c.ToolResult = *r.Output
			return &c, true
		}
	}
	return data, false
}
