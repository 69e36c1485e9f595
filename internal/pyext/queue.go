package pyext

import (
	"sync"
	"time"
)

// pending is a call that has not been answered.
type pending struct {
	id      int64
	owner   int
	timeout time.Duration
	since   time.Time  // When it got to the head of the line.
	due     time.Time  // When it is looked at again.
	parked  bool       // A coroutine that waits.
	told    bool       // That its time is up.
	events  chan frame // Answers and questions; closed when the process died.
	started bool       // When the process died: it had been begun.
	done    func()     // Called in place of events, for calls that nobody waits for.

	abandoned bool // Cancelled by the user.
}

// queue holds the calls that Python has not answered, and their clock. Python runs
// one function at a time, so only the head of the line uses up its time; that of the
// next one begins when it gets there. A coroutine that waits is parked: it has left
// the line and its time goes on.
type queue struct {
	late func(*pending) // Called without the lock for every call that is due.

	mu     sync.Mutex
	calls  map[int64]*pending
	line   []*pending // Calls that have not begun or are running, oldest first.
	next   int64
	closed bool
	alarm  *time.Timer // One for all calls. It stays on when they end: most end long before it rings.
	rings  time.Time   // When; zero while it is off.
}

// add gives a call a number and starts its clock. False: no call can be made any more.
func (q *queue) add(c *pending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.next++
	c.id, c.since = q.next, time.Now()
	q.calls[c.id] = c
	q.line = append(q.line, c)
	q.remind(c, c.timeout)
	return true
}

// deliver takes a frame about a call to whoever waits for it. A call that nobody
// waits for is returned.
func (q *queue) deliver(f *frame) (unattended *pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.calls[f.ID]
	if c == nil {
		return nil
	}
	if f.Ask == "" {
		q.leave(c)
		c.parked = true
		if f.Await {
			return nil
		}
		delete(q.calls, f.ID)
	}
	if c.done != nil {
		return c
	}
	select {
	case c.events <- *f:
	default: // Nobody asks that many questions at once.
	}
	return nil
}

// leave makes room for the call behind c, whose time begins now. The caller holds mu.
func (q *queue) leave(c *pending) {
	for i, other := range q.line {
		if other != c {
			continue
		}
		q.line = append(q.line[:i], q.line[i+1:]...)
		if i == 0 && len(q.line) > 0 {
			head := q.line[0]
			head.since = time.Now()
			q.remind(head, head.timeout)
		}
		return
	}
}

// abandon marks a call that nobody waits for any longer; it gets some time to end.
// False: it has ended.
func (q *queue) abandon(c *pending, patience time.Duration) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, waiting := q.calls[c.id]; !waiting {
		return false
	}
	c.abandoned, c.told, c.done = true, true, func() {}
	c.timeout, c.since = patience, time.Now()
	q.remind(c, patience)
	return true
}

// wasTold reports whether a call had been told that its time is up.
func (q *queue) wasTold(c *pending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return c.told
}

// remind has a call looked at again after some time. The caller holds mu.
func (q *queue) remind(c *pending, after time.Duration) {
	c.due = time.Now().Add(after)
	if !q.rings.IsZero() && !c.due.Before(q.rings) {
		return
	}
	q.rings = c.due
	if q.alarm == nil {
		q.alarm = time.AfterFunc(after, q.look)
		return
	}
	q.alarm.Reset(after)
}

// look finds the calls that are due.
func (q *queue) look() {
	q.mu.Lock()
	q.rings = time.Time{}
	now := time.Now()
	var due []*pending
	for _, c := range q.calls {
		if left := c.due.Sub(now); left > 0 {
			q.remind(c, left)
		} else {
			due = append(due, c)
		}
	}
	q.mu.Unlock()
	for _, c := range due {
		q.late(c)
	}
}

// lateness is what is to be done about a call that is due.
type lateness int

const (
	inTime lateness = iota // Nothing: it has ended, or its time is not up.
	nudge                  // A coroutine: it can be told to end, and gets a moment for that.
	deaf                   // The user cancelled it and it goes on.
	hung                   // It blocks, or it was told and goes on.
)

// judge finds out whether the time of a call that is due is really up, and how long
// that time was.
func (q *queue) judge(c *pending) (lateness, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, waiting := q.calls[c.id]; !waiting || q.closed {
		return inTime, c.timeout
	}
	if !c.parked && q.line[0] != c {
		q.remind(c, c.timeout) // It has not begun: somebody else is running.
		return inTime, c.timeout
	}
	if left := c.timeout - time.Since(c.since); !c.parked && left > 0 {
		q.remind(c, left)
		return inTime, c.timeout
	}
	switch {
	case c.parked && !c.told:
		c.told = true
		q.remind(c, awaitGrace)
		return nudge, c.timeout
	case c.abandoned:
		return deaf, c.timeout
	}
	return hung, c.timeout
}

// head is the owner of the call that is running, 0 if none is.
func (q *queue) head() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.line) == 0 {
		return 0
	}
	return q.line[0].owner
}

// close lets no further call in.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// release lets go of everybody who waits. The queue is closed.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, c := range q.calls {
		c.started = c.parked || len(q.line) > 0 && q.line[0] == c
		delete(q.calls, id)
		if c.done == nil {
			close(c.events)
		}
	}
	q.line = nil
	if q.alarm != nil {
		q.alarm.Stop()
	}
}
