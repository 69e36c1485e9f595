// Package lifecycle is the one pipeline on which everything that extends the
// agent runs: a table of moments, and for each moment the handlers bound to it.
// Order, condition, once, deadline, panics, failure policy and tracing are written
// here once. It knows no kind of handler: guards, hooks, plugins and extensions
// each adapt themselves to Handler.
package lifecycle

import (
	"slices"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/sdk"
)

// Moment is the name of a point in the life of a session at which handlers run.
type Moment string

// The moments that code refers to by name. A new one needs no constant unless
// something treats it differently from the others.
const (
	SessionStart        Moment = "session_start"
	UserMessage         Moment = "user_message"
	BeforeChat          Moment = "before_chat"
	TransformMessages   Moment = "transform_messages"
	StreamChunk         Moment = "stream_chunk"
	AfterResponse       Moment = "after_response"
	BeforeToolExecution Moment = "before_tool_execution"
	AfterToolExecution  Moment = "after_tool_execution"
	OnError             Moment = "on_error"
	BeforeCompaction    Moment = "before_compaction"
	AfterCompaction     Moment = "after_compaction"
	OnAgentSwitch       Moment = "on_agent_switch"
	SessionEnd          Moment = "session_end"
)

// Row describes one moment: its names in the three languages of extensions, what a
// handler may do there, and how it is documented. Its types are in Types.
type Row struct {
	Moment   Moment
	Function string // Go plugin function.
	Hook     string // Value of a shell hook's event key; empty where hooks cannot attach.
	When     string // For documentation.
	May      Power
	Order    []Kind // Which kind of handler runs first; nil is the usual order.
	AllOrNot bool   // One failure or invalid change discards all changes of the dispatch.

	// Unchanged is how a Go plugin says in code that nothing is to change; empty: by the zero
	// value of its result.
	Unchanged string

	Subject string // What it is about, as `/why` names it; empty: the moment's name.
	Object  string // What a handler changes there, likewise; empty: nothing.

	shape
}

// Types is what a row says about its data: C is the SDK context that handlers see, R
// what a Go plugin's function returns; None if it returns an error only.
type Types[C, R any] struct {
	// Python lists the events of Python extensions at this moment. One that has no
	// fields of its own shows those of C that are not in sdk.Context.
	Python []Python[C]

	// Reply turns what a Go plugin returned into a reply. nil: R is an sdk.Result or None.
	Reply func(*R) Reply

	// Apply changes d, a copy of the data, as r asks, and reports whether it did. nil: the
	// data cannot be changed.
	Apply func(d *C, r *Reply) bool

	// Sample completes made-up data for trying a handler. nil: the zero value will do.
	Sample func(d *C, s Sample)
}

// Python is one event of Python extensions.
type Python[C any] struct {
	Name   string
	Fields func(d *C, changed bool) any // What handlers see; changed: an earlier handler changed d.
	Match  func(d *C) bool              // Whether the event happens at all; nil: always.
}

// None is the result type of functions that only observe.
type None struct{}

// Sample is what a moment is made up from to try a handler.
type Sample struct {
	Tool      string
	Arguments map[string]any
	Output    string // Of the tool.
	Text      string // Of the user, the answer or the error.
}

// before is the order at all moments but one: guards judge what all others left.
var before = []Kind{Plugin, Extension, Hook, Guard}

// event is the Python event of a moment that shows what is in the SDK context.
func event[C any](name string) []Python[C] { return []Python[C]{{Name: name}} }

