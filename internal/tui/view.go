package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/idelchi/aura/internal/line"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
	"github.com/idelchi/aura/internal/wording"
)

// View draws the screen.
func (m *model) View() (v tea.View) {
	defer func() {
		if p := recover(); p != nil {
			m.ui.crash(p)
			v = tea.View{AltScreen: true}
		}
	}()
	content, cursor := m.draw()
	v = tea.NewView(content)
	v.AltScreen = true
	v.Cursor = cursor
	if !m.view.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = "aura"
	if m.state.title != "" {
		v.WindowTitle = "aura: " + width.Fit(terminal.OneLine(m.state.title), 60)
	}
	return v
}

// draw lays out the screen: transcript, activity, input or question, status.
func (m *model) draw() (string, *tea.Cursor) {
	bottom, x, y := m.bottom()
	if keep := max(m.height-1, 1); len(bottom) > keep { // A very low terminal shows the end.
		y -= len(bottom) - keep
		bottom = bottom[len(bottom)-keep:]
	}
	height := m.height - len(bottom)
	m.log.resize(m.width, height)
	var rows []string
	var cursor *tea.Cursor
	if m.pick != nil {
		var px, py int
		rows, px, py = m.pick.draw(m.width, height)
		cursor = tea.NewCursor(px, py)
		rows = rows[:min(len(rows), height)]
	} else {
		rows = m.log.view()
		if m.find != nil {
			rows = mark(rows, m.find.field.Value())
		}
		if x >= 0 && y >= 0 {
			cursor = tea.NewCursor(min(x, m.width-1), height+y)
		}
	}
	for len(rows) < height {
		rows = append(rows, "")
	}
	if m.pick == nil && len(m.asks) == 0 && m.find == nil && m.menu.visible() {
		list := m.menu.draw(m.width)
		list = list[:min(len(list), height)]
		rows = append(rows[:height-len(list)], list...)
	}
	rows = append(rows[:height], bottom...)
	return strings.Join(rows, "\n"), cursor
}

// mark shows where the query is.
func mark(rows []string, query string) []string {
	if query = strings.ToLower(query); query == "" {
		return rows
	}
	for i, row := range rows {
		text := ansi.Strip(row)
		lower := strings.ToLower(text)
		at := strings.Index(lower, query)
		if at < 0 || len(lower) != len(text) { // Some letters change their size with their case.
			continue
		}
		end := at + len(query)
		rows[i] = text[:at] + reverse.paint(text[at:end]) + text[end:]
	}
	return rows
}

// bottom is everything below the transcript, and where the cursor is in it.
func (m *model) bottom() (lines []string, x, y int) {
	for i, q := range m.run.queue {
		if i == 3 {
			lines = append(lines, grey.paint(fmt.Sprintf("  … and %d more", len(m.run.queue)-i)))
			break
		}
		state := "  queued: "
		if m.run.held {
			state = "  held: " // It comes back next.
		}
		lines = append(lines, grey.paint(width.Fit(state+terminal.OneLine(q), m.width)))
	}
	lines = append(lines, m.rule())
	switch {
	case m.pick != nil:
		x = -1
	case len(m.asks) > 0:
		var q []string
		// A low terminal is all for the question: what is approved must be seen.
		q, x, y = m.asks[0].draw(m.width, max(m.height*2/3, min(m.height-len(lines)-2, 14), 3))
		if y += len(lines); x < 0 {
			y = -1
		}
		lines = append(lines, q...)
	case m.find != nil:
		rows, cy, cx := m.find.field.Rows(line.Room{Width: max(m.width-30, 4)})
		text := cyan.paint("search: ") + rows[cy].Text
		if m.find.miss {
			text += red.paint("  no more")
		}
		x, y = 8+cx, len(lines)
		lines = append(lines, text+grey.paint("  ↑ Enter · ↓ · Esc"))
	default:
		var in []string
		in, x, y = m.drawInput()
		y += len(lines)
		lines = append(lines, in...)
	}
	return append(lines, m.status()), x, y
}

