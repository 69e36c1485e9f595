package plain

import (
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// source reads input on demand in a goroutine of its own, so that waiting for it
// can be given up. A read that was given up is not lost: its bytes are the first
// of the next one.
type source struct {
	r    io.Reader
	want chan struct{}
	got  chan chunk
	done chan struct{}
	once sync.Once

	asked bool // A read is under way. Belongs to the one who reads.
}

type chunk struct {
	data []byte
	err  error
}

func newSource(r io.Reader) *source {
	return &source{r: r, want: make(chan struct{}, 1), got: make(chan chunk, 1), done: make(chan struct{})}
}

// run serves reads until want is closed.
func (s *source) run() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for range s.want {
		n, err := s.r.Read(buf)
		s.got <- chunk{append([]byte(nil), buf[:n]...), err}
	}
}

// read waits for the next bytes, for a tick of wake, or for the end of ctx.
// Without bytes and error it was woken.
func (s *source) read(ctx context.Context, wake <-chan os.Signal) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.once.Do(func() { go s.run() })
	if !s.asked {
		s.asked = true
		s.want <- struct{}{}
	}
	select {
	case c := <-s.got:
		s.asked = false
		return c.data, c.err
	case <-wake:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// found returns what a read that was given up has found since; ok is false if
// there is none, or it goes on.
func (s *source) found() (c chunk, ok bool) {
	select {
	case c = <-s.got:
		s.asked = false
		return c, true
	default:
		return chunk{}, false
	}
}

// close ends the goroutine: at once where a read can be interrupted, else when
// the read that is under way returns.
func (s *source) close() {
	started := true
	s.once.Do(func() { started = false })
	close(s.want)
	if !started || !s.asked {
		return
	}
	if d, ok := s.r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-s.done
		_ = d.SetReadDeadline(time.Time{})
	}
}
