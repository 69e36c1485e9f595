package lifecycle

import (
	"maps"
	"slices"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// Event is one dispatch as a handler sees it.
type Event struct {
	Moment Moment

	// Data is a pointer to the moment's SDK context, for example
	// *sdk.BeforeToolContext. It is shared and never changed: a change that a
	// handler asks for makes a new value for the handlers after it. Whoever hands
	// it to code that might write to it passes on Copy.
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

// Copy returns the event's data with maps and slices of its own, for handlers
// that run foreign code in this process.
func (e *Event) Copy() any {
	switch d := e.Data.(type) {
	case *sdk.SessionStartContext:
		return copied(d, &d.Context, func(c *sdk.SessionStartContext, x sdk.Context) { c.Context = x })
	case *sdk.UserMessageContext:
		return copied(d, &d.Context, func(c *sdk.UserMessageContext, x sdk.Context) { c.Context = x })
	case *sdk.BeforeChatContext:
		return copied(d, &d.Context, func(c *sdk.BeforeChatContext, x sdk.Context) { c.Context = x })
	case *sdk.TransformContext:
		return copied(d, &d.Context, func(c *sdk.TransformContext, x sdk.Context) {
			c.Context, c.Messages = x, cloneMessages(d.Messages)
		})
	case *sdk.StreamChunkContext:
		return copied(d, &d.Context, func(c *sdk.StreamChunkContext, x sdk.Context) { c.Context = x })
	case *sdk.AfterResponseContext:
		return copied(d, &d.Context, func(c *sdk.AfterResponseContext, x sdk.Context) {
			c.Context, c.Calls = x, cloneCalls(d.Calls)
		})
	case *sdk.BeforeToolContext:
		return copied(d, &d.Context, func(c *sdk.BeforeToolContext, x sdk.Context) {
			c.Context, c.Arguments = x, tool.CloneArgs(d.Arguments)
		})
	case *sdk.AfterToolContext:
		return copied(d, &d.Context, func(c *sdk.AfterToolContext, x sdk.Context) {
			c.Context, c.Arguments = x, tool.CloneArgs(d.Arguments)
		})
	case *sdk.OnErrorContext:
		return copied(d, &d.Context, func(c *sdk.OnErrorContext, x sdk.Context) { c.Context = x })
	case *sdk.BeforeCompactionContext:
		return copied(d, &d.Context, func(c *sdk.BeforeCompactionContext, x sdk.Context) { c.Context = x })
	case *sdk.AfterCompactionContext:
		return copied(d, &d.Context, func(c *sdk.AfterCompactionContext, x sdk.Context) { c.Context = x })
	case *sdk.OnAgentSwitchContext:
		return copied(d, &d.Context, func(c *sdk.OnAgentSwitchContext, x sdk.Context) { c.Context = x })
	case *sdk.SessionEndContext:
		return copied(d, &d.Context, func(c *sdk.SessionEndContext, x sdk.Context) { c.Context = x })
	}
	return e.Data
}

// copied copies d and lets set put the deep parts in place.
func copied[T any](d *T, c *sdk.Context, set func(*T, sdk.Context)) *T {
	t := *d
	set(&t, CloneContext(c))
	return &t
}

// CloneContext copies a snapshot together with its maps and slices.
func CloneContext(c *sdk.Context) sdk.Context {
	x := *c
	x.ModelInfo.Capabilities = slices.Clone(c.ModelInfo.Capabilities)
	x.Stats.TopTools = slices.Clone(c.Stats.TopTools)
	x.PatchCounts = maps.Clone(c.PatchCounts)
	x.ToolHistory = cloneCalls(c.ToolHistory)
	x.AvailableTools = slices.Clone(c.AvailableTools)
	x.LoadedTools = slices.Clone(c.LoadedTools)
	x.Turns = slices.Clone(c.Turns)
	x.MCPServers = slices.Clone(c.MCPServers)
	x.Vars = maps.Clone(c.Vars)
	x.PluginConfig = tool.CloneArgs(c.PluginConfig)
	return x
}

func cloneCalls(calls []sdk.ToolCall) []sdk.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		out[i].Args = tool.CloneArgs(out[i].Args)
	}
	return out
}

func cloneMessages(msgs []sdk.Message) []sdk.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].ToolCalls = slices.Clone(out[i].ToolCalls)
		for j := range out[i].ToolCalls {
			out[i].ToolCalls[j].Arguments = tool.CloneArgs(out[i].ToolCalls[j].Arguments)
		}
	}
	return out
}

// Reply is what a handler answers. The zero Reply changes nothing. Parts that
// the moment does not allow are ignored.
type Reply struct {
	sdk.Result

	Arguments map[string]any // before_tool_execution: replaces the arguments.
	Text      *string        // user_message: replaces the text.
	Messages  []sdk.Message  // transform_messages: replaces the array; nil leaves it.

	Block  bool   // user_message, before_tool_execution: refuse.
	Reason string // Why, in the words the model or the person reads.
	Ask    string // before_tool_execution: put the call to the person, with this reason.

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
