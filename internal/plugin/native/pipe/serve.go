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

// Main is the life of a plugin's process. Its arguments are the numbers of the files
// that it reads calls from and writes replies to.
func Main(exported map[string]any) {
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
	_ = Serve(calls, replies, exported)
	os.Exit(0) // aura is gone, or wants us to go.
}

// Serve is the plugin's end: it answers calls of the exported functions until the
// input ends.
func Serve(in io.Reader, out io.Writer, exported map[string]any) error {
	s := &server{out: out, codec: newCodec(), cancels: map[uint64]context.CancelFunc{}, end: make(chan error, 1)}
	hello := newFrame(nil, kindHello)
	for _, f := range Functions() {
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
	spare    sync.Pool // Readers that are not reading.

	write sync.Mutex
	out   io.Writer

	mu      sync.Mutex
	cancels map[uint64]context.CancelFunc

	env     sync.Mutex
	task    map[string]string
	covered map[string]*string // What the values of a task cover; nil: nothing.
}

// read takes messages from the pipe. Whoever has read a call makes it; another
// goroutine goes on reading. So no call waits for a goroutine to wake up.
func (s *server) read(r *frameReader) {
	for {
		kind, d, err := r.next()
		if err != nil {
			s.end <- err
			return
		}
		id, err := d.uint()
		switch {
		case err != nil:
			s.end <- err
			return
		case kind == kindCancel:
			s.cancel(id)
		case kind == kindCall:
			// The message is in the reader's room, which its successor must not use.
			ctx, cancel, err := s.begin(id, d)
			if err != nil {
				s.end <- err
				return
			}
			next, _ := s.spare.Get().(*frameReader)
			if next == nil {
				next = &frameReader{in: r.in}
			}
			go s.read(next)
			s.call(ctx, id, d)
			cancel()
			s.spare.Put(r)
			return
		}
	}
}

func (s *server) cancel(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[id]; cancel != nil {
		cancel()
	}
}

// begin makes the context of a call.
func (s *server) begin(id uint64, d *decoder) (context.Context, context.CancelFunc, error) {
	deadline, err := d.int()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	if deadline != 0 {
		cancel()
		ctx, cancel = context.WithDeadline(context.Background(), time.Unix(0, deadline))
	}
	s.mu.Lock()
	s.cancels[id] = cancel
	s.mu.Unlock()
	return ctx, func() {
		s.mu.Lock()
		delete(s.cancels, id)
		s.mu.Unlock()
		cancel()
	}, nil
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
