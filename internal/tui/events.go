package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/render"
)

// live is what is being shown and not complete yet.
type live struct {
	painter *painter
	answer  *entry
	thought *entry
	print   *entry
	calls   map[string]*entry  // By agent and ID.
	touched map[string][]touch // By ID, until the call is shown.
}

// take shows what the session reports.
func (m *model) take(b batch) tea.Cmd {
	m.run.handler = b.handler
	var cmds []tea.Cmd
	for i := range b.items {
		it := &b.items[i]
		switch {
		case it.record != nil:
			m.record(it.record)
		case it.print != "":
			m.printed(it.print)
		case it.state != nil:
			m.facts(it.state)
		case it.question != nil:
			it.question.shown = time.Now()
			m.asks = append(m.asks, it.question)
			m.pick, m.find = nil, nil
		case it.withdrawn != nil:
			m.asks = slices.DeleteFunc(m.asks, func(q *question) bool { return q == it.withdrawn })
		case it.ended != nil:
			cmds = append(cmds, m.ended(it.ended))
		default:
			if it.event.Text += string(it.more); it.event.Kind != "" {
				m.event(&it.event, it.change)
			}
		}
	}
	return tea.Batch(append(cmds, m.wake())...)
}

func (m *model) facts(s *state) {
	if s.lists != nil {
		m.lists = *s.lists
	}
	if s.verbose != m.state.verbose || !m.run.started {
		m.showThinking(s.verbose)
	}
	m.run.started = true
	m.state = *s
}

// event shows something that happened.
func (m *model) event(e *agent.Event, change []render.Line) {
	if e.Kind != agent.ToolOutput {
		m.live.print = nil
	}
	m.run.retry = time.Time{}
	switch e.Kind {
	case agent.TurnStarted:
		if e.Agent == "" {
			m.closeLive()
			m.log.add(&said{words: e.Text}, true)
		}
	case agent.TextDelta:
		if e.Agent == "" { // A sub-agent's text is shown when it is complete.
			m.say(e.Text)
		}
	case agent.ThoughtDelta:
		if e.Agent == "" {
			m.think(e.Text)
		}
	case agent.Answered:
		m.answered(e)
	case agent.Restarted:
		m.closeText()
		m.note("~", yellow, e.Agent, "the answer begins anew: "+e.Text)
	case agent.Retrying:
		m.run.retry = time.Now().Add(e.Duration)
		m.note("~", yellow, e.Agent, render.Retry(e.Duration, e.Text))
	case agent.ToolStarted, agent.ToolOutput, agent.ToolFinished:
		m.call(e, change)
	case agent.Injected:
		m.injected(e)
	case agent.Noticed:
		m.remark(e.Agent, &note{sign: "!", style: yellow, source: e.Source, words: e.Text, body: none})
	case agent.Compacted:
		m.note("~", yellow, e.Agent, e.Text)
	case agent.Switched:
		m.note("~", yellow, e.Agent, render.Switched(e.Text, e.Source))
	case agent.TurnEnded:
		if e.Agent == "" {
			m.turnEnded(e)
		}
	}
}

// add puts a block at the end, with a blank line before it unless it continues
// blocks of its kind.
func (m *model) add(b block, agentName string) *entry {
	spaced := true
	if n := len(m.log.entries); n > 0 {
		spaced = !small(b) || !small(m.log.entries[n-1].block)
	}
	e := m.log.add(b, spaced)
	e.agent = agentName
	if f, ok := b.(folder); ok && m.view.all {
		f.setOpen(true)
	}
	return e
}

// small reports whether a block needs no room around it beside others like it.
func small(b block) bool {
	switch b.(type) {
	case *called, *note, *thought:
		return true
	}
	return false
}

func (m *model) note(sign string, style sgr, agentName, text string) {
	m.remark(agentName, &note{sign: sign, style: style, words: text, body: none})
}

func (m *model) remark(agentName string, n *note) { m.add(n, agentName) }

func (m *model) say(text string) {
	if m.live.thought != nil {
		m.closeThought()
	}
	if m.live.answer == nil {
		m.live.answer = m.add(&answer{painter: m.live.painter}, "")
	}
	first := m.live.answer.block.(*answer).add(text)
	m.live.answer.changed(first)
}

func (m *model) think(text string) {
	if m.live.thought == nil {
		m.live.thought = m.add(&thought{shown: m.view.thinking || m.view.all}, "")
	}
	t := m.live.thought.block.(*thought)
	from := t.words.count() / partLines
	t.words.add(text)
	m.live.thought.changed(from)
}

func (m *model) closeThought() {
	if e := m.live.thought; e != nil {
		e.block.(*thought).ended = true
		e.changed(0)
		m.live.thought = nil
	}
}

func (m *model) closeText() {
	m.closeThought()
	m.live.answer = nil
}

// closeLive ends everything that was left open.
func (m *model) closeLive() {
	m.closeText()
	m.live.print = nil
	for key, e := range m.live.calls {
		if c := e.block.(*called); c.state == running {
			c.state = abandoned
			e.changed(0)
		}
		delete(m.live.calls, key)
	}
	m.live.touched = nil
}

