package plugin

import (
	"context"
	"slices"
	"sync"
)

// gate serialises the calls into a plugin. It is a read-write lock whose waiters
// give up when their context ends, served in order of arrival.
type gate struct {
	mu    sync.Mutex
	held  int // -1: exclusively; otherwise by how many that share.
	queue []*waiter
}

type waiter struct {
	shared bool
	ready  chan struct{}
}

// enter waits for the turn of a call and reports whether it came before the context
// or the plugin ended. Calls that share run side by side.
func (g *gate) enter(ctx context.Context, ended <-chan struct{}, shared bool) bool {
	g.mu.Lock()
	if len(g.queue) == 0 && g.admits(shared) {
		g.take(shared)
		g.mu.Unlock()
		return true
	}
	w := &waiter{shared, make(chan struct{})}
	g.queue = append(g.queue, w)
	g.mu.Unlock()
	select {
	case <-w.ready:
		return true
	case <-ended:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, w); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	} else { // Admitted in the same moment.
		g.drop(shared)
	}
	g.wake()
	return false
}

// leave ends a call.
func (g *gate) leave(shared bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(shared)
	g.wake()
}

func (g *gate) admits(shared bool) bool { return g.held == 0 || shared && g.held > 0 }

func (g *gate) take(shared bool) {
	if shared {
		g.held++
	} else {
		g.held = -1
	}
}

func (g *gate) drop(shared bool) {
	if shared {
		g.held--
	} else {
		g.held = 0
	}
}

func (g *gate) wake() {
	for len(g.queue) > 0 && g.admits(g.queue[0].shared) {
		w := g.queue[0]
		g.queue = slices.Delete(g.queue, 0, 1)
		g.take(w.shared)
		close(w.ready)
	}
}
