package lifecycle

import (
	"fmt"
	"reflect"

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

	context *sdk.Context
	changed bool // An earlier handler changed Data.
}

// EventOf makes the event of a moment that data, a pointer to its SDK context, is of.
func EventOf(data any) Event {
	r := rowOf(data)
	return Event{Moment: r.Moment, Data: data, context: r.contextOf(data)}
}

// BeforeTool is the data of an event of BeforeToolExecution; at any other moment it panics.
func (e *Event) BeforeTool() *sdk.BeforeToolContext { return e.Data.(*sdk.BeforeToolContext) }

// AfterTool is the data of an event of AfterToolExecution; at any other moment it panics.
func (e *Event) AfterTool() *sdk.AfterToolContext { return e.Data.(*sdk.AfterToolContext) }

// rowOf finds the row whose data it is. Data of no row is a mistake in the program.
func rowOf(data any) *Row {
	t := reflect.TypeOf(data)
	for i := range table {
		if table[i].data == t {
			return &table[i]
		}
	}
	panic(fmt.Sprintf("lifecycle: no moment has data of type %T", data))
}

// Context returns the snapshot inside the event's data.
func (e *Event) Context() *sdk.Context {
	if e.context == nil {
		e.context = rowOf(e.Data).contextOf(e.Data)
	}
	return e.context
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
