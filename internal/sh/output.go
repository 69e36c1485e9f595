package sh

import (
	"io"
	"sync"
)

// Stream tells the two outputs of a script apart.
type Stream int

// The outputs of a script.
const (
	Stdout Stream = iota
	Stderr
)

// sink collects both streams. The interpreter writes to it from several
// goroutines at once, so every write takes the lock.
type sink struct {
	live func(Stream, []byte)

	mu       sync.Mutex
	sealed   bool
	limit    int
	kept     [2]int
	dropped  [2]int64
	combined []byte
	segments []segment
}

// segment is a run of bytes in the combined output that belong to one stream.
type segment struct {
	stream Stream
	size   int
}

func newSink(limit int, live func(Stream, []byte)) *sink {
	return &sink{limit: limit, live: live}
}

// writer returns the end of the sink that takes one stream. Each is a pointer
// of its own, so that os/exec recognises `2>&1` and uses a single pipe.
func (s *sink) writer(stream Stream) io.Writer { return &streamWriter{s, stream} }

type streamWriter struct {
	sink   *sink
	stream Stream
}

// Write keeps what the limit allows and counts the rest. It never fails: a
// script must not notice that nobody keeps its output.
func (w *streamWriter) Write(p []byte) (int, error) {
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sealed {
		return len(p), nil
	}
	keep := min(len(p), s.limit-s.kept[w.stream])
	if keep > 0 {
		s.combined = append(s.combined, p[:keep]...)
		s.kept[w.stream] += keep
		if n := len(s.segments); n > 0 && s.segments[n-1].stream == w.stream {
			s.segments[n-1].size += keep
		} else {
			s.segments = append(s.segments, segment{w.stream, keep})
		}
	}
	s.dropped[w.stream] += int64(len(p) - keep)
	if s.live != nil {
		s.live(w.stream, p)
	}
	return len(p), nil
}

// seal ends the collection and returns what was collected. Output that a
// straggler writes later is discarded.
func (s *sink) seal() Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	r := Result{
		Combined:      s.combined,
		DroppedStdout: s.dropped[Stdout],
		DroppedStderr: s.dropped[Stderr],
	}
	if len(s.segments) == 1 { // The usual case needs no second copy.
		if s.segments[0].stream == Stdout {
			r.Stdout = s.combined
		} else {
			r.Stderr = s.combined
		}
		return r
	}
	streams := [2][]byte{make([]byte, 0, s.kept[Stdout]), make([]byte, 0, s.kept[Stderr])}
	rest := s.combined
	for _, seg := range s.segments {
		streams[seg.stream] = append(streams[seg.stream], rest[:seg.size]...)
		rest = rest[seg.size:]
	}
	r.Stdout, r.Stderr = streams[Stdout], streams[Stderr]
	return r
}
