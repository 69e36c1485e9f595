// Package lifecycle is the one pipeline on which everything that extends the
// agent runs: a table of moments, and for each moment the handlers bound to it.
// Order, condition, once, deadline, panics, failure policy and tracing are written
// here once. It knows no kind of handler: guards, hooks, plugins and extensions
// each adapt themselves to Handler.
package lifecycle

import "slices"

// Moment is a point in the life of a session at which handlers run.
type Moment string

// The moments, in the order in which a session meets them.
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

// Power is a set of things a handler may do at a moment.
type Power uint16

// The powers. A reply that uses a power its moment does not grant loses that part.
const (
	Say            Power = 1 << iota // inject a message
	Notify                           // show a notice to the user
	DisableTools                     // take tools away for the rest of the turn
	RewriteText                      // replace the text of the user
	RewriteArgs                      // replace the arguments of a tool call
	RewriteOutput                    // replace the result of a tool call
	RewriteArray                     // replace the messages of one model call
	Block                            // refuse what is about to happen
	AppendSystem                     // add to the system prompt of one model call
	SkipChat                         // make no model call
	StoreOther                       // store another response, or none
	RecoverError                     // retry or skip a provider error
	SkipCompaction                   // leave the history as it is
)

// powerNames are the words for powers in documentation and traces.
var powerNames = []struct {
	Power Power
	Name  string
}{
	{Say, "say"},
	{Notify, "notice"},
	{DisableTools, "disable tools"},
	{RewriteText, "rewrite text"},
	{RewriteArgs, "rewrite arguments"},
	{RewriteOutput, "replace output"},
	{RewriteArray, "replace messages"},
	{Block, "block"},
	{AppendSystem, "append system prompt"},
	{SkipChat, "skip model call"},
	{
		StoreOther,
		"replace or drop stored response",
	},
	{RecoverError, "retry or skip error"},
	{SkipCompaction, "skip compaction"},
}

// Names lists the powers of a set in words.
func (p Power) Names() []string {
	var names []string
	for _, n := range powerNames {
		if p&n.Power != 0 {
			names = append(names, n.Name)
		}
	}
	return names
}

// Row describes one moment: its names in the three languages of extensions and
// what a handler may do there.
type Row struct {
	Moment   Moment
	Function string   // Go plugin function.
	Events   []string // Python events.
	Hook     string   // Value of a shell hook's event key; empty where hooks cannot attach.
	When     string   // For documentation.
	May      Power
	Order    []Kind // Which kind of handler runs first.
	AllOrNot bool   // One failure or invalid change discards all changes of the dispatch.
}

// before is the order at all moments but one: guards judge what all others left.
var before = []Kind{Plugin, Extension, Hook, Guard}

// table is the list of moments; everything that names a moment derives from it.
var table = []Row{
	{
		SessionStart,
		"SessionStart",
		[]string{"session_start"},
		"session_start",
		"a session begins or resumes",
		Say | Notify,
		before,
		false,
	},
	{
		UserMessage,
		"UserMessage",
		[]string{"user_message"},
		"user_message",
		"the user has said something",
		RewriteText | Block | Say | Notify,
		before,
		false,
	},
	{
		BeforeChat,
		"BeforeChat",
		[]string{"before_chat"},
		"before_chat",
		"before each model call",
		Say | Notify | DisableTools | AppendSystem | SkipChat,
		before,
		false,
	},
	{
		TransformMessages,
		"TransformMessages",
		[]string{"before_turn"},
		"",
		"the messages of a model call are complete",
		RewriteArray | Notify,
		before,
		true,
	},
	{StreamChunk, "StreamChunk", []string{"stream_chunk"}, "", "a piece of the answer arrived", 0, before, false},
	{
		AfterResponse,
		"AfterResponse",
		[]string{"after_turn", "assistant_message"},
		"after_response",
		"an answer is complete, its tools have not run",
		Say | Notify | DisableTools | StoreOther,
		before,
		false,
	},
	{
		BeforeToolExecution,
		"BeforeToolExecution",
		[]string{"tool_call"},
		"pre",
		"before each tool call",
		RewriteArgs | Block | Say | Notify | DisableTools,
		before,
		false,
	},
	{
		AfterToolExecution,
		"AfterToolExecution",
		[]string{"tool_result"},
		"post",
		"a tool call has finished",
		RewriteOutput | Say | Notify | DisableTools,
		[]Kind{Hook, Plugin, Extension, Guard},
		false,
	},
	{
		OnError,
		"OnError",
		[]string{"error"},
		"on_error",
		"a provider error survived every recovery",
		RecoverError | Say | Notify,
		before,
		false,
	},
	{
		BeforeCompaction,
		"BeforeCompaction",
		[]string{"before_compaction"},
		"before_compaction",
		"before the history is compacted",
		SkipCompaction | Say | Notify,
		before,
		false,
	},
	{
		AfterCompaction,
		"AfterCompaction",
		[]string{"after_compaction"},
		"after_compaction",
		"the history was compacted",
		Say | Notify,
		before,
		false,
	},
	{
		OnAgentSwitch,
		"OnAgentSwitch",
		[]string{"agent_switch"},
		"agent_switch",
		"another agent took over",
		Say | Notify,
		before,
		false,
	},
	{SessionEnd, "SessionEnd", []string{"session_end"}, "session_end", "the session closes", Notify, before, false},
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
