package pyext

import (
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// event is one row of the table of Python events: the moment at which it happens
// and what its handlers see.
type event struct {
	name   string
	moment lifecycle.Moment
	fields func(h *Host, data any) any
	match  func(data any) bool // nil: always.
}

// events is the table. before_turn is where the messages of a request are complete,
// before_chat where there is no request yet.
var events = []event{
	{"session_start", lifecycle.SessionStart, func(_ *Host, data any) any {
		d := data.(*sdk.SessionStartContext)
		return sessionEvent{"started", d.SessionID, d.Resumed, ""}
	}, nil},
	{"session_end", lifecycle.SessionEnd, func(_ *Host, data any) any {
		d := data.(*sdk.SessionEndContext)
		return sessionEvent{"ended", d.SessionID, false, d.Reason}
	}, nil},
	{"user_message", lifecycle.UserMessage, func(_ *Host, data any) any {
		return textEvent{data.(*sdk.UserMessageContext).Text}
	}, nil},
	{"before_chat", lifecycle.BeforeChat, func(_ *Host, data any) any {
		return turnEvent{data.(*sdk.BeforeChatContext).Iteration}
	}, nil},
	{"before_turn", lifecycle.TransformMessages, func(_ *Host, data any) any {
		return turnEvent{data.(*sdk.TransformContext).Iteration}
	}, nil},
	{"stream_chunk", lifecycle.StreamChunk, func(_ *Host, data any) any {
		d := data.(*sdk.StreamChunkContext)
		return chunkEvent{d.Text, d.Thinking, d.Finished}
	}, nil},
	{"after_turn", lifecycle.AfterResponse, responseOf, nil},
	{"assistant_message", lifecycle.AfterResponse, responseOf, func(data any) bool {
		return data.(*sdk.AfterResponseContext).Response != ""
	}},
	{"tool_call", lifecycle.BeforeToolExecution, func(_ *Host, data any) any {
		d := data.(*sdk.BeforeToolContext)
		return callEvent{d.ToolName, d.ToolCallID, emptyMap(d.Arguments), d.Agent}
	}, nil},
	{"tool_result", lifecycle.AfterToolExecution, func(h *Host, data any) any {
		d := data.(*sdk.AfterToolContext)
		return resultEvent{
			h.output.read(d), d.ToolName, d.ToolCallID, emptyMap(d.Arguments), d.ToolError != "", d.ToolError,
			float64(d.ToolDuration.Microseconds()) / 1000,
		}
	}, nil},
	{"error", lifecycle.OnError, func(_ *Host, data any) any {
		d := data.(*sdk.OnErrorContext)
		return errorEvent{d.Error, d.Retryable, d.ErrorType, d.StatusCode}
	}, nil},
	{"before_compaction", lifecycle.BeforeCompaction, func(_ *Host, data any) any {
		d := data.(*sdk.BeforeCompactionContext)
		return beforeCompaction{d.Forced, d.TokensUsed, d.ContextPercent, d.MessageCount, d.KeepLast}
	}, nil},
	{"after_compaction", lifecycle.AfterCompaction, func(_ *Host, data any) any {
		d := data.(*sdk.AfterCompactionContext)
		return afterCompaction{d.Success, d.PreMessages, d.PostMessages, d.SummaryLength}
	}, nil},
	{"agent_switch", lifecycle.OnAgentSwitch, func(_ *Host, data any) any {
		d := data.(*sdk.OnAgentSwitchContext)
		return switchEvent{d.PreviousAgent, d.NewAgent, d.Reason}
	}, nil},
}

// The fields of events, as attributes in Python.
type (
	sessionEvent struct {
		Action    string `json:"action"`
		SessionID string `json:"session_id"`
		Resumed   bool   `json:"resumed"`
		Reason    string `json:"reason"`
	}
	textEvent struct {
		Content string `json:"content"`
	}
	turnEvent struct {
		Iteration int `json:"iteration"`
	}
	chunkEvent struct {
		Text      string `json:"text"`
		Reasoning string `json:"reasoning_text"`
		Finished  bool   `json:"finished"`
	}
	responseEvent struct {
		Content    string        `json:"content"`
		Thinking   string        `json:"thinking"`
		StopReason string        `json:"stop_reason"`
		ToolCalls  []pendingCall `json:"tool_calls"`
	}
	pendingCall struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	callEvent struct {
		ToolName   string         `json:"tool_name"`
		ToolCallID string         `json:"tool_call_id"`
		Arguments  map[string]any `json:"arguments"`
		Agent      string         `json:"agent"`
	}
	resultEvent struct {
		Output     string         `json:"output"`
		ToolName   string         `json:"tool_name"`
		ToolCallID string         `json:"tool_call_id"`
		Arguments  map[string]any `json:"arguments"`
		IsError    bool           `json:"is_error"`
		Error      string         `json:"error"`
		DurationMS float64        `json:"duration_ms"`
	}
	errorEvent struct {
		Message     string `json:"message"`
		Recoverable bool   `json:"recoverable"`
		Type        string `json:"error_type"`
		Status      int    `json:"status_code"`
	}
	beforeCompaction struct {
		Forced         bool    `json:"forced"`
		TokensUsed     int     `json:"tokens_used"`
		ContextPercent float64 `json:"context_percent"`
		MessageCount   int     `json:"message_count"`
		KeepLast       int     `json:"keep_last"`
	}
	afterCompaction struct {
		Success       bool `json:"success"`
		PreMessages   int  `json:"pre_messages"`
		PostMessages  int  `json:"post_messages"`
		SummaryLength int  `json:"summary_length"`
	}
	switchEvent struct {
		Previous string `json:"previous_agent"`
		New      string `json:"new_agent"`
		Reason   string `json:"reason"`
	}
)

func responseOf(_ *Host, data any) any {
	d := data.(*sdk.AfterResponseContext)
	e := responseEvent{Content: d.Response, Thinking: d.Thinking, StopReason: "end_turn", ToolCalls: []pendingCall{}}
	for _, c := range d.Calls {
		e.StopReason = "tool_use"
		e.ToolCalls = append(e.ToolCalls, pendingCall{c.Name, emptyMap(c.Args)})
	}
	return e
}

func emptyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// eventNamed finds a row of the table.
func eventNamed(name string) (event, bool) {
	for _, e := range events {
		if e.name == name {
			return e, true
		}
	}
	return event{}, false
}

// wireMessage is a message as Python sees it.
type wireMessage struct {
	sdk.Message
	IsError bool `json:"is_error,omitempty"`
}

// conversation is what a model sees of a conversation, for Python.
func conversation(msgs []message.Message) []wireMessage {
	out := make([]wireMessage, 0, len(msgs))
	for i := range msgs {
		if msgs[i].Sent() {
			out = append(out, wireMessage{msgs[i].Message, msgs[i].Failed})
		}
	}
	return out
}

// reply is what the handler of an event answered: what it says, what it changes and
// what it decides.
type reply struct {
	words
	changes
	decision
}

type words struct {
	Message      string   `json:"message"`
	Role         string   `json:"role"`
	Eject        bool     `json:"eject"`
	Notice       string   `json:"notice"`
	DisableTools []string `json:"disable_tools"`
}

// changes replace what the event is about; nil leaves it.
type changes struct {
	Text      *string        `json:"text"`
	Output    *string        `json:"output"`
	Messages  *[]sdk.Message `json:"messages"`
	Arguments map[string]any `json:"arguments"`
	System    *string        `json:"append_system"`
	Response  *string        `json:"response"`
}

type decision struct {
	Block  bool   `json:"block"`
	Reason string `json:"reason"`
	Ask    string `json:"ask"`
	Skip   bool   `json:"skip"`
	Retry  bool   `json:"retry"`
	Drop   bool   `json:"drop"`
}

// lifecycle is the reply in the words of the pipeline, which drops what the moment
// does not allow.
func (r *reply) lifecycle(m lifecycle.Moment) lifecycle.Reply {
	out := lifecycle.Reply{
		Result: sdk.Result{
			Message:      r.Message,
			Role:         sdk.Role(r.Role),
			Eject:        r.Eject,
			Notice:       r.Notice,
			DisableTools: r.DisableTools,
			Output:       r.Output,
		},
		Arguments: r.Arguments, Text: r.Text, Block: r.Block, Reason: r.Reason, Ask: r.Ask,
	}
	if r.Block && m == lifecycle.BeforeToolExecution {
		out.Reason = "Blocked by extension: " + r.Reason
	}
	if r.Messages != nil {
		out.Messages = append([]sdk.Message{}, *r.Messages...)
	}
	switch {
	case m == lifecycle.BeforeChat && (r.System != nil || r.Skip):
		out.Request = &sdk.RequestModification{AppendSystem: r.System, Skip: r.Skip}
	case m == lifecycle.AfterResponse && (r.Response != nil || r.Drop):
		out.Response = &sdk.ResponseModification{Skip: r.Drop, Content: r.Response}
	case m == lifecycle.OnError && (r.Retry || r.Skip):
		out.Result.Error = &sdk.ErrorModification{Retry: r.Retry, Skip: r.Skip}
	case m == lifecycle.BeforeCompaction && r.Skip:
		out.Compaction = &sdk.CompactionModification{Skip: true}
	}
	return out
}
