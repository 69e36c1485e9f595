package pipe

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
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
	s.relay.read = s.read
	hello := appendUint(newFrame(nil, kindHello), uint64(len(omit)))
	for _, name := range omit {
		hello = appendString(hello, name)
	}
	var names []string
	for name, fn := range exported {
		if v := reflect.ValueOf(fn); v.Kind() == reflect.Func && !v.IsNil() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	hello = appendUint(hello, uint64(len(names)))
	for _, name := range names {
		fn := reflect.ValueOf(exported[name])
		s.functions = append(s.functions, function{name == "Execute", serve(s.codec, fn)})
		for _, text := range []string{name, fn.Type().String(), identity(fn.Type())} {
			hello = appendString(hello, text)
		}
	}
	if err := sendFrame(out, hello); err != nil {
		return err
	}
	go s.read(&frameReader{in: in})
	return <-s.end
}

// server is the state of Serve.
type server struct {
	codec     *codec
	functions []function
	end       chan error

	write sync.Mutex
	out   io.Writer

	mu    sync.Mutex
	calls map[uint64]*callContext

	relay relay

	env     sync.Mutex
	task    map[string]string
	covered map[string]*string // What the values of a task cover; nil: nothing.
}

// function is an exported function.
type function struct {
	long bool // Its calls take long, and may overlap with others.
	call handler
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
		var f *function
		if err == nil {
			f, err = s.function(d)
		}
		if err != nil {
			s.end <- err
			return
		}
		if f.long {
			go s.read(r.successor())
		} else {
			s.relay.begin(r)
		}
		s.call(ctx, id, f, d)
		s.finish(id, ctx)
		if f.long || !s.relay.end() {
			return
		}
	}
}

// relay watches whoever reads the pipe while it makes a call, and lets another
// goroutine read if that takes long. A timer for each call would cost more than the call.
type relay struct {
	read func(*frameReader)

	mu       sync.Mutex
	busy     *frameReader // Of who makes a call and will read on; nil: nobody does.
	calls    uint64       // So far.
	watching bool
}

// tick is how often relay looks; another goroutine reads after one to two of them.
const tick = time.Millisecond

// begin notes that a call begins.
func (r *relay) begin(with *frameReader) {
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
func (r *relay) end() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.busy != nil
	r.busy = nil
	return was
}

// watch goes on until there was no call for a while.
func (r *relay) watch() {
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

// function reads which function a call is for.
func (s *server) function(d *decoder) (*function, error) {
	number, err := d.uint()
	if err != nil || number >= uint64(len(s.functions)) {
		return nil, errShort
	}
	return &s.functions[number], nil
}

// call makes one call and sends the reply.
func (s *server) call(ctx context.Context, id uint64, f *function, d *decoder) {
	b := appendUint(newFrame(nil, kindReply), id)
	start := len(b)
	returned := false
	defer func() {
		v := recover()
		switch {
		case v != nil:
			b = appendString(append(b[:start], endedInPanic), fmt.Sprint(v))
			b = appendString(b, string(debug.Stack()))
		case !returned:
			b = appendString(append(b[:start], endedInPanic), "runtime.Goexit")
			b = appendString(b, "")
		}
		s.send(b, start)
	}()
	out, err := s.perform(ctx, f, d, append(b, endedWell))
	if n := len(out) - 4; err == nil && n > MaxMessage {
		err = tooLarge(n)
	}
	if err != nil {
		out = appendString(append(b[:start], endedBadly), err.Error())
	}
	b, returned = out, true
}

func (s *server) perform(ctx context.Context, f *function, d *decoder, out []byte) ([]byte, error) {
	var task map[string]string
	if err := s.codec.read(d, reflect.ValueOf(&task).Elem()); err != nil {
		return nil, err
	}
	s.inject(task)
	return f.call(ctx, d, out)
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
