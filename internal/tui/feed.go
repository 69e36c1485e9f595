package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/render"
)

// item is one thing that the session reports. One of its fields is set.
type item struct {
	event     agent.Event
	more      []byte        // Text that was added to the event.
	change    []render.Line // Of a tool call that begins.
	record    *lifecycle.Record
	print     string
	state     *state
	question  *question
	withdrawn *question
	ended     *ended
}

// batch is what was reported since the last one.
type batch struct {
	items   []item
	handler string // Who runs right now.
}

// feed collects what the session reports until the screen is ready for it. It
// never makes the session wait. Neighbouring pieces of one text become one.
type feed struct {
	mu      *sync.Mutex
	items   []item
	handler string
	wake    chan struct{}
}

func newFeed() feed { return feed{mu: new(sync.Mutex), wake: make(chan struct{}, 1)} }

// frame is the time between two batches: what a screen can show.
const frame = 16 * time.Millisecond

func (f *feed) push(it item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.items); n > 0 && f.items[n-1].takes(&it) {
		f.items[n-1].more = append(f.items[n-1].more, it.event.Text...)
	} else {
		f.items = append(f.items, it)
	}
	f.signal()
}

// takes reports whether an item continues the text of this one.
func (it *item) takes(next *item) bool {
	a, b := &it.event, &next.event
	switch a.Kind {
	case agent.TextDelta, agent.ThoughtDelta, agent.ToolOutput:
		return a.Kind == b.Kind && a.Agent == b.Agent && a.CallID == b.CallID
	}
	return false
}

// handling notes who runs; empty is nobody.
func (f *feed) handling(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handler != name {
		f.handler = name
		f.signal()
	}
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed) take() batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := batch{f.items, f.handler}
	f.items = nil
	return b
}

// pump sends what was reported, at most once per frame, until ctx ends.
func (f *feed) pump(ctx context.Context, send func(tea.Msg)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		send(f.take())
		timer.Reset(frame)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}
