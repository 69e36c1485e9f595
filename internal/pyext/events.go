package pyext

import (
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// eventNames are the events that handlers can be registered for.
func eventNames() []string {
	var names []string
	for _, row := range lifecycle.Moments() {
		for _, e := range row.Events {
			names = append(names, e.Name)
		}
	}
	return names
}

// eventNamed finds an event and its moment.
func eventNamed(name string) (event lifecycle.PythonEvent, at lifecycle.Row, ok bool) {
	for _, row := range lifecycle.Moments() {
		for _, e := range row.Events {
			if e.Name == name {
				return e, row, true
			}
		}
	}
	return event, at, false
}

func emptyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
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
func (r *reply) lifecycle(at *lifecycle.Row) lifecycle.Reply {
	out := lifecycle.Reply{
		Result: sdk.Result{
			Message: r.Message, Role: sdk.Role(r.Role), Eject: r.Eject, Notice: r.Notice, DisableTools: r.DisableTools,
			Output: r.Output,
		},
		Arguments: r.Arguments, Text: r.Text, Block: r.Block, Reason: r.Reason, Ask: r.Ask,
	}
	if r.System != nil || r.Skip {
		out.Request = &sdk.RequestModification{AppendSystem: r.System, Skip: r.Skip}
	}
	if r.Response != nil || r.Drop {
		out.Response = &sdk.ResponseModification{Skip: r.Drop, Content: r.Response}
	}
	if r.Retry || r.Skip {
		out.Error = &sdk.ErrorModification{Retry: r.Retry, Skip: r.Skip}
	}
	if r.Skip {
		out.Compaction = &sdk.CompactionModification{Skip: true}
	}
	if r.Block && at.May&lifecycle.RewriteArgs != 0 {
		out.Reason = "Blocked by extension: " + r.Reason
	}
	if r.Messages != nil {
		out.Messages = append([]sdk.Message{}, *r.Messages...)
	}
	return out
}