// drawInput shows the editor, the part around the cursor if it is long.
func (m *model) drawInput() (lines []string, x, y int) {
	rows, cy, cx := m.input.Rows(line.Room{Width: max(m.width-3, 4)})
	most := max(m.height/3, 1)
	first := max(0, min(cy-most/2, len(rows)-most))
	for i := first; i < min(first+most, len(rows)); i++ {
		lead := "  "
		if i == 0 {
			lead = cyan.with(bold).paint("❯ ")
		}
		line := lead + rows[i].Text
		if i == cy {
			if ghost := m.ghost(); ghost != "" {
				line += grey.paint(width.Fit(ghost, m.width-3-cx))
			} else if m.input.Empty() && m.run.jobs == 0 {
				line += grey.paint(width.Fit("say something", m.width-4))
			}
		}
		lines = append(lines, line)
	}
	return lines, cx + 2, cy - first
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// rule is the line above the input: what happens right now.
func (m *model) rule() string {
	var text string
	style := grey
	switch {
	case m.view.flash != "":
		text, style = m.view.flash, yellow
	case len(m.asks) > 0:
		text, style = "your decision is needed", yellow
		if n := len(m.asks) - 1; n > 0 {
			text += fmt.Sprintf(", %d more wait", n)
		}
	case m.run.jobs > 0:
		text, style = spinner[m.run.frame%len(spinner)]+" "+m.doing(), cyan
	case m.log.loose:
		text = "scrolled up: Esc returns to the end"
		if n := m.log.below(); n > 0 {
			text += fmt.Sprintf(" (%s below)", wording.Count(n, "block"))
		}
	}
	if text == "" {
		return grey.paint(strings.Repeat("─", m.width))
	}
	text = width.Fit(terminal.OneLine(text), max(m.width-5, 1))
	rest := strings.Repeat("─", max(m.width-width.Of(text)-3, 0))
	return grey.paint("─ ") + style.paint(text) + grey.paint(" "+rest)
}

// doing says what runs.
func (m *model) doing() string {
	text := "working"
	switch {
	case m.run.asked:
		text = "cancelling"
	case !m.run.started:
		text = "starting"
	case m.run.handler != "":
		text = m.run.handler
	case time.Until(m.run.retry) > 0:
		text = fmt.Sprintf("retrying in %s, working", max(time.Until(m.run.retry).Round(time.Second), time.Second))
	case m.blocks.thought != nil:
		text = "thinking"
	case m.blocks.answer != nil:
		text = "answering"
	default:
		for _, e := range m.blocks.calls {
			if c := e.block.(*called); c.state == running {
				text = c.tool
				break
			}
		}
	}
	return fmt.Sprintf("%s %s · Esc cancels", text, time.Since(m.run.since).Round(time.Second))
}

// status is the last line: who works, and how full things are.
func (m *model) status() string {
	s := &m.state
	if s.agent == "" {
		return ""
	}
	who := s.agent
	if s.mode != "" {
		who += ":" + s.mode
	}
	parts := []span{{who, bold}, {s.model, none}}
	about := ""
	if s.usage.guessed {
		about = "~"
	}
	if s.usage.window > 0 {
		style := none
		switch {
		case s.usage.percent >= 90:
			style = red
		case s.usage.percent >= 70:
			style = yellow
		}
		parts = append(
			parts,
			span{fmt.Sprintf("ctx %s%.0f%% of %s", about, s.usage.percent, thousands(s.usage.window)), style},
		)
	} else {
		parts = append(parts, span{"ctx " + about + thousands(s.usage.used), none})
	}
	parts = append(parts, span{fmt.Sprintf("↑%s ↓%s", thousands(s.usage.in), thousands(s.usage.out)), none})
	if s.auto {
		parts = append(parts, span{"auto", yellow})
	}
	if s.think != "" && s.think != "off" {
		parts = append(parts, span{"think " + s.think, none})
	}
	switch {
	case s.sandbox.Enforced:
		parts = append(parts, span{"sandbox enforced", green})
	case s.sandbox.Enabled:
		parts = append(parts, span{"sandbox requested, not enforced", red})
	default:
		parts = append(parts, span{"sandbox off", none})
	}
	return joinParts(parts, m.width)
}

// joinParts puts parts behind one another until the line is full.
func joinParts(parts []span, limit int) string {
	var b strings.Builder
	used := 1
	b.WriteString(" ")
	for i, p := range parts {
		text := terminal.OneLine(p.text)
		if i > 0 {
			if used+3+width.Of(text) > limit {
				break
			}
			b.WriteString(grey.paint(" · "))
			used += 3
		}
		text = width.Fit(text, max(limit-used, 0))
		style := p.style
		if style == none {
			style = grey
		}
		b.WriteString(style.paint(text))
		used += width.Of(text)
	}
	return b.String()
}

// thousands is a number in short.
func thousands(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
