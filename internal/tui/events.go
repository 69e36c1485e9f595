package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/agent"
)

// take shows what the session reports.
func (m *model) take(b batch) tea.Cmd {
	m.run.handler = b.handler
	var cmds []tea.Cmd
	for i := range b.items {
		it := &b.items[i]
		switch {
		case it.record != nil:
			m.blocks.record(it.record)
		case it.print != "":
			m.blocks.printed(it.print)
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
				m.run.retry = retryTime(&it.event)
				m.blocks.event(&it.event, it.change)
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
		m.blocks.showThinking(s.verbose)
	}
	m.run.started = true
	m.state = *s
}

// retryTime is when a request is sent again, if an event says that it is; else zero.
func retryTime(e *agent.Event) time.Time {
	if e.Kind != agent.Retrying {
		return time.Time{}
	}
	return time.Now().Add(e.Duration)
}

// replay shows the conversation of a session that was resumed or cut.
func (m *model) replay(e *ended) {
	if e.job.input != startInput {
		m.log.clear()
		m.blocks.calls = map[string]*entry{}
	}
	for i := range e.history {
		m.blocks.past(&e.history[i])
	}
	m.blocks.calls = map[string]*entry{}
	m.log.end()
}
