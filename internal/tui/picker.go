package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/line"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
	"github.com/idelchi/aura/internal/wording"
)

// option is one thing that can be picked.
type option struct {
	name   string
	detail string
	more   string // Shown below the list while the option is selected.
	active bool
	value  string
}

// picker is a list to choose from, with a filter. It covers the transcript.
type picker struct {
	title  string
	all    []option
	found  []option
	filter *line.Editor
	at     int
	pick   func(m *model, o option) tea.Cmd
}

func newPicker(title string, all []option, pick func(*model, option) tea.Cmd) *picker {
	p := &picker{title: title, all: all, pick: pick, filter: oneLine()}
	p.search()
	p.at = max(slices.IndexFunc(p.found, func(o option) bool { return o.active }), 0)
	return p
}

// search keeps the options that contain every word of the filter; those whose
// name begins with it come first.
func (p *picker) search() {
	words := strings.Fields(strings.ToLower(p.filter.Value()))
	p.found, p.at = p.found[:0], 0
	var rest []option
	for _, o := range p.all {
		text := strings.ToLower(o.name + " " + o.detail)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			if len(words) > 0 && strings.Contains(strings.ToLower(o.name), words[0]) {
				p.found = append(p.found, o)
			} else {
				rest = append(rest, o)
			}
		}
	}
	p.found = append(p.found, rest...)
}

// key takes a key; closed says that the list is to be closed.
func (p *picker) key(m *model, name, typed string) (cmd tea.Cmd, closed bool) {
	n := len(p.found)
	switch name {
	case "esc", "ctrl+c":
		return nil, true
	case "up", "ctrl+p":
		p.at = max(p.at-1, 0)
	case "down", "ctrl+n":
		p.at = min(p.at+1, max(n-1, 0))
	case "pgup":
		p.at = max(p.at-10, 0)
	case "pgdown":
		p.at = min(p.at+10, max(n-1, 0))
	case "enter":
		if n == 0 {
			return nil, true
		}
		return p.pick(m, p.found[p.at]), true
	default:
		if changes(p.filter, name, typed) {
			p.search()
		}
	}
	return nil, false
}

// draw fills height lines.
func (p *picker) draw(limit, height int) (lines []string, x, y int) {
	head := bold.paint(width.Fit(p.title, limit)) + grey.paint(fmt.Sprintf("  %d of %d", len(p.found), len(p.all)))
	rows, fy, fx := p.filter.Rows(line.Room{Width: max(limit-10, 4)})
	lines = append(lines, head, cyan.paint("search: ")+rows[fy].Text, "")
	x, y = 8+fx, 1
	var more []string
	if p.at < len(p.found) && p.found[p.at].more != "" {
		more = append([]string{""}, wrapText(terminal.Clean(p.found[p.at].more), grey, limit-2)...)
		more = more[:min(len(more), height/3)]
	}
	room := max(height-len(lines)-len(more)-1, 1)
	first := max(0, min(p.at-room/2, len(p.found)-room))
	names := 0
	for _, o := range p.found[first:min(first+room, len(p.found))] {
		names = max(names, min(width.Of(o.name), limit/2))
	}
	for i := first; i < min(first+room, len(p.found)); i++ {
		lines = append(lines, p.line(p.found[i], i == p.at, names, limit))
	}
	if len(p.found) == 0 {
		lines = append(lines, grey.paint("  nothing matches"))
	}
	lines = append(lines, prefixed(more, "", "  ")...)
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	return append(lines, grey.paint(width.Fit("↑↓ select · Enter takes it · Esc closes", limit))), x, y
}

func (p *picker) line(o option, selected bool, names, limit int) string {
	mark := "  "
	if o.active {
		mark = "* "
	}
	name := width.Pad(width.Fit(terminal.OneLine(o.name), names), names)
	text := mark + name
	detail := width.Fit("  "+terminal.OneLine(o.detail), max(limit-width.Of(text), 0))
	if selected {
		return reverse.paint(width.Pad(text+detail, limit))
	}
	return text + grey.paint(detail)
}

// Lists of the session.

func options(list []commands.Choice) []option {
	out := make([]option, len(list))
	for i, c := range list {
		out[i] = option{name: c.Name, detail: c.Description, active: c.Active, value: c.Name}
	}
	return out
}

// command picks by sending a slash command.
func command(name string) func(*model, option) tea.Cmd {
	return func(m *model, o option) tea.Cmd {
		return m.send("/" + name + " " + o.value)
	}
}

func (m *model) pickMode() {
	list := append(
		slices.Clone(m.lists.modes),
		commands.Choice{Name: "none", Description: "No mode", Active: m.state.mode == ""},
	)
	m.pick = newPicker("Modes", options(list), command("mode"))
}

func (m *model) showSessions(list []option) { m.pick = newPicker("Sessions", list, command("resume")) }

func (m *model) pickHistory() {
	entries := m.ui.history.Entries()
	list := make([]option, 0, len(entries))
	for _, e := range slices.Backward(entries) {
		list = append(list, option{name: wording.FirstLine(e), value: e})
	}
	m.pick = newPicker("What you typed before", list, func(m *model, o option) tea.Cmd {
		m.input.Set(o.value)
		return nil
	})
}

// help lists keys and commands; picking a command types it.
func (m *model) help() {
	var list []option
	for _, c := range m.lists.commands {
		name := strings.Join(append([]string{"/" + c.Name}, c.Hints...), " ")
		detail := c.Description
		if c.Source != "" {
			detail = strings.TrimSpace(fmt.Sprintf("%s (%s)", detail, c.Source))
		}
		list = append(list, option{name: name, detail: detail, more: c.Details, value: "/" + c.Name + " "})
	}
	for _, k := range keys {
		list = append(list, option{name: k.key, detail: k.does})
	}
	m.pick = newPicker("Help: commands and keys", list, func(m *model, o option) tea.Cmd {
		if o.value != "" {
			m.input.Set(o.value)
			m.complete()
		}
		return nil
	})
}

// keys are the keys of the interface, as /help and the documentation list them.
var keys = []struct{ key, does string }{
	{"Enter", "send; while a turn runs, queue"},
	{"Shift+Enter, Alt+Enter, Ctrl+J", "new line (a \\ before Enter does the same)"},
	{"Esc, Ctrl+C", "cancel the turn; Ctrl+C twice while idle quits"},
	{"Ctrl+D", "quit, if nothing is typed"},
	{"Shift+Tab", "next agent"},
	{"Tab", "next mode; in a menu, complete"},
	{"Ctrl+A", "auto mode on or off; while you type, to the beginning of the line"},
	{"Ctrl+T", "show or hide thinking"},
	{"Ctrl+S", "sandbox on or off"},
	{"Ctrl+O", "open or fold the lowest folded block in view (or click it)"},
	{"Alt+O", "open or fold all blocks"},
	{"PgUp, PgDn, wheel", "scroll"},
	{"Ctrl+Home, Ctrl+End", "to the beginning, to the end"},
	{"Ctrl+F", "search in the conversation"},
	{"Ctrl+R", "search in what you typed before"},
	{"Alt+C", "copy the last answer (OSC 52)"},
	{"Alt+M", "mouse on or off, to select text with it"},
	{"Ctrl+G, Ctrl+X Ctrl+E", "edit the input in $VISUAL or $EDITOR"},
	{"Ctrl+L", "draw the screen anew"},
	{"Ctrl+Z", "suspend"},
	{"/", "commands"},
	{"@", "files"},
	{"F1", "this list"},
}
