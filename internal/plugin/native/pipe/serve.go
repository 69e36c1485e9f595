package pipe

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// Omittable are the fields of sdk.Context that grow with the session. A plugin that
// never looks at them does not get them.
func Omittable() []string { return []string{"ToolHistory", "Turns", "SystemPrompt"} }

// Main is the life of a plugin's process. Its arguments are the numbers of the files
// that it reads calls from and writes replies to. omit are the fields of sdk.Context that
// the plugin never looks at.
func Main(exported map[string]any, omit ...string) {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "this program is a part of aura")
		os.Exit(2)
	}
	in, err := strconv.ParseUint(os.Args[1], 10, 64)
	out, err2 := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil || err2 != nil {
		os.Exit(2)
	}
	calls, replies := inherited(uintptr(in), "calls"), inherited(uintptr(out), "replies")
	os.Args = os.Args[:1]
	debug.SetMaxStack(256 << 20) // A recursion without end shall not take the memory of the machine first.
	_ = Serve(calls, replies, exported, omit...)
	os.Exit(0) // aura is gone, or wants us to go.
}

// Serve is the plugin's end: it answers calls of the exported functions until the
// input ends.
func Serve(in io.Reader, out io.Writer, exported map[string]any, omit ...string) error {
	s := &server{out: out, codec: newCodec(), calls: map[uint64]*callContext{}, end: make(chan error, 1)}
	s.relief.read = s.read
	hello := appendUint(newFrame(nil, kindHello), uint64(len(omit)))
	for _, name := range omit {
		hello = appendString(hello, name)
	}
	for i, f := range Functions() {
		if f.Name == "Execute" {
			s.execute = byte(i)
		}
		fn, ok := exported[f.Name]
		h, fits := f.serve(s.codec, fn)
		s.handlers = append(s.handlers, h)
		if fits {
			s.codec.learn(f.types...)
		}
		if v := reflect.ValueOf(fn); !ok || v.Kind() != reflect.Func || v.IsNil() {
			hello = appendString(hello, "")
			continue
		}
		hello = appendString(hello, fmt.Sprintf("%T", fn))
		if fits {
			hello = append(hello, 1)
		} else {
			hello = append(hello, 0)
		}
	}
	s.codec.learn(reflect.TypeFor[map[string]string]())
	if err := sendFrame(out, hello); err != nil {
		return err
	}
	go s.read(&frameReader{in: in})
	return <-s.end
}

// server is the state of Serve.
type server struct {
	codec    *codec
	handlers []handler // By their place in the table.
	end      chan error

	write sync.Mutex
	out   io.Writer

	mu    sync.Mutex
	calls map[uint64]*callContext

	relief  relief
	execute byte // The place of Execute in the table.

	env     sync.Mutex
	task    map[string]string
	covered map[string]*string // What the values of a task cover; nil: nothing.
}

// read takes messages from the pipe and makes the calls in them by itself: no call
// waits for another goroutine to wake up. While one takes longer, or may overlap with
// others, another goroutine reads.
func (s *server) read(r *frameReader) {
	for {
		kind, d, err := r.next()
		var id uint64
		if err == nil {
			id, err = d.uint()
		}
		if err == nil && kind == kindCancel {
			s.cancel(id)
			continue
		}
		var ctx *callContext
		if err == nil {
			ctx, err = s.begin(id, d)
		}
		if err != nil {
			s.end <- err
			return
		}
		long := len(d.rest) > 0 && d.rest[0] == s.execute
		if long {
			go s.read(r.successor())
		} else {
			s.relief.begin(r)
		}
		s.call(ctx, id, d)
		s.finish(id, ctx)
		if long || !s.relief.end() {
			return
		}
	}
}

// relief watches whoever reads the pipe while it makes a call, and lets another
// goroutine read if that takes long. A timer for each call would cost more than the call.
type relief struct {
	read func(*frameReader)

	mu       sync.Mutex
	busy     *frameReader // Of who makes a call and will read on; nil: nobody does.
	calls    uint64       // So far.
	watching bool
}

// tick is how often relief looks; a call is relieved after one to two of them.
const tick = time.Millisecond

// begin notes that a call begins.
func (r *relief) begin(with *frameReader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = with
	r.calls++
	if !r.watching {
		r.watching = true
		go r.watch()
	}
}