// answered completes an answer. Providers that do not stream give it here only.
func (m *model) answered(e *agent.Event) {
	if e.Agent != "" {
		if e.Text != "" {
			a := &answer{painter: m.live.painter}
			a.add(e.Text)
			m.add(a, e.Agent)
		}
		return
	}
	if m.live.answer == nil && e.Text != "" {
		m.say(e.Text)
	}
	m.closeText()
}

// call shows a step of a tool call.
func (m *model) call(e *agent.Event, change []render.Line) {
	key := e.Agent + "\x00" + e.CallID
	at := m.live.calls[key]
	if e.Kind == agent.ToolOutput && at == nil {
		return
	}
	if at == nil || e.Kind == agent.ToolStarted {
		m.closeText()
		c := &called{
			tool:    e.Tool,
			label:   render.Describe(e.Tool, e.Args),
			change:  change,
			touched: m.live.touched[e.CallID],
		}
		delete(m.live.touched, e.CallID)
		at = m.add(c, e.Agent)
		m.live.calls[key] = at
		if e.Kind == agent.ToolFinished {
			c.state = refused
		}
	}
	c := at.block.(*called)
	switch e.Kind {
	case agent.ToolOutput:
		from := c.body().count() / partLines
		c.output.add(e.Text)
		at.changed(from)
		delete(at.drawn, 0)
	case agent.ToolFinished:
		if c.state == running {
			c.state, c.took = succeeded, e.Duration
			if e.Failed {
				c.state = failed
			}
		}
		c.finish(e.Text)
		delete(m.live.calls, key)
		at.changed(0)
	}
}

func (m *model) injected(e *agent.Event) {
	source := e.Source
	if source == "" && e.Tool != "" {
		source = "with the result of " + e.Tool
	}
	m.remark(e.Agent, &note{sign: "»", style: blue, source: source, words: e.Text, body: grey})
}

func (m *model) turnEnded(e *agent.Event) {
	m.closeLive()
	text := render.Took(e.Duration)
	if e.Usage != nil && e.Usage.Input+e.Usage.Output > 0 {
		text += fmt.Sprintf(" · ↑%s ↓%s tokens", thousands(e.Usage.Input), thousands(e.Usage.Output))
	}
	m.add(&note{sign: "·", style: grey, words: text, body: grey}, "")
}

// printed shows the output of a command.
func (m *model) printed(text string) {
	if m.live.print == nil {
		m.closeText()
		m.live.print = m.log.add(&printed{}, false)
	}
	p := m.live.print.block.(*printed)
	from := p.words.count() / partLines
	p.words.add(text)
	m.live.print.changed(from)
}

// record shows what a handler did: at the call it was about, or by itself.
func (m *model) record(r *lifecycle.Record) {
	t := touch{r.Verdict, r.Moment, r.Source, r.Duration, r.Detail}
	if r.CallID != "" {
		for _, e := range slices.Backward(m.log.entries[max(len(m.log.entries)-100, 0):]) {
			if m.live.calls[e.agent+"\x00"+r.CallID] == e {
				c := e.block.(*called)
				c.touched = append(c.touched, t)
				e.changed(0)
				return
			}
		}
		if m.live.touched == nil {
			m.live.touched = map[string][]touch{}
		}
		m.live.touched[r.CallID] = append(m.live.touched[r.CallID], t)
		return
	}
	switch r.Verdict {
	case lifecycle.Changed, lifecycle.Blocked, lifecycle.Failed: // The others are shown by what they say.
		w := touches[r.Verdict]
		detail := r.Detail
		if detail == "data" {
			detail = "changed what passed by"
		}
		m.note(w.sign, w.style, "", fmt.Sprintf("%s, %s (%s): %s", r.Source, r.Moment, render.Took(r.Duration), detail))
	}
}

// replay shows the conversation of a session that was resumed or cut.
func (m *model) replay(e *ended) {
	if e.job.input != startInput {
		m.log.clear()
		m.live.calls = map[string]*entry{}
	}
	for i := range e.history {
		m.past(&e.history[i])
	}
	m.live.calls = map[string]*entry{}
	m.log.end()
}

// past shows a message of the past.
func (m *model) past(msg *message.Message) {
	switch {
	case msg.Type == message.DisplayOnly:
		m.remark("", &note{sign: "!", style: yellow, source: msg.Source, words: msg.Content, body: none})
	case msg.Source != "":
		m.remark("", &note{sign: "»", style: blue, source: msg.Source, words: msg.Content, body: grey})
	case msg.Role == message.User:
		m.add(&said{words: msg.Content}, "")
	case msg.Role == message.Assistant:
		if msg.Thinking != "" {
			t := &thought{ended: true, shown: m.view.thinking}
			t.words.add(msg.Thinking)
			m.add(t, "")
		}
		if msg.Content != "" {
			a := &answer{painter: m.live.painter}
			a.add(msg.Content)
			m.add(a, "")
		}
		for _, c := range msg.ToolCalls {
			m.live.calls["\x00"+c.ID] = m.add(
				&called{tool: c.Name, label: render.Describe(c.Name, c.Arguments), state: abandoned},
				"",
			)
		}
	case msg.Role == message.Tool:
		if at := m.live.calls["\x00"+msg.ToolCallID]; at != nil {
			c := at.block.(*called)
			c.state = succeeded
			if msg.Failed {
				c.state = failed
			}
			c.finish(msg.Content)
			at.changed(0)
		}
	}
}
