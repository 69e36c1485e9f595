package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var errTooLong = errors.New("event too long")

// splitter cuts bytes into events. It allocates only while its buffer grows: events
// are slices of the buffer.
//
//	buf: |..consumed..|start ... event so far ...|pos ... unread ...|end ... free ...|
type splitter struct {
	source          func([]byte) (int, error) // Never returns bytes together with an error.
	buf             []byte
	start, pos, end int
	skipLF          bool   // The last line ended with CR: an LF that follows belongs to it.
	joined          []byte // Data of events of several lines.
	names           map[string]string
}

// next returns the next event, or io.EOF.
func (s *splitter) next(format Format) (Event, error) {
	switch format {
	case JSONLines:
		return s.nextLine()
	case whole:
		return s.nextWhole()
	default:
		return s.nextSSE()
	}
}

func (s *splitter) nextWhole() (Event, error) {
	s.start = s.pos
	for {
		err := s.fill()
		if err == nil {
			continue
		}
		if err != io.EOF || s.pos == s.end {
			return Event{}, err
		}
		data := s.buf[s.pos:s.end]
		s.pos = s.end
		return Event{Data: data}, nil
	}
}

func (s *splitter) nextLine() (Event, error) {
	for {
		s.start = s.pos
		lo, hi, err := s.line()
		if err != nil && err != io.EOF {
			return Event{}, err
		}
		line := bytes.TrimSpace(s.buf[s.start+lo : s.start+hi])
		if len(line) > 0 {
			if err == io.EOF && !json.Valid(line) {
				return Event{}, io.ErrUnexpectedEOF
			}
			return Event{Data: line}, nil
		}
		if err != nil {
			return Event{}, err
		}
	}
}

// nextSSE follows the HTML standard's rules for event streams, except that an
// event at the end of the body needs no blank line: servers forget it.
func (s *splitter) nextSSE() (Event, error) {
	s.start = s.pos
	var name string
	var lo, hi int // The data, as long as it is one line; relative to start.
	lines := 0
	for {
		a, b, err := s.line()
		if err != nil && err != io.EOF {
			return Event{}, err
		}
		line := s.buf[s.start+a : s.start+b]
		if err == io.EOF && len(line) > 0 && !complete(line) {
			return Event{}, io.ErrUnexpectedEOF
		}
		if len(line) == 0 {
			switch {
			case lines == 1:
				return Event{Name: name, Data: s.buf[s.start+lo : s.start+hi]}, nil
			case lines > 1:
				return Event{Name: name, Data: s.joined}, nil
			case err != nil:
				return Event{}, err
			}
			name = "" // An event without data is none.
			s.start = s.pos
			continue
		}
		field, skip := splitField(line)
		switch string(field) {
		case "data":
			a += skip
			switch lines++; lines {
			case 1:
				lo, hi = a, b
			case 2:
				s.joined = append(s.joined[:0], s.buf[s.start+lo:s.start+hi]...)
				fallthrough
			default:
				s.joined = append(append(s.joined, '\n'), s.buf[s.start+a:s.start+b]...)
			}
		case "event":
			name = s.intern(line[skip:])
		}
		if lines == 0 {
			s.start = s.pos // Nothing to keep: comments may go on for ever.
		}
	}
}

// splitField returns the name of a line's field and where its value begins. A
// comment has an empty name.
func splitField(line []byte) (field []byte, value int) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return line, len(line)
	}
	if i+1 < len(line) && line[i+1] == ' ' {
		return line[:i], i + 2
	}
	return line[:i], i + 1
}

// complete reports whether the last line of a body, which has no line end, is
// nevertheless a whole one.
func complete(line []byte) bool {
	field, value := splitField(line)
	if string(field) != "data" {
		return len(field) == 0
	}
	data := bytes.TrimSpace(line[value:])
	return string(data) == "[DONE]" || len(data) > 0 && json.Valid(data)
}

// intern returns b as a string without allocating for names seen before.
func (s *splitter) intern(b []byte) string {
	if name, ok := s.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if s.names == nil {
		s.names = make(map[string]string, 8)
	}
	if len(s.names) < maxNames {
		s.names[name] = name
	}
	return name
}

// line returns the bounds of the next line, relative to start, without its end. At the
// end of the body it returns what is left, perhaps nothing, and io.EOF.
func (s *splitter) line() (lo, hi int, err error) {
	scan := s.pos
	for {
		if s.skipLF && s.pos < s.end {
			s.skipLF = false
			if s.buf[s.pos] == '\n' {
				s.pos++
				scan = s.pos
			}
		}
		if i := lineEnd(s.buf[scan:s.end]); i >= 0 {
			lo, hi = s.pos-s.start, scan+i-s.start
			s.pos = scan + i + 1
			s.skipLF = s.buf[scan+i] == '\r'
			return lo, hi, nil
		}
		scanned := s.end - s.start
		if err := s.fill(); err != nil {
			lo, hi = s.pos-s.start, s.end-s.start
			s.pos = s.end
			return lo, hi, err
		}
		scan = s.start + scanned
	}
}

// lineEnd returns the index of the first CR or LF, or -1. It looks at a window at a
// time: otherwise the search for the one that a stream never uses would run over
// the whole buffer for each line.
func lineEnd(b []byte) int {
	const window = 1 << 10
	for off := 0; off < len(b); off += window {
		part := b[off:min(off+window, len(b))]
		i := bytes.IndexByte(part, '\n')
		if i >= 0 {
			part = part[:i]
		}
		if j := bytes.IndexByte(part, '\r'); j >= 0 {
			return off + j
		}
		if i >= 0 {
			return off + i
		}
	}
	return -1
}

// fill reads more bytes behind end. Everything from start on is kept, but may move.
func (s *splitter) fill() error {
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.pos -= s.start
		s.end -= s.start
		s.start = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxEvent {
			return errTooLong
		}
		grown := make([]byte, max(startBuffer, 2*len(s.buf)))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	for range 100 {
		n, err := s.source(s.buf[s.end:])
		s.end += n
		if n > 0 || err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
