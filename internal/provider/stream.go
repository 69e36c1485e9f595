package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// Format is how a stream is cut into events.
type Format int

// The formats of streams.
const (
	SSE       Format = iota // Server-sent events.
	JSONLines               // One JSON value per line.
	whole                   // The body is one event.
)

const (
	startBuffer = 16 << 10
	maxEvent    = 64 << 20 // Longest event, in bytes.
	maxNames    = 64       // Event names that are remembered.
	drainTime   = 250 * time.Millisecond
	drainBytes  = 64 << 10
)

// errIdle is the cause of a context that was cancelled by the idle timeout.
var errIdle = errors.New("idle timeout")

var errClosed = errors.New("stream is closed")

// Event is one event of a stream.
type Event struct {
	Name string // The SSE event name; empty where there is none.
	Data []byte // Valid until the next call of Next.
}

// Stream is the body of an answer, cut into events. It is used by one goroutine.
type Stream struct {
	t      *Transport
	ctx    context.Context // The caller's.
	inner  context.Context // Ends with ctx, on Close and by the idle timeout.
	cancel context.CancelCauseFunc
	timer  *time.Timer
	body   io.ReadCloser
	status int
	format Format

	splitter
	begun bool // A piece of the answer has come.

	err  error // What every further call of Next returns.
	late error // Read error that came together with the last bytes.
}

// Next returns the next event, and io.EOF at a clean end of the body. A body that was
// cut or stalls is an *Error of class Network, a cancelled ctx is ctx.Err().
func (s *Stream) Next() (Event, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
	}
	if s.err != nil {
		return Event{}, s.err
	}
	ev, err := s.next(s.format)
	if err != nil {
		s.err = s.failed(err)
		return Event{}, s.err
	}
	return ev, nil
}

// Begun notes that a piece of the answer has come: from now on the request is not sent
// again. Text and thinking, which go through on, need no such call.
func (s *Stream) Begun() { s.begun = true }

// Close ends the stream. It may be called more than once and never blocks.
func (s *Stream) Close() error {
	if s.body == nil {
		return nil
	}
	defer func() { s.err = errClosed }()
	if s.err != nil || s.ctx.Err() != nil {
		s.abort()
		return nil
	}
	// Clients stop at the last event of their protocol. Reading the few bytes
	// behind it lets the connection be used again.
	body := s.body
	s.body = nil
	s.timer.Stop()
	stop := time.AfterFunc(drainTime, func() { s.cancel(nil) })
	go func() {
		_, _ = io.CopyN(io.Discard, body, drainBytes)
		body.Close()
		stop.Stop()
		s.cancel(nil)
	}()
	return nil
}

func (s *Stream) abort() {
	s.timer.Stop()
	s.cancel(nil)
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
}

// begin waits for the first byte and refuses what cannot be a stream.
func (s *Stream) begin(contentType string) *Error {
	s.source = s.read
	first, err := s.first()
	html := strings.Contains(strings.ToLower(contentType), "text/html")
	switch {
	case err == io.EOF:
		return s.t.Fail(Server, s.status, "the server sent an empty answer; check the provider's url")
	case err != nil:
		return s.broken(err)
	case html || first == '<':
		for s.end < 4<<10 && s.fill() == nil {
		}
		return s.t.Fail(Server, s.status, "%s", htmlMessage(s.buf[s.pos:s.end]))
	case s.format == SSE && (first == '{' || first == '['):
		return s.beginWhole()
	}
	return nil
}

// beginWhole handles servers that answer plain JSON where a stream was asked for:
// an error, or the whole answer in one piece.
func (s *Stream) beginWhole() *Error {
	s.format = whole
	for {
		err := s.fill()
		if err == io.EOF {
			break
		}
		if err != nil {
			return s.brokenOrTooLong(err)
		}
	}
	body := s.buf[s.pos:s.end]
	var probe struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &probe) == nil && len(probe.Error) > 0 && string(probe.Error) != "null" {
		return s.t.Classify(0, body)
	}
	return nil
}

// read reads from the body under the idle timeout.
func (s *Stream) read(p []byte) (int, error) {
	if s.late != nil {
		return 0, s.late
	}
	s.timer.Reset(s.t.timeout)
	n, err := s.body.Read(p)
	s.timer.Stop()
	if n > 0 && err != nil {
		s.late, err = err, nil
	}
	return n, err
}

// failed turns an error of the splitter into what Next returns.
func (s *Stream) failed(err error) error {
	if err == io.EOF {
		return io.EOF
	}
	if ctxErr := s.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	return s.brokenOrTooLong(err)
}

func (s *Stream) brokenOrTooLong(err error) *Error {
	if errors.Is(err, errTooLong) {
		return s.t.Fail(Server, s.status, "the server sent an event of more than %d MB", maxEvent>>20)
	}
	return s.broken(err)
}

// broken turns a connection failure into an error of class Network.
func (s *Stream) broken(err error) *Error {
	if context.Cause(s.inner) == errIdle {
		e := s.t.Fail(Network, s.status, "nothing received for %s (the provider's timeout)", s.t.timeout)
		e.Err = errIdle
		return e
	}
	err = cause(err)
	e := s.t.Fail(Network, s.status, "%s", networkMessage(err, s.body != nil))
	e.Err = err
	return e
}

// isBlank reports white space of JSON.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

var bom = []byte("\xef\xbb\xbf")

// first skips blanks and a byte order mark, and returns the first other byte.
func (s *splitter) first() (byte, error) {
	marked := false
	for {
		for s.pos < s.end && isBlank(s.buf[s.pos]) {
			s.pos++
		}
		s.start = s.pos
		rest := s.buf[s.pos:s.end]
		switch {
		case !marked && bytes.HasPrefix(rest, bom):
			marked = true
			s.pos += len(bom)
			continue
		case len(rest) > 0 && (marked || !bytes.HasPrefix(bom, rest)):
			return rest[0], nil
		}
		if err := s.fill(); err != nil {
			if err == io.EOF && len(rest) > 0 {
				return rest[0], nil
			}
			return 0, err
		}
	}
}
