package conversation

import (
	"strings"
	"sync"
)

// Label is how a session is called.
type Label struct {
	mu    sync.Mutex
	title string // What it is about.
	name  string // How the user calls it.
}

// Title is what the session is about.
func (l *Label) Title() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.title
}

// Name is how the user calls the session.
func (l *Label) Name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

// SetTitle sets what the session is about.
func (l *Label) SetTitle(title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.title = title
}

// SetName sets how the user calls the session.
func (l *Label) SetName(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name = name
}

// Set sets both.
func (l *Label) Set(title, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.title, l.name = title, name
}

// Propose takes the beginning of a text for a title, if there is none yet. A limit of 0
// proposes nothing.
func (l *Label) Propose(text string, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.title == "" && limit > 0 {
		l.title = TitleOf(text, limit)
	}
}

// TitleOf makes a title of the first line of a text, at most limit characters.
func TitleOf(text string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > limit {
		line = strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return line
}
