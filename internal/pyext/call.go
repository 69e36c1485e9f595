package pyext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/idelchi/aura/internal/jsontext"
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

// call has Python do c and returns what it answered.
func (h *Host) call(ctx context.Context, c *call) (json.RawMessage, error) {
	h.remember(c.context)
	for attempt := 0; ; attempt++ {
		p, err := h.current(ctx)
		if off := h.guard(c.owner).Err(); off != nil {
			return nil, off
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
		data := new(lifecycle.EventOf(&sdk.SessionStartContext{Context: *c.context, Resumed: true}))
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
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	p.flush()
	if !p.queue.add(pd) {
		return errLost
	}
	p.to.call(pd.id, c)
	return nil
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
	data, err := jsontext.Marshal(value)
	if err != nil {
		data = []byte("null")
	}
	p.to.line(fmt.Sprintf(`{"op":"answer","id":%d,"value":%s}`, f.Number, data))
}

// refuse answers a question of a call that was cancelled: Python waits for it.
func (p *process) refuse(f *frame) {
	number := f.Number
	// The pipe may be full: nobody may wait for that here.
	p.host.wg.Go(func() { p.to.line(fmt.Sprintf(`{"op":"answer","id":%d,"error":"the call was cancelled"}`, number)) })
}

// failed is the error of a call that Python could not complete.
func (p *process) failed(pd *pending, f *frame) error {
	if p.queue.wasTold(pd) {
		return &lifecycle.Fault{Verdict: lifecycle.TimedOut, Err: fmt.Errorf("timed out after %s", pd.timeout)}
	}
	if f.Trace != "" {
		p.host.opts.Logger.Warn(
			"extension raised",
			"extension",
			p.host.name(pd.owner),
			"error",
			*f.Error,
			"trace",
			f.Trace,
		)
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
	if !p.queue.abandon(pd, p.host.opts.patience) {
		return
	}
	p.cancel(pd.id, false)
	for {
		select {
		case f, ok := <-pd.events:
			if !ok {
				return
			}
			if f.Ask != "" {
				p.refuse(&f)
			}
		default:
			return
		}
	}
}
