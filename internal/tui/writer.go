package tui

import (
	"fmt"
	"slices"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/render"
)

// blockWriter shows what the session reports as blocks at the end of the transcript.
type blockWriter struct {
	log      *transcript
	thinking bool // What the model thinks is open.
	all      bool // All blocks are open.

	painter *painter
	answer  *entry // It and what follows are not complete yet.
	thought *entry
	print   *entry
	calls   map[string]*entry  // By agent and ID.
	touched map[string][]touch // By ID, until the call is shown.
}

// event shows something that happened.
func (w *blockWriter) event(e *agent.Event, change []render.Line) {
	if e.Kind != agent.ToolOutput {
		w.print = nil
	}
	switch e.Kind {
	case agent.TurnStarted:
		if e.Agent == "" {
			w.finish()
			w.log.add(&said{words: e.Text}, true)
		}
	case agent.TextDelta:
		if e.Agent == "" { // A sub-agent's text is shown when it is complete.
			w.say(e.Text)
		}
	case agent.ThoughtDelta:
		if e.Agent == "" {
			w.think(e.Text)
		}
	case agent.Answered:
		w.answered(e)
	case agent.Restarted:
		w.closeText()
		w.note("~", yellow, e.Agent, "the answer begins anew: "+e.Text)
	case agent.Retrying:
		w.note("~", yellow, e.Agent, render.Retry(e.Duration, e.Text))
	case agent.ToolStarted, agent.ToolOutput, agent.ToolFinished:
		w.call(e, change)
	case agent.Injected:
		w.injected(e)
	case agent.Noticed:
		w.remark(e.Agent, &note{sign: "!", style: yellow, source: e.Source, words: e.Text, body: none})
	case agent.Compacted:
		w.note("~", yellow, e.Agent, e.Text)
	case agent.Switched:
		w.note("~", yellow, e.Agent, render.Switched(e.Text, e.Source))
	case agent.TurnEnded:
		if e.Agent == "" {
			w.turnEnded(e)
		}
	}
}

