package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/line"
)

// key takes a key. What is open on the screen has it first.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	name, typed := msg.String(), msg.Text
	if name != "ctrl+c" {
		m.view.quit = false
	}
	m.view.flash = ""
	if name == "ctrl+l" {
		return tea.ClearScreen
	}
	switch {
	case m.pick != nil:
		pick := m.pick
		cmd, closed := pick.key(m, name, typed)
		if closed && m.pick == pick {
			m.pick = nil
		}
		return tea.Batch(cmd, m.wake())
	case len(m.asks) > 0:
		return m.questionKey(name, typed)
	case m.find != nil:
		m.findKey(name, typed)
		return nil
	}
	if m.menuKey(name) {
		return m.needFiles()
	}
	if cmd, used := m.global(name); used {
		return cmd
	}
	return m.edits(name, typed)
}

// wake makes sure that the spinner turns while something runs.
func (m *model) wake() tea.Cmd {
	if m.run.jobs > 0 && !m.run.ticking {
		m.run.ticking = true
		return ticker()
	}
	return nil
}

func (m *model) questionKey(name, typed string) tea.Cmd {
	q := m.asks[0]
	if typed != "" && !m.input.Empty() && time.Since(q.shown) < typingGrace {
		// The user was typing when the question came up: that is no answer to it.
		m.input.Apply(line.Key{Name: name, Text: typed})
		return nil
	}
	if name == "ctrl+c" || name == "esc" && q.ask != nil {
		m.run.asked = true
		m.ui.Cancel()
		return nil
	}
	q.key(name, typed)
	if q.finished() {
		m.asks = m.asks[1:]
	}
	return nil
}

// typingGrace is how long keys still belong to what was being typed when a question
// came up.
const typingGrace = 700 * time.Millisecond

// switches are the keys that act on the session.
var switches = map[string]func() job{
	"shift+tab": cycleAgent,
	"tab":       cycleMode,
	"ctrl+a":    func() job { return job{quiet: true, run: flipAuto} },
	"ctrl+t":    func() job { return toggle(flipVerbose) },
	"ctrl+s":    func() job { return toggle(flipSandbox) },
}

// global handles the keys that do not edit.
func (m *model) global(name string) (cmd tea.Cmd, used bool) {
	if m.view.prefix {
		m.view.prefix = false
		if name == "ctrl+e" {
			return m.edit(), true
		}
	}
	// Whoever types wants the beginning of the line.
	if make, ok := switches[name]; ok && (name != "ctrl+a" || m.input.Empty()) {
		if m.run.jobs > 0 {
			m.view.flash = "happens when the turn has ended"
		}
		if name == "ctrl+t" {
			m.blocks.showThinking(!m.blocks.thinking)
		}
		return m.do(make()), true
	}
	page := max(m.log.height-2, 1)
	switch name {
	case "ctrl+c":
		return m.interrupt(), true
	case "esc":
		if m.run.jobs > 0 {
			m.run.asked = true
			m.ui.Cancel()
		} else {
			m.log.end()
		}
	case "ctrl+d":
		if !m.input.Empty() {
			return nil, false
		}
		return tea.Quit, true
	case "ctrl+z":
		return tea.Suspend, true
	case "ctrl+x":
		m.view.prefix = true
	case "ctrl+g":
		return m.edit(), true
	case "pgup":
		m.log.scroll(-page)
	case "pgdown":
		m.log.scroll(page)
	case "ctrl+home":
		m.log.home()
	case "ctrl+end":
		m.log.end()
	case "ctrl+o":
		if !m.log.toggleLast() {
			m.view.flash = "nothing to open here"
		}
	case "alt+o":
		m.blocks.toggleAll()
	case "ctrl+f":
		m.find = &finder{field: oneLine(), at: place{entry: len(m.log.entries)}}
	case "ctrl+r":
		m.pickHistory()
	case "alt+c":
		return m.copy(), true
	case "alt+m":
		m.view.noMouse = !m.view.noMouse
		m.view.flash = "mouse: on"
		if m.view.noMouse {
			m.view.flash = "mouse: off, the terminal selects text"
		}
	case "f1":
		m.help()
	default:
		return nil, false
	}
	return nil, true
}

// interrupt is Ctrl+C: it cancels, clears, or asks once more before it quits.
func (m *model) interrupt() tea.Cmd {
	switch {
	case m.run.jobs > 0 && !m.run.asked:
		m.run.asked = true
		m.ui.Cancel()
	case m.run.jobs > 0 && m.view.quit, m.input.Empty() && m.view.quit:
		return tea.Quit
	case !m.input.Empty() && m.run.jobs == 0:
		m.input.Set("")
		m.giveBack()
		m.complete()
		return nil
	default:
		m.view.quit = true
		m.view.flash = "press Ctrl+C again to quit"
	}
	return nil
}

// edits hands a key to the editor, and submits what was typed.
func (m *model) edits(name, typed string) tea.Cmd {
	switch m.input.Apply(line.Key{Name: name, Text: typed}) {
	case line.Ignored:
		return nil
	case line.Submitted:
		text := strings.TrimSpace(m.input.Value())
		m.ui.history.Add(text)
		if m.input.Set(""); text == "" {
			m.giveBack()
		}
		m.complete()
		return m.send(text)
	}
	m.complete()
	return m.needFiles()
}

// findKey handles the keys of the search.
func (m *model) findKey(name, typed string) {
	f := m.find
	switch name {
	case "esc", "ctrl+c":
		m.find = nil
		return
	case "enter", "up", "ctrl+f", "ctrl+r":
		at, ok := m.log.find(f.field.Value(), f.at, true)
		f.at, f.miss = at, !ok
		return
	case "down", "shift+enter":
		at, ok := m.log.find(f.field.Value(), f.at, false)
		f.at, f.miss = at, !ok
		return
	case "pgup":
		m.log.scroll(-max(m.log.height-2, 1))
		return
	case "pgdown":
		m.log.scroll(max(m.log.height-2, 1))
		return
	}
	if changes(f.field, name, typed) {
		f.miss = false
		f.at = place{entry: len(m.log.entries)}
	}
}

// copy puts the last answer on the clipboard of the terminal.
func (m *model) copy() tea.Cmd {
	for i := len(m.log.entries) - 1; i >= 0; i-- {
		e := m.log.entries[i]
		if a, ok := e.block.(*answer); ok && e.agent == "" {
			m.view.flash = "copied the last answer"
			return tea.SetClipboard(strings.TrimSpace(a.text()))
		}
	}
	m.view.flash = "there is no answer yet"
	return nil
}