// end notes that a call has ended; false means that somebody else reads by now.
func (r *relief) end() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.busy != nil
	r.busy = nil
	return was
}

// watch goes on until there was no call for a while.
func (r *relief) watch() {
	last, idle := uint64(0), 0
	for idle < 100 {
		time.Sleep(tick)
		r.mu.Lock()
		switch {
		case r.busy == nil && r.calls == last:
			idle++
		case r.calls == last:
			go r.read(r.busy.successor())
			r.busy = nil
		default:
			idle = 0
		}
		last = r.calls
		if idle == 100 {
			r.watching = false
		}
		r.mu.Unlock()
	}
}

// callContext is the context of a call. aura ends it, also when the deadline is over.
type callContext struct {
	context.Context
	cancel   context.CancelCauseFunc
	deadline time.Time // Zero: none.
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Err implements context.Context.
func (c *callContext) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return context.Cause(c.Context)
}

func (s *server) cancel(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[id]
	switch {
	case c == nil:
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		c.cancel(context.DeadlineExceeded)
	default:
		c.cancel(context.Canceled)
	}
}

// begin makes the context of a call.
func (s *server) begin(id uint64, d *decoder) (*callContext, error) {
	deadline, err := d.int()
	if err != nil {
		return nil, err
	}
	c := &callContext{}
	c.Context, c.cancel = context.WithCancelCause(context.Background())
	if deadline != 0 {
		c.deadline = time.Unix(0, deadline)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[id] = c
	return c, nil
}

// finish ends the context of a call.
func (s *server) finish(id uint64, c *callContext) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
	c.cancel(context.Canceled)
}

// call makes one call and sends the reply.
func (s *server) call(ctx context.Context, id uint64, d *decoder) {
	w := &Writer{codec: s.codec, b: newFrame(nil, kindReply)}
	w.b = appendUint(w.b, id)
	start := len(w.b)
	w.b = append(w.b, endedWell)
	returned := false
	defer func() {
		v := recover()
		switch {
		case v != nil:
			w.b = appendString(append(w.b[:start], endedInPanic), fmt.Sprint(v))
			w.b = appendString(w.b, string(debug.Stack()))
		case !returned:
			w.b = appendString(append(w.b[:start], endedInPanic), "runtime.Goexit")
			w.b = appendString(w.b, "")
		}
		s.send(w.b, start)
	}()
	err := s.perform(ctx, d, w)
	if err == nil {
		err = w.err
	}
	if n := len(w.b) - 4; err == nil && n > MaxMessage {
		err = tooLarge(n)
	}
	if err != nil {
		w.b = appendString(append(w.b[:start], endedBadly), err.Error())
	}
	returned = true
}

func (s *server) perform(ctx context.Context, d *decoder, w *Writer) error {
	number, err := d.byte()
	if err != nil || int(number) >= len(s.handlers) || s.handlers[number] == nil {
		return errShort
	}
	in := &Reader{codec: s.codec, d: d}
	var task map[string]string
	if in.get(&task); in.err != nil {
		return in.err
	}
	s.inject(task)
	return s.handlers[number](ctx, in, w)
}

func (s *server) send(frame []byte, start int) {
	s.write.Lock()
	defer s.write.Unlock()
	if err := sendFrame(s.out, frame); err != nil && len(frame) > MaxMessage {
		_ = sendFrame(s.out, appendString(append(frame[:start], endedBadly), err.Error()))
	}
}

// inject lays the values of a task over the environment until the next call.
func (s *server) inject(task map[string]string) {
	s.env.Lock()
	defer s.env.Unlock()
	if len(task) == 0 && len(s.task) == 0 {
		return
	}
	for name, value := range s.covered {
		if now, ok := os.LookupEnv(name); !ok || now != s.task[name] {
			continue // The plugin has changed it since.
		}
		if value == nil {
			_ = os.Unsetenv(name)
		} else {
			_ = os.Setenv(name, *value)
		}
	}
	s.task, s.covered = task, map[string]*string{}
	for name, value := range task {
		if old, ok := os.LookupEnv(name); ok {
			s.covered[name] = &old
		} else {
			s.covered[name] = nil
		}
		_ = os.Setenv(name, value)
	}
}
