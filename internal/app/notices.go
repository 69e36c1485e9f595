package app

import "sync"

// notices are texts for the user. Those from before somebody can show them wait.
type notices struct {
	mu      sync.Mutex
	show    func(source, text string)
	waiting [][2]string
}

// say shows a text now, or as soon as it can be shown.
func (n *notices) say(source, text string) {
	n.mu.Lock()
	show := n.show
	if show == nil {
		n.waiting = append(n.waiting, [2]string{source, text})
	}
	n.mu.Unlock()
	if show != nil {
		show(source, text)
	}
}

// shown reports whether notices are shown at once.
func (n *notices) shown() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.show != nil
}

// deliver shows what waits, and from now on everything at once.
func (n *notices) deliver(show func(source, text string)) {
	n.mu.Lock()
	waiting := n.waiting
	n.show, n.waiting = show, nil
	n.mu.Unlock()
	for _, w := range waiting {
		show(w[0], w[1])
	}
}