// table is the list of moments, in the order in which a session meets them. Everything
// that names a moment derives from it.
var table = []Row{
	row(Row{
		Moment: SessionStart, Function: "SessionStart", Hook: "session_start",
		When: "a session begins or resumes", May: Say | Notify,
	}, Types[sdk.SessionStartContext, sdk.Result]{
		Python: []Python[sdk.SessionStartContext]{{Name: "session_start", Fields: sessionStarted}},
	}),
	row(Row{
		Moment: UserMessage, Function: "UserMessage", Hook: "user_message",
		When: "the user has said something", May: RewriteText | Block | Say | Notify,
		Subject: "what you said", Object: "what you said",
	}, Types[sdk.UserMessageContext, sdk.UserMessageResult]{
		Python: []Python[sdk.UserMessageContext]{{Name: "user_message", Fields: userSaid}},
		Reply:  replyToUser,
		Apply: func(d *sdk.UserMessageContext, r *Reply) bool {
			if r.Text == nil || *r.Text == d.Text {
				return false
			}
			d.Text = *r.Text
			return true
		},
		Sample: func(d *sdk.UserMessageContext, s Sample) { d.Text = s.Text },
	}),
	row(Row{
		Moment: BeforeChat, Function: "BeforeChat", Hook: "before_chat",
		When: "before each model call", May: Say | Notify | DisableTools | AppendSystem | SkipChat,
		Subject: "the model call",
	}, Types[sdk.BeforeChatContext, sdk.Result]{
		Python: []Python[sdk.BeforeChatContext]{{Name: "before_chat",
			Fields: func(d *sdk.BeforeChatContext, _ bool) any { return turnEvent{d.Iteration} }}},
	}),
	row(Row{
		Moment: TransformMessages, Function: "TransformMessages",
		When: "the messages of a model call are complete", May: RewriteArray | Notify, AllOrNot: true,
		Object: "the messages of one model call", Unchanged: "hctx.Messages",
	}, Types[sdk.TransformContext, []sdk.Message]{
		Python: []Python[sdk.TransformContext]{{Name: "before_turn",
			Fields: func(d *sdk.TransformContext, _ bool) any { return turnEvent{d.Iteration} }}},
		Reply: replyWithMessages,
		Apply: func(d *sdk.TransformContext, r *Reply) bool {
			if r.Messages == nil {
				return false
			}
			d.Messages = append([]sdk.Message{}, r.Messages...)
			return true
		},
	}),
	row(Row{
		Moment: StreamChunk, Function: "StreamChunk",
		When: "a piece of the answer arrived",
	}, Types[sdk.StreamChunkContext, None]{
		Python: []Python[sdk.StreamChunkContext]{{Name: "stream_chunk",
			Fields: func(d *sdk.StreamChunkContext, _ bool) any { return chunkEvent{d.Text, d.Thinking, d.Finished} }}},
	}),
	row(Row{
		Moment: AfterResponse, Function: "AfterResponse", Hook: "after_response",
		When: "an answer is complete, its tools have not run", May: Say | Notify | DisableTools | StoreOther,
		Object: "the answer as it is kept",
	}, Types[sdk.AfterResponseContext, sdk.Result]{
		Python: []Python[sdk.AfterResponseContext]{
			{Name: "after_turn", Fields: answered},
			{Name: "assistant_message", Fields: answered,
				Match: func(d *sdk.AfterResponseContext) bool { return d.Response != "" }},
		},
		Apply: func(d *sdk.AfterResponseContext, r *Reply) bool {
			if r.Response == nil || r.Response.Content == nil {
				return false
			}
			d.Response = *r.Response.Content
			return true
		},
		Sample: func(d *sdk.AfterResponseContext, s Sample) { d.Response = s.Text },
	}),
	row(Row{
		Moment: BeforeToolExecution, Function: "BeforeToolExecution", Hook: "pre",
		When: "before each tool call", May: RewriteArgs | Block | Say | Notify | DisableTools,
		Object: "the arguments of",
	}, Types[sdk.BeforeToolContext, sdk.BeforeToolResult]{
		Python: []Python[sdk.BeforeToolContext]{{Name: "tool_call", Fields: toolCalled}},
		Reply:  replyToCall,
		Apply: func(d *sdk.BeforeToolContext, r *Reply) bool {
			if r.Arguments == nil {
				return false
			}
			d.Arguments = jsontext.Clone(r.Arguments)
			return true
		},
		Sample: func(d *sdk.BeforeToolContext, s Sample) {
			d.ToolName, d.ToolCallID, d.Arguments = s.Tool, "test", s.Arguments
		},
	}),
	row(Row{
		Moment: AfterToolExecution, Function: "AfterToolExecution", Hook: "post",
		When: "a tool call has finished", May: RewriteOutput | Say | Notify | DisableTools,
		Order:  []Kind{Hook, Plugin, Extension, Guard},
		Object: "the result of",
	}, Types[sdk.AfterToolContext, sdk.Result]{
		Python: []Python[sdk.AfterToolContext]{{Name: "tool_result", Fields: toolFinished}},
		Apply: func(d *sdk.AfterToolContext, r *Reply) bool {
			if r.Output == nil {
				return false
			}
			d.ToolResult = *r.Output
			return true
		},
		Sample: func(d *sdk.AfterToolContext, s Sample) {
			d.ToolName, d.ToolCallID, d.Arguments, d.ToolResult = s.Tool, "test", s.Arguments, s.Output
		},
	}),
	row(Row{
		Moment: OnError, Function: "OnError", Hook: "on_error",
		When: "a provider error survived every recovery", May: RecoverError | Say | Notify,
	}, Types[sdk.OnErrorContext, sdk.Result]{
		Python: []Python[sdk.OnErrorContext]{{Name: "error", Fields: failed}},
		Sample: func(d *sdk.OnErrorContext, s Sample) { d.Error = s.Text },
	}),
	row(Row{
		Moment: BeforeCompaction, Function: "BeforeCompaction", Hook: "before_compaction",
		When: "before the history is compacted", May: SkipCompaction | Say | Notify,
	}, Types[sdk.BeforeCompactionContext, sdk.Result]{
		Python: event[sdk.BeforeCompactionContext]("before_compaction"),
		Sample: func(d *sdk.BeforeCompactionContext, _ Sample) { d.Forced = true },
	}),
	row(Row{
		Moment: AfterCompaction, Function: "AfterCompaction", Hook: "after_compaction",
		When: "the history was compacted", May: Say | Notify,
	}, Types[sdk.AfterCompactionContext, sdk.Result]{
		Python: event[sdk.AfterCompactionContext]("after_compaction"),
		Sample: func(d *sdk.AfterCompactionContext, _ Sample) { d.Success = true },
	}),
	row(Row{
		Moment: OnAgentSwitch, Function: "OnAgentSwitch", Hook: "agent_switch",
		When: "another agent took over", May: Say | Notify,
	}, Types[sdk.OnAgentSwitchContext, sdk.Result]{
		Python: event[sdk.OnAgentSwitchContext]("agent_switch"),
		Sample: func(d *sdk.OnAgentSwitchContext, _ Sample) {
			d.PreviousAgent, d.NewAgent, d.Reason = d.Agent, d.Agent, "user"
		},
	}),
	row(Row{
		Moment: SessionEnd, Function: "SessionEnd", Hook: "session_end",
		When: "the session closes", May: Notify,
	}, Types[sdk.SessionEndContext, sdk.Result]{
		Python: []Python[sdk.SessionEndContext]{{Name: "session_end", Fields: sessionEnded}},
		Sample: func(d *sdk.SessionEndContext, _ Sample) { d.Reason = "exit" },
	}),
}

