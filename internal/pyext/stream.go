package pyext

import (
	"fmt"
	"sync"

	"github.com/idelchi/aura/sdk"
)

// chunks holds pieces of a stream that have not been sent.
type chunks struct {
	mu       sync.Mutex
	items    [][]byte
	context  *sdk.Context
	inFlight bool // Python works on some: the next ones gather.
}

// maxChunks is how many pieces of a stream may wait; then the stream does.
const maxChunks = 2048

// add keeps a piece. idle: it can be sent at once; full: it is time to wait.
func (c *chunks) add(item []byte, context *sdk.Context) (idle, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items, c.context = append(c.items, item), context
	return !c.inFlight, len(c.items) >= maxChunks
}

// take returns the pieces that wait; from now on they are in flight.
func (c *chunks) take() ([][]byte, *sdk.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := c.items
	c.items, c.inFlight = nil, len(items) > 0
	return items, c.context
}

// landed says that Python has worked on what was sent, and reports whether there is more.
func (c *chunks) landed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight = false
	return len(c.items) > 0
}

// stream hands a piece of a stream to Python without waiting for an answer. While
// Python works on some pieces, the next ones gather and go together.
func (p *process) stream(item []byte, c *sdk.Context) (full bool) {
	idle, full := p.chunks.add(item, c)
	if idle {
		p.flushNow()
	}
	return full
}

func (p *process) flushNow() {
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	p.flush()
}

// flush sends the pieces that wait. The caller holds to.mu.
func (p *process) flush() {
	items, context := p.chunks.take()
	if len(items) == 0 {
		return
	}
	pd := &pending{timeout: p.host.opts.Timeout, done: func() {
		if p.chunks.landed() {
			p.host.wg.Go(p.flushNow)
		}
	}}
	if !p.queue.add(pd) {
		return
	}
	frame := fmt.Appendf(nil, `{"op":"chunks","id":%d,"items":[`, pd.id)
	for i, item := range items {
		if i > 0 {
			frame = append(frame, ',')
		}
		frame = append(frame, item...)
	}
	frame = p.to.appendFacts(append(frame, ']'), context)
	p.to.write(append(frame, "}\n"...))
}

// barrier sends what waits and a call that does nothing: its answer comes when
// everything before it has been worked on.
func (p *process) barrier(pd *pending) error {
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	p.flush()
	if !p.queue.add(pd) {
		return errLost
	}
	p.to.write(fmt.Appendf(nil, `{"op":"chunks","id":%d,"items":[]}`+"\n", pd.id))
	return nil
}