// add puts a block at the end, with a blank line before it unless it continues
// blocks of its kind.
func (w *blockWriter) add(b block, agentName string) *entry {
	spaced := true
	if n := len(w.log.entries); n > 0 {
		spaced = !small(b) || !small(w.log.entries[n-1].block)
	}
	e := w.log.add(b, spaced)
	e.agent = agentName
	if f, ok := b.(folder); ok && w.all {
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

func (w *blockWriter) note(sign string, style sgr, agentName, text string) {
	w.remark(agentName, &note{sign: sign, style: style, words: text, body: none})
}

func (w *blockWriter) remark(agentName string, n *note) { w.add(n, agentName) }

func (w *blockWriter) say(text string) {
	if w.thought != nil {
		w.closeThought()
	}
	if w.answer == nil {
		w.answer = w.add(&answer{painter: w.painter}, "")
	}
	first := w.answer.block.(*answer).add(text)
	w.answer.changed(first)
}

func (w *blockWriter) think(text string) {
	if w.thought == nil {
		w.thought = w.add(&thought{shown: w.thinking || w.all}, "")
	}
	t := w.thought.block.(*thought)
	from := t.words.count() / partLines
	t.words.add(text)
	w.thought.changed(from)
}

func (w *blockWriter) closeThought() {
	if e := w.thought; e != nil {
		e.block.(*thought).ended = true
		e.changed(0)
		w.thought = nil
	}
}

func (w *blockWriter) closeText() {
	w.closeThought()
	w.answer = nil
}

// finish ends everything that was left open.
func (w *blockWriter) finish() {
	w.closeText()
	w.print = nil
	for key, e := range w.calls {
		if c := e.block.(*called); c.state == running {
			c.state = abandoned
			e.changed(0)
		}
		delete(w.calls, key)
	}
	w.touched = nil
}

// answered completes an answer. Providers that do not stream give it here only.
func (w *blockWriter) answered(e *agent.Event) {
	if e.Agent != "" {
		if e.Text != "" {
			a := &answer{painter: w.painter}
			a.add(e.Text)
			w.add(a, e.Agent)
		}
		return
	}
	if w.answer == nil && e.Text != "" {
		w.say(e.Text)
	}
	w.closeText()
}

// call shows a step of a tool call.
func (w *blockWriter) call(e *agent.Event, change []render.Line) {
	key := e.Agent + "\x00" + e.CallID
	at := w.calls[key]
	if e.Kind == agent.ToolOutput && at == nil {
		return
	}
	if at == nil || e.Kind == agent.ToolStarted {
		w.closeText()
		c := &called{
			tool:    e.Tool,
			label:   render.Describe(e.Tool, e.Args),
			change:  change,
			touched: w.touched[e.CallID],
		}
		delete(w.touched, e.CallID)
		at = w.add(c, e.Agent)
		w.calls[key] = at
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
		delete(w.calls, key)
		at.changed(0)
	}
}

func (w *blockWriter) injected(e *agent.Event) {
	source := e.Source
	if source == "" && e.Tool != "" {
		source = "with the result of " + e.Tool
	}
	w.remark(e.Agent, &note{sign: "»", style: blue, source: source, words: e.Text, body: grey})
}

func (w *blockWriter) turnEnded(e *agent.Event) {
	w.finish()
	text := render.Took(e.Duration)
	if e.Usage != nil && e.Usage.Input+e.Usage.Output > 0 {
		text += fmt.Sprintf(" · ↑%s ↓%s tokens", thousands(e.Usage.Input), thousands(e.Usage.Output))
	}
	w.add(&note{sign: "·", style: grey, words: text, body: grey}, "")
}

// printed shows the output of a command.
func (w *blockWriter) printed(text string) {
	if w.print == nil {
		w.closeText()
		w.print = w.log.add(&printed{}, false)
	}
	p := w.print.block.(*printed)
	from := p.words.count() / partLines
	p.words.add(text)
	w.print.changed(from)
}

// record shows what a handler did: at the call it was about, or by itself.
func (w *blockWriter) record(r *lifecycle.Record) {
	t := touch{r.Verdict, r.Moment, r.Source, r.Duration, r.Detail}
	if r.CallID != "" {
		for _, e := range slices.Backward(w.log.entries[max(len(w.log.entries)-100, 0):]) {
			if w.calls[e.agent+"\x00"+r.CallID] == e {
				c := e.block.(*called)
				c.touched = append(c.touched, t)
				e.changed(0)
				return
			}
		}
		if w.touched == nil {
			w.touched = map[string][]touch{}
		}
		w.touched[r.CallID] = append(w.touched[r.CallID], t)
		return
	}
	switch r.Verdict {
	case lifecycle.Changed, lifecycle.Blocked, lifecycle.Failed: // The others are shown by what they say.
		how := touches[r.Verdict]
		detail := r.Detail
		if detail == "data" {
			detail = "changed what passed by"
		}
		text := fmt.Sprintf("%s, %s (%s): %s", r.Source, r.Moment, render.Took(r.Duration), detail)
		w.note(how.sign, how.style, "", text)
	}
}

// past shows a message of the past.
func (w *blockWriter) past(msg *message.Message) {
	switch {
	case msg.Type == message.DisplayOnly:
		w.remark("", &note{sign: "!", style: yellow, source: msg.Source, words: msg.Content, body: none})
	case msg.Source != "":
		w.remark("", &note{sign: "»", style: blue, source: msg.Source, words: msg.Content, body: grey})
	case msg.Role == message.User:
		w.add(&said{words: msg.Content}, "")
	case msg.Role == message.Assistant:
		if msg.Thinking != "" {
			t := &thought{ended: true, shown: w.thinking}
			t.words.add(msg.Thinking)
			w.add(t, "")
		}
		if msg.Content != "" {
			a := &answer{painter: w.painter}
			a.add(msg.Content)
			w.add(a, "")
		}
		for _, c := range msg.ToolCalls {
			w.calls["\x00"+c.ID] = w.add(
				&called{tool: c.Name, label: render.Describe(c.Name, c.Arguments), state: abandoned},
				"",
			)
		}
	case msg.Role == message.Tool:
		if at := w.calls["\x00"+msg.ToolCallID]; at != nil {
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

// toggleAll opens or folds everything.
func (w *blockWriter) toggleAll() {
	w.all = !w.all
	for _, e := range w.log.entries {
		if f, ok := e.block.(folder); ok && f.open() != w.all {
			if _, isThought := e.block.(*thought); isThought && !w.all && w.thinking {
				continue
			}
			f.setOpen(w.all)
			e.changed(0)
		}
	}
}

// showThinking opens or folds what the model thought.
func (w *blockWriter) showThinking(on bool) {
	w.thinking = on
	for _, e := range w.log.entries {
		if t, ok := e.block.(*thought); ok && t.shown != on {
			t.shown = on
			e.changed(0)
		}
	}
}
