package plain

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/idelchi/aura/internal/terminal"
)

// stream is one of the two streams of a Printer. It knows whether it stands in the
// middle of a line.
type stream struct {
	w        io.Writer
	buf      *bufio.Writer
	terminal bool
	filter   terminal.Filter
	open     bool // The last line has no newline yet.
	held     int  // Newlines that are written only if more text follows.
	paused   *bytes.Buffer
	err      error
}

func newStream(w io.Writer, terminal bool) *stream {
	return &stream{w: w, terminal: terminal, buf: bufio.NewWriterSize(w, 8<<10)}
}

// text writes foreign text. On a terminal everything that could drive it is taken
// out; elsewhere the text is passed on as it is.
func (s *stream) text(t string) {
	if s.terminal {
		t = s.filter.Clean(t)
	}
	body := strings.TrimRight(t, "\n")
	if body != "" {
		s.raw(strings.Repeat("\n", s.held))
		s.held = 0
		s.raw(body)
	}
	s.held += len(t) - len(body)
}

// raw writes text as it is.
func (s *stream) raw(t string) {
	if t == "" {
		return
	}
	s.open = t[len(t)-1] != '\n'
	if s.paused != nil {
		s.paused.WriteString(t)
		return
	}
	if s.err == nil {
		_, s.err = s.buf.WriteString(t)
	}
}

// end finishes the text with exactly one newline.
func (s *stream) end() {
	s.filter, s.held = terminal.Filter{}, 0
	if s.open {
		s.raw("\n")
	}
}

// interrupt finishes the line in the middle of a text.
func (s *stream) interrupt() {
	if s.open {
		s.raw("\n")
		s.held = max(0, s.held-1)
	}
}

func (s *stream) flush() {
	if s.paused == nil && s.err == nil {
		s.err = s.buf.Flush()
	}
}

func (s *stream) pause() {
	s.flush()
	s.paused = &bytes.Buffer{}
}

func (s *stream) resume() {
	held := s.paused
	if s.paused = nil; held != nil && s.err == nil {
		_, s.err = s.buf.Write(held.Bytes())
	}
	s.flush()
}
