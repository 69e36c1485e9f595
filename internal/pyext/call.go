package pyext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// call is something that Python shall do.
type call struct {
	owner    int
	op       string // "event", "tool" or "command".
	fields   []byte // The rest of the frame: `"name":...,"args":...`.
	context  *sdk.Context
	timeout  time.Duration
	messages []sdk.Message // What before_turn works on.
}

// raised is an error of the extension's own code.
type raised struct{ text string }

func (e *raised) Error() string { return e.text }

// errOff is the error of calls to an extension that is out of service.
type errOff struct{ why string }

func (e *errOff) Error() string { return "switched off: " + e.why + " (/reload starts it again)" }

// call has Python do c and returns what it answered.
func (h *Host) call(ctx context.Context, c *call) (json.RawMessage, error) {
	h.remember(c.context)
	for attempt := 0; ; attempt++ {
		p, err := h.current(ctx)
		h.mu.Lock()
		why := h.off[c.owner]
		h.mu.Unlock()
		if why != "" {
			return nil, &errOff{why}
		}
		if err != nil {
			return nil, err
		}
		h.replay(ctx, p, c)
		answer, err := p.do(ctx, c)
		if errors.Is(err, errLost) && attempt < 2 {
			continue // It had not begun: the next process does it.
		}
		return answer, err
	}
}

// errLost is the error of a call whose process ended before the call was begun.
var errLost = errors.New("the Python process ended")

// replay tells a process that took over from another one that the session has
// started, as the first thing it hears.
func (h *Host) replay(ctx context.Context, p *process, c *call) {
	p.replay.Do(func() {
		h.mu.Lock()
		begun := h.begun
		h.mu.Unlock()
		if !begun {
			return
		}
		data := &lifecycle.Event{Moment: lifecycle.SessionStart, Data: &sdk.SessionStartContext{Context: *c.context, Resumed: true}}
		for _, b := range h.handlers(lifecycle.SessionStart) {
			first, err := b.call(data)
			if err == nil && h.inService(b.owner) {
				_, err = p.do(ctx, first)
			}
			if err != nil {
				h.opts.Logger.Warn("session_start after a restart", "extension", b.source.Name, "error", err)
			}
		}
	})
}

// do sends a call and waits for its answer. Questions that the extension has
// meanwhile are answered on this goroutine, while the agent waits for it.
func (p *process) do(ctx context.Context, c *call) (json.RawMessage, error) {
	pd := &pending{owner: c.owner, timeout: c.timeout, events: make(chan frame, 4)}
	if err := p.post(pd, c); err != nil {
		return nil, err
	}
	for {
		select {
		case f, ok := <-pd.events:
			switch {
			case !ok:
				return nil, p.verdict(pd)
			case f.Ask != "":
				p.tell(f, c)
			case f.Error != nil:
				return nil, p.failed(pd, &f)
			default:
				return f.Ok, nil
			}
		case <-ctx.Done():
			p.abandon(pd)
			return nil, ctx.Err()
		}
	}
}

// post puts a call into the queue and writes its frame.
func (p *process) post(pd *pending, c *call) error {
	p.write.Lock()
	defer p.write.Unlock()
	p.flush()
	if !p.enqueue(pd) {
		return errLost
	}
	frame := append(append(append(p.buffer[:0], `{"op":"`...), c.op...), `","id":`...)
	frame = append(strconv.AppendInt(frame, pd.id, 10), `,"owner":`...)
	frame = append(strconv.AppendInt(frame, int64(c.owner), 10), ',')
	frame = append(frame, c.fields...)
	frame = p.appendFacts(frame, c.context)
	frame = append(frame, "}\n"...)
	if len(frame) <= maxBuffer {
		p.buffer = frame
	}
	// An error means that the process is gone: the reader reports it.
	_, _ = p.in.Write(frame)
	return nil
}

// maxBuffer is the largest frame whose memory is used again.
const maxBuffer = 64 << 10

// enqueue gives a call a number and starts its clock. False: the process is dead.
func (p *process) enqueue(pd *pending) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false
	}
	p.next++
	pd.id, pd.since = p.next, time.Now()
	p.calls[pd.id] = pd
	p.queue = append(p.queue, pd)
	p.remind(pd, pd.timeout)
	return true
}

// appendFacts adds the facts to a frame if they are news.
func (p *process) appendFacts(frame []byte, c *sdk.Context) []byte {
	now := factsOf(c, p.facts.Config.Vars.values)
	if now.Config.Vars.values == nil && c.Vars != nil {
		now.Config.Vars.values = new(c.Vars)
	}
	if now == p.facts {
		return frame
	}
	data, err := marshal(now)
	if err != nil {
		return frame
	}
	p.facts = now
	return append(append(frame, `,"facts":`...), data...)
}

