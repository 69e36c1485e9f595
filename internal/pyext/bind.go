package pyext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// handler is one Python function bound to an event. It is a lifecycle.Handler.
type handler struct {
	host   *Host
	owner  int // Number of the extension.
	index  int // Of the function among the extension's handlers.
	event  lifecycle.PythonEvent
	at     lifecycle.Row
	source lifecycle.Source
	deny   bool
}

// Bindings are the handlers of all extensions, in running order: extension after
// extension, each in the order of registration. Deadlines are the host's own
// matter: the time that a handler waits for another one does not count.
func (h *Host) Bindings() []lifecycle.Binding {
	var out []lifecycle.Binding
	for _, hd := range h.handlers("") {
		b := lifecycle.Binding{Source: hd.source, Moment: hd.at.Moment, Match: hd.event.Match, Handler: hd, Guard: h.guard(hd.owner)}
		if hd.deny {
			b.OnFailure = lifecycle.Deny
		}
		out = append(out, b)
	}
	return out
}

// handlers lists the handlers of a moment; an empty one means all.
func (h *Host) handlers(m lifecycle.Moment) []*handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*handler
	for i, e := range h.found {
		reg := h.regs[i+1]
		if reg == nil {
			continue
		}
		for j, spec := range reg.Handlers {
			ev, at, ok := eventNamed(spec.Event)
			if !ok || m != "" && at.Moment != m {
				continue
			}
			out = append(out, &handler{
				host: h, owner: i + 1, index: j, event: ev, at: at, deny: spec.OnFailure == string(lifecycle.Deny),
				source: lifecycle.Source{Kind: lifecycle.Extension, Name: e.Name, File: e.Path},
			})
		}
	}
	return out
}

// call is the frame that calls the handler.
func (hd *handler) call(ev *lifecycle.Event) (*call, error) {
	c := &call{owner: hd.owner, op: "event", context: ev.Context(), timeout: hd.host.opts.Timeout}
	if d, ok := ev.Data.(*sdk.TransformContext); ok {
		c.messages = d.Messages
	}
	fields := hd.event.Fields(ev)
	c.fields = make([]byte, 0, 256+sizeHint(fields))
	c.fields = append(strconv.AppendInt(append(c.fields, `"handler":`...), int64(hd.index), 10), `,"event":`...)
	var err error
	c.fields, err = hd.appendFields(c.fields, fields)
	return c, err
}

// sizeHint is about how long the fields of an event are, where that matters.
func sizeHint(fields any) int {
	if a, ok := fields.(appender); ok {
		return a.Size()
	}
	return 0
}

func (hd *handler) appendFields(b []byte, fields any) ([]byte, error) {
	if a, ok := fields.(appender); ok {
		return a.AppendJSON(b), nil
	}
	data, err := jsontext.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", hd.event.Name, err)
	}
	return append(b, data...), nil
}

// Handle calls the Python function.
func (hd *handler) Handle(ctx context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	h := hd.host
	switch ev.Moment {
	case lifecycle.SessionStart:
		h.mu.Lock()
		h.begun = true
		h.mu.Unlock()
		if p, err := h.current(ctx); err == nil {
			p.replay.Do(func() {}) // It hears of it now.
		}
	case lifecycle.StreamChunk:
		return lifecycle.Reply{}, hd.stream(ctx, ev)
	}
	r, err := hd.ask(ctx, ev)
	if err != nil && ev.Moment == lifecycle.TransformMessages && ctx.Err() == nil {
		// One failure would undo what all others did to the messages.
		label := (&lifecycle.Binding{Source: hd.source, Moment: ev.Moment}).Label()
		return lifecycle.Reply{Result: sdk.Result{Notice: fmt.Sprintf("%s failed: %v", label, err)}}, nil
	}
	return r, err
}

// ask calls the function and reads its answer.
func (hd *handler) ask(ctx context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
	c, err := hd.call(ev)
	if err != nil {
		return lifecycle.Reply{}, err
	}
	answer, err := hd.host.call(ctx, c)
	if err != nil || answer == nil {
		return lifecycle.Reply{}, err
	}
	var r reply
	if err := json.Unmarshal(answer, &r); err != nil {
		return lifecycle.Reply{}, &lifecycle.Fault{
			Err: fmt.Errorf("what it returned cannot be used: %s", plainType(err)),
		}
	}
	return r.lifecycle(&hd.at), nil
}

// plainType says in Python's words what is wrong with a value.
func plainType(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		_, field, _ := strings.Cut(e.Field, ".") // Before it is the part of reply.
		return fmt.Sprintf("%s: got %s", field, e.Value)
	}
	return err.Error()
}

// stream hands a piece of a stream on.
func (hd *handler) stream(ctx context.Context, ev *lifecycle.Event) error {
	p, err := hd.host.current(ctx)
	if err != nil || !hd.host.inService(hd.owner) {
		return err
	}
	fields := hd.event.Fields(ev)
	item := append(make([]byte, 0, 96+sizeHint(fields)), '[')
	item = append(strconv.AppendInt(item, int64(hd.owner), 10), ',')
	item = append(strconv.AppendInt(item, int64(hd.index), 10), ',')
	item, err = hd.appendFields(item, fields)
	if err != nil {
		return err
	}
	if !p.stream(append(item, ']'), ev.Context()) {
		return nil
	}
	// Python cannot keep up: wait until it has taken what there is.
	pd := &pending{owner: hd.owner, timeout: hd.host.opts.Timeout, events: make(chan frame, 1)}
	if err := p.barrier(pd); err != nil {
		return nil // The process ended; the next one begins with the next piece.
	}
	select {
	case <-pd.events:
	case <-ctx.Done():
		p.abandon(pd)
	}
	return ctx.Err()
}
