package tui

import (
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
)

// menu is what can complete the input.
type menu struct {
	items  []option
	at     int
	closed bool // Until the input changes.
	files  bool
}

const menuRows = 8

// complete computes the menu for what is typed.
func (m *model) complete() {
	m.menu = menu{}
	typed := m.input.Before()
	switch word := typed[strings.LastIndexAny(typed, " \t\n")+1:]; {
	case strings.HasPrefix(typed, "/") && word == typed && m.input.AtEnd():
		m.menu.items = matchCommands(m.lists.commands, strings.ToLower(word[1:]))
	case strings.HasPrefix(word, "@"):
		m.menu.files = true
		m.menu.items = matchFiles(m.files.list, word[1:])
	}
}

// matchCommands finds commands by the beginning of their names, then by a part.
func matchCommands(list []commands.Command, word string) []option {
	var first, second []option
	for _, c := range list {
		detail := c.Description
		if c.Source != "" {
			detail = strings.TrimSpace(detail + " (" + c.Source + ")")
		}
		o := option{
			name:   strings.Join(append([]string{"/" + c.Name}, c.Hints...), " "),
			detail: detail,
			value:  "/" + c.Name,
		}
		if len(c.Hints) > 0 {
			o.value += " "
		}
		switch {
		case strings.HasPrefix(strings.ToLower(c.Name), word):
			first = append(first, o)
		case strings.Contains(strings.ToLower(c.Name), word):
			second = append(second, o)
		}
	}
	return append(first, second...)
}

// matchFiles finds files by a part of their path; the base name counts most.
func matchFiles(list []string, word string) []option {
	word = strings.ToLower(word)
	var first, second []option
	for _, path := range list {
		lower := strings.ToLower(path)
		if !strings.Contains(lower, word) {
			continue
		}
		o := option{name: path, value: path + " "}
		if strings.HasPrefix(lower, word) || strings.HasPrefix(lower[strings.LastIndexByte(lower, '/')+1:], word) {
			first = append(first, o)
		} else if len(second) < 200 {
			second = append(second, o)
		}
		if len(first) >= 200 {
			break
		}
	}
	return append(first, second...)
}

func (n *menu) visible() bool { return !n.closed && len(n.items) > 0 }

// menuKey lets the menu have a key; used says that it took it.
func (m *model) menuKey(name string) (used bool) {
	if !m.menu.visible() {
		return false
	}
	n := len(m.menu.items)
	switch name {
	case "up", "ctrl+p":
		m.menu.at = (m.menu.at + n - 1) % n
	case "down", "ctrl+n":
		m.menu.at = (m.menu.at + 1) % n
	case "esc":
		m.menu.closed = true
	case "tab":
		m.accept()
	case "enter":
		chosen := m.menu.items[m.menu.at]
		if !m.menu.files &&
			(strings.TrimSpace(chosen.value) == m.input.Value() || !strings.HasSuffix(chosen.value, " ")) {
			m.input.Set(strings.TrimSpace(chosen.value)) // Complete: Enter sends it.
			m.menu = menu{}
			return false
		}
		m.accept()
	default:
		return false
	}
	return true
}

// accept takes the selected item into the input.
func (m *model) accept() {
	m.input.ReplaceWord(m.menu.items[m.menu.at].value)
	m.menu = menu{}
}

// draw shows the menu.
func (n *menu) draw(limit int) []string {
	first := max(0, min(n.at-menuRows/2, len(n.items)-menuRows))
	last := min(first+menuRows, len(n.items))
	names := 0
	for _, o := range n.items[first:last] {
		names = max(names, min(width.Of(o.name), limit/2))
	}
	if n.files {
		names = limit - 4
	}
	var lines []string
	for i := first; i < last; i++ {
		o := n.items[i]
		text := "  " + width.Pad(width.Fit(terminal.OneLine(o.name), names), names)
		detail := width.Fit("  "+terminal.OneLine(o.detail), max(limit-width.Of(text), 0))
		if i == n.at {
			lines = append(lines, reverse.paint(width.Pad(text+detail, limit)))
		} else {
			lines = append(lines, width.Pad(text, 0)+grey.paint(detail))
		}
	}
	return lines
}

// ghost is the text behind the cursor that says what can follow.
func (m *model) ghost() string {
	if !m.input.AtEnd() || m.input.Empty() {
		return ""
	}
	typed := m.input.Before()
	name, args, ok := commands.Parse(typed)
	if !ok || !strings.ContainsAny(typed, " ") {
		return ""
	}
	i := slices.IndexFunc(m.lists.commands, func(c commands.Command) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return ""
	}
	hints := m.lists.commands[i].Hints
	filled := len(strings.Fields(args))
	if args != "" && !strings.HasSuffix(typed, " ") {
		return "" // In the middle of a word.
	}
	if filled >= len(hints) {
		return ""
	}
	return strings.Join(hints[filled:], " ")
}

// fileList is the files of the project, for the menu.
type fileList struct {
	list    []string
	loading bool
	at      time.Time
}

type filesFound []string

const (
	maxFiles  = 20000
	filesLife = 15 * time.Second
)

// needFiles lists the files in the background if the menu wants them.
func (m *model) needFiles() tea.Cmd {
	if !m.menu.files || m.files.loading || time.Since(m.files.at) < filesLife {
		return nil
	}
	m.files.loading = true
	dir := m.ui.opts.Workdir
	return func() tea.Msg { return filesFound(listFiles(dir)) }
}

// listFiles asks git, which knows what to leave out, and else looks itself.
func listFiles(dir string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	if out, err := cmd.Output(); err == nil {
		list := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
		return list[:min(len(list), maxFiles)]
	}
	var list []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || len(list) >= maxFiles:
			return fs.SkipAll
		case err != nil:
			return nil
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir():
			if rel, err := filepath.Rel(dir, path); err == nil {
				list = append(list, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	return list
}
