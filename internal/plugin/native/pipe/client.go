package pipe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
)

// Panic is a panic in a function of the plugin.
type Panic struct {
	Value string
	Stack string
}

func (p *Panic) Error() string { return "panic: " + p.Value }

// Client is aura's end. Its calls may overlap.
type Client struct {
	// Task returns the values of the running task, which each call carries; nil is none.
	Task func() map[string]string

	codec   *codec
	exports map[string]export // By their names.
	frames  *frameReader

	write sync.Mutex
	out   io.Writer
	room  []byte

	mu      sync.Mutex
	last    uint64
	pending map[uint64]*pending
	lost    error         // Why no reply will come any more.
	heard   bool          // Some call was told.
	gone    chan struct{} // Closed with it.
}

// export is a function that the plugin exports.
type export struct {
	number    uint64
	signature string // As %T prints it.
	identity  string
}

// pending is a call that waits for its reply.
type pending struct {
	done  chan struct{} // Closed when it is there.
	frame []byte        // What follows the number of the call.
	err   error
}

func (p *pending) settle(frame []byte, err error) {
	p.frame, p.err = frame, err
	close(p.done)
}

// Pending is the error of a call whose context ended before it did. The plugin has been
// told; nothing is read of what it still replies.
type Pending struct {
	err  error
	call *pending
}

func (p *Pending) Error() string { return p.err.Error() }
func (p *Pending) Unwrap() error { return p.err }

// Done is closed when the call has ended.
func (p *Pending) Done() <-chan struct{} { return p.call.done }

// Connect waits until the plugin is loaded. Whoever calls it closes in to give up.
func Connect(in io.Reader, out io.Writer) (*Client, error) {
	c := &Client{
		codec: newCodec(), exports: map[string]export{}, frames: &frameReader{in: in}, out: out,
		pending: map[uint64]*pending{}, gone: make(chan struct{}),
	}
	kind, d, err := c.frames.next()
	if err == nil && kind != kindHello {
		err = errShort
	}
	if err == nil {
		err = c.hello(d)
	}
	if err != nil {
		return nil, err
	}
	go c.read()
	return c, nil
}

// hello reads the first message: what the plugin never looks at, and what it exports.
func (c *Client) hello(d *decoder) error {
	omitted, err := d.uint()
	for range min(omitted, 100) {
		name, _ := d.string()
		c.codec.omit = append(c.codec.omit, name)
	}
	var count uint64
	if err == nil {
		count, err = d.uint()
	}
	for i := uint64(0); i < count && err == nil; i++ {
		e := export{number: i}
		var name string
		for _, text := range []*string{&name, &e.signature, &e.identity} {
			if *text, err = d.string(); err != nil {
				return err
			}
		}
		c.exports[name] = e
	}
	return err
}

// Lookup returns an exported function of type t: as a Go function that calls it or, if
// it has another type, as that type. One without an error result panics with the error
// of a call.
func (c *Client) Lookup(name string, t reflect.Type, through Caller) (fn any, signature string) {
	e, ok := c.exports[name]
	if !ok {
		return nil, ""
	}
	if e.identity != identity(t) {
		return nil, e.signature
	}
	return stub(t, name, through), e.signature
}

// Call implements Caller.
func (c *Client) Call(ctx context.Context, function string, args, results []reflect.Value) error {
	e, ok := c.exports[function]
	if !ok {
		return fmt.Errorf("the plugin does not export %s", function)
	}
	call := &pending{done: make(chan struct{})}
	id, err := c.expect(call)
	if err != nil {
		return err
	}
	if err := c.ask(ctx, id, e.number, args); err != nil {
		c.forget(id)
		return err
	}
	select {
	case <-call.done:
		return c.results(call, results)
	case <-ctx.Done():
	}
	go c.cancel(id) // Not here: a plugin that reads nothing would hold it up.
	return &Pending{ctx.Err(), call}
}

// expect registers a call.
func (c *Client) expect(call *pending) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return 0, c.lost
	}
	c.last++
	c.pending[c.last] = call
	return c.last, nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// ask sends a call.
func (c *Client) ask(ctx context.Context, id, number uint64, args []reflect.Value) error {
	var task map[string]string
	if c.Task != nil {
		task = c.Task()
	}
	c.write.Lock()
	defer c.write.Unlock()
	b := appendUint(newFrame(c.room, kindCall), id)
	var deadline int64
	if t, ok := ctx.Deadline(); ok {
		deadline = t.UnixNano()
	}
	b = appendUint(binary.AppendVarint(b, deadline), number)
	b, err := c.codec.append(b, reflect.ValueOf(task))
	if err == nil {
		b, err = c.codec.appendAll(b, args)
	}
	if err != nil {
		return err
	}
	if n := len(b) - 4; n > MaxMessage {
		return tooLarge(n)
	}
	if cap(b) <= 1<<20 {
		c.room = b
	}
	if err := sendFrame(c.out, b); err != nil {
		<-c.gone // The reader knows why.
		return c.lost
	}
	return nil
}

// cancel tells the plugin that a call shall end.
func (c *Client) cancel(id uint64) {
	c.write.Lock()
	defer c.write.Unlock()
	_ = sendFrame(c.out, appendUint(newFrame(nil, kindCancel), id))
}

// results reads a reply.
func (c *Client) results(call *pending, results []reflect.Value) error {
	if call.err != nil {
		return call.err
	}
	d := newDecoder(call.frame)
	how, err := d.byte()
	if err != nil {
		return err
	}
	switch how {
	case endedWell:
		return c.codec.readAll(d, results)
	case endedBadly:
		text, err := d.string()
		return cmpErr(err, errors.New(text))
	default:
		var p Panic
		if p.Value, err = d.string(); err == nil {
			p.Stack, err = d.string()
		}
		return cmpErr(err, &p)
	}
}

// read hands out replies until the plugin is gone.
func (c *Client) read() {
	for {
		kind, d, err := c.frames.next()
		var id uint64
		if err == nil {
			id, err = d.uint()
		}
		if err == nil && kind != kindReply {
			err = errShort
		}
		if err != nil {
			c.lose(err)
			return
		}
		c.mu.Lock()
		call := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if call != nil {
			call.settle(c.frames.take(d), nil)
		}
	}
}

// lose ends all calls.
func (c *Client) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = &Lost{err}
	for id, call := range c.pending {
		delete(c.pending, id)
		call.settle(nil, c.lost)
		c.heard = true
	}
	close(c.gone)
}

// Heard waits until the plugin cannot be reached any more and reports whether a call
// was in progress, whose error tells of it.
func (c *Client) Heard() bool {
	<-c.gone
	return c.heard
}

// Lost is the error of calls into a plugin that cannot be reached any more.
type Lost struct{ Err error }

func (l *Lost) Error() string { return "the connection to the plugin is lost: " + l.Err.Error() }
func (l *Lost) Unwrap() error { return l.Err }
