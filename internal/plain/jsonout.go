package plain

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/jsontext"
)

// Report is the object that --output json writes, and the last line of
// stream-json. Its form is a contract: docs/output.md.
type Report struct {
	Answer    string         `json:"answer"` // Of the last turn.
	SessionID string         `json:"session_id"`
	Agent     string         `json:"agent"`
	Model     string         `json:"model"`
	Turns     []TurnReport   `json:"turns"`
	Usage     agent.Usage    `json:"usage"` // Sum of the turns, sub-agents included.
	ToolCalls []CallReport   `json:"tool_calls"`
	Notices   []NoticeReport `json:"notices"`
	Error     *string        `json:"error"`
}

// TurnReport is one prompt and what came of it.
type TurnReport struct {
	Prompt     string      `json:"prompt"`
	Answer     string      `json:"answer"`
	Usage      agent.Usage `json:"usage"`
	Failed     bool        `json:"failed"`
	Cut        bool        `json:"cut,omitempty"` // The answer ended at the output limit.
	DurationMS int64       `json:"duration_ms"`
}

// CallReport is one tool call.
type CallReport struct {
	Name       string         `json:"name"`
	Args       map[string]any `json:"args"`
	Failed     bool           `json:"failed"`
	DurationMS int64          `json:"duration_ms"`
	Agent      string         `json:"agent,omitempty"` // Set for calls of sub-agents.
}

// NoticeReport is something that was for the user only.
type NoticeReport struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// NewEncoder encodes JSON as all output for scripts is: <, > and & stay as they are.
func NewEncoder(w io.Writer) *json.Encoder { return jsontext.NewEncoder(w) }

// collector builds a Report from events.
type collector struct {
	report Report
	open   map[string]map[string]any // Arguments of calls that have begun.
}

func newCollector() collector {
	return collector{
		report: Report{Turns: []TurnReport{}, ToolCalls: []CallReport{}, Notices: []NoticeReport{}},
		open:   map[string]map[string]any{},
	}
}

func (c *collector) observe(e agent.Event) {
	switch e.Kind {
	case agent.ToolStarted:
		c.open[callKey(e)] = e.Args
		return
	case agent.ToolFinished:
		c.call(e)
		return
	case agent.Noticed:
		c.report.Notices = append(c.report.Notices, NoticeReport{e.Source, e.Text})
		return
	case agent.TurnStarted:
		if e.Agent == "" {
			c.report.Turns = append(c.report.Turns, TurnReport{Prompt: e.Text})
		}
		return
	}
	n := len(c.report.Turns)
	if e.Agent != "" || n == 0 {
		return
	}
	turn := &c.report.Turns[n-1]
	switch e.Kind {
	case agent.Answered:
		turn.Answer = e.Text
	case agent.TurnEnded:
		turn.Failed, turn.Cut, turn.DurationMS = e.Failed, e.Cut, e.Duration.Milliseconds()
		if e.Usage != nil {
			turn.Usage = *e.Usage
			c.report.Usage.Input += e.Usage.Input
			c.report.Usage.Output += e.Usage.Output
			c.report.Usage.CacheRead += e.Usage.CacheRead
			c.report.Usage.CacheWrite += e.Usage.CacheWrite
		}
		clear(c.open)
	}
}

func (c *collector) call(e agent.Event) {
	args, begun := c.open[callKey(e)]
	if delete(c.open, callKey(e)); !begun {
		args = e.Args
	}
	c.report.ToolCalls = append(c.report.ToolCalls, CallReport{
		Name: e.Tool, Args: encodable(args), Failed: e.Failed, DurationMS: e.Duration.Milliseconds(), Agent: e.Agent,
	})
}

// finish completes the report.
func (c *collector) finish(o Outcome) Report {
	r := c.report
	r.SessionID, r.Agent, r.Model = o.SessionID, o.Agent, o.Model
	if n := len(r.Turns); n > 0 {
		r.Answer = r.Turns[n-1].Answer
	}
	if o.Err != nil {
		text := o.Err.Error()
		r.Error = &text
	}
	return r
}

// encodable makes arguments fit for JSON: handlers in Go may put anything there.
// It also copies them, so that a later change cannot reach the report.
func encodable(args map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	maps.Copy(out, args)
	if _, err := json.Marshal(out); err == nil {
		return out
	}
	for name, v := range out {
		if _, err := json.Marshal(v); err != nil {
			out[name] = fmt.Sprint(v)
		}
	}
	return out
}

// JSON is the output that writes one object at the end.
type JSON struct {
	w io.Writer
	collector
}

// NewJSON makes the output of --output json.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w, collector: newCollector()} }

// Observe collects an event.
func (j *JSON) Observe(e agent.Event) { j.observe(e) }

// Finish writes the report.
func (j *JSON) Finish(o Outcome) error { return NewEncoder(j.w).Encode(j.finish(o)) }

// Stream is the output that writes every event as a line of JSON.
type Stream struct {
	enc *json.Encoder
	err error
	collector
}

// NewStream makes the output of --output stream-json.
func NewStream(w io.Writer) *Stream {
	return &Stream{enc: NewEncoder(w), collector: newCollector()}
}

// eventLine is an event as it is written: the duration in milliseconds instead of
// nanoseconds.
type eventLine struct {
	agent.Event
	Duration   int    `json:"duration,omitempty"` // Hides the one of the event.
	DurationMS *int64 `json:"duration_ms,omitempty"`
}

// Observe writes an event.
func (s *Stream) Observe(e agent.Event) {
	s.observe(e)
	l := eventLine{Event: e}
	if e.Kind == agent.ToolFinished || e.Kind == agent.TurnEnded || e.Kind == agent.Retrying {
		ms := e.Duration.Milliseconds()
		l.DurationMS = &ms
	}
	if e.Args != nil {
		l.Args = encodable(e.Args)
	}
	s.write(l)
}

// Finish writes the last line, of type "result".
func (s *Stream) Finish(o Outcome) error {
	s.write(struct {
		Type string `json:"type"`
		Report
	}{"result", s.finish(o)})
	return s.err
}

// write writes a line. After an error it writes nothing more: half a line and
// then another one would be garbage.
func (s *Stream) write(v any) {
	if s.err == nil {
		s.err = s.enc.Encode(v)
	}
}