// tell answers a question of a running call.
func (p *process) tell(f frame, c *call) {
	var value any
	switch f.Ask {
	case "messages":
		value = conversation(p.host.opts.Messages())
	case "turn":
		value = c.messages
	case "snapshot":
		value = c.context
	}
	data, err := marshal(value)
	if err != nil {
		data = []byte("null")
	}
	p.send(fmt.Sprintf(`{"op":"answer","id":%d,"value":%s}`, f.Number, data))
}

// failed is the error of a call that Python could not complete.
func (p *process) failed(pd *pending, f *frame) error {
	p.mu.Lock()
	late := pd.told
	p.mu.Unlock()
	if late {
		return &lifecycle.Fault{Verdict: lifecycle.TimedOut, Err: fmt.Errorf("timed out after %s", pd.timeout)}
	}
	if f.Trace != "" {
		p.host.opts.Logger.Warn("extension raised", "extension", p.host.name(pd.owner), "error", *f.Error, "trace", f.Trace)
	}
	return &lifecycle.Fault{Err: &raised{*f.Error}}
}

// verdict is the error of a call whose process ended.
func (p *process) verdict(pd *pending) error {
	d := p.cause()
	switch {
	case d.culprit == pd.owner && d.hung:
		return &lifecycle.Fault{Verdict: lifecycle.TimedOut, Err: errors.New(d.why)}
	case d.culprit == pd.owner:
		return &lifecycle.Fault{Err: errors.New(d.why)}
	case !pd.started:
		return errLost
	}
	return fmt.Errorf("the Python process ended before the call did (%s)", d.why)
}

// abandon cancels a call that nobody waits for any longer. If it does not end
// soon, the process is replaced: nothing else could run in it.
func (p *process) abandon(pd *pending) {
	p.mu.Lock()
	_, waiting := p.calls[pd.id]
	if waiting {
		pd.abandoned, pd.told, pd.done = true, true, func() {}
		pd.timeout, pd.since = p.host.opts.patience, time.Now()
		p.remind(pd, pd.timeout)
	}
	p.mu.Unlock()
	if waiting {
		p.cancel(pd.id, false)
	}
}

// chunkQueue holds pieces of a stream that have not been sent.
type chunkQueue struct {
	items    [][]byte
	context  *sdk.Context
	inFlight bool
}

// maxChunks is how many pieces of a stream may wait; then the stream does.
const maxChunks = 2048

// stream hands a piece of a stream to Python without waiting for an answer. While
// Python works on some pieces, the next ones gather and go together.
func (p *process) stream(item []byte, c *sdk.Context) (full bool) {
	p.mu.Lock()
	p.chunks.items = append(p.chunks.items, item)
	p.chunks.context = c
	idle, full := !p.chunks.inFlight, len(p.chunks.items) >= maxChunks
	p.mu.Unlock()
	if idle {
		p.write.Lock()
		p.flush()
		p.write.Unlock()
	}
	return full
}

// flush sends the pieces that wait. The caller holds write.
func (p *process) flush() {
	p.mu.Lock()
	items, context := p.chunks.items, p.chunks.context
	p.chunks.items = nil
	p.chunks.inFlight = len(items) > 0 && !p.dead
	p.mu.Unlock()
	if len(items) == 0 {
		return
	}
	pd := &pending{timeout: p.host.opts.Timeout, done: func() {
		p.mu.Lock()
		p.chunks.inFlight = false
		more := len(p.chunks.items) > 0
		p.mu.Unlock()
		if more {
			p.host.wg.Go(func() {
				p.write.Lock()
				defer p.write.Unlock()
				p.flush()
			})
		}
	}}
	if !p.enqueue(pd) {
		return
	}
	frame := fmt.Appendf(nil, `{"op":"chunks","id":%d,"items":[`, pd.id)
	for i, item := range items {
		if i > 0 {
			frame = append(frame, ',')
		}
		frame = append(frame, item...)
	}
	frame = p.appendFacts(append(frame, ']'), context)
	_, _ = p.in.Write(append(frame, "}\n"...))
}

// barrier sends what waits and a call that does nothing: its answer comes when
// everything before it has been worked on.
func (p *process) barrier(pd *pending) error {
	p.write.Lock()
	defer p.write.Unlock()
	p.flush()
	if !p.enqueue(pd) {
		return errLost
	}
	_, _ = fmt.Fprintf(p.in, `{"op":"chunks","id":%d,"items":[]}`+"\n", pd.id)
	return nil
}