// Moments returns the table of moments.
func Moments() []Row { return slices.Clone(table) }

// Describe returns the row of a moment.
func Describe(m Moment) (Row, bool) {
	if i := index(m); i >= 0 {
		return table[i], true
	}
	return Row{}, false
}

// index is the position of m in the table, or -1.
func index(m Moment) int {
	return slices.IndexFunc(table, func(r Row) bool { return r.Moment == m })
}

// replyToUser is what a plugin answers to a message of the user.
func replyToUser(r *sdk.UserMessageResult) Reply {
	out := Reply{Result: r.Result, Text: r.Text, Block: r.Block}
	if r.Block && r.Message != "" {
		out.Reason = r.Prefix + r.Message
	}
	return out
}

// replyToCall is what a plugin answers to a tool call.
func replyToCall(r *sdk.BeforeToolResult) Reply {
	out := Reply{Result: r.Result, Arguments: r.Arguments, Block: r.Block}
	if r.Block {
		out.Reason = "Execution blocked by plugin"
		if r.Message != "" && r.Notice == "" {
			out.Reason += ": " + r.Prefix + r.Message
		}
	}
	return out
}

// replyWithMessages is what a plugin makes of the messages of a model call. No messages
// are an invalid answer, not the wish to change nothing.
func replyWithMessages(r *[]sdk.Message) Reply {
	if *r == nil {
		return Reply{Messages: []sdk.Message{}}
	}
	return Reply{Messages: *r}
}
