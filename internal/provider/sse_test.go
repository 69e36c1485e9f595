package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// pieces is a source that hands out at most size bytes at a time.
func pieces(data []byte, size int) func([]byte) (int, error) {
	r := bytes.NewReader(data)
	return func(p []byte) (int, error) { return r.Read(p[:min(size, len(p))]) }
}

// events reads all events, each as "name|data", and the error at the end.
func events(data []byte, size int, format Format) ([]string, error) {
	s := splitter{source: pieces(data, size)}
	if _, err := s.first(); err != nil {
		return nil, err
	}
	var out []string
	for {
		ev, err := s.next(format)
		if err != nil {
			return out, err
		}
		out = append(out, ev.Name+"|"+string(ev.Data))
	}
}

func TestSSE(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	tests := []struct {
		name, in string
		want     []string
		err      error
	}{
		{"one", "data: a\n\n", []string{"|a"}, io.EOF},
		{"no space", "data:a\n\n", []string{"|a"}, io.EOF},
		{"one space only is removed", "data:  a\n\n", []string{"| a"}, io.EOF},
		{"crlf", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}, io.EOF},
		{"cr", "event: x\rdata: a\r\rdata: b\r\r", []string{"x|a", "|b"}, io.EOF},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\n", []string{"|a", "|b"}, io.EOF},
		{"several lines", "data: a\ndata: b\ndata\ndata: c\n\n", []string{"|a\nb\n\nc"}, io.EOF},
		{"comments", ": hi\n\n: there\ndata: a\n: inside\n\n:\n\n", []string{"|a"}, io.EOF},
		{"name does not outlive its event", "event: x\n\ndata: a\n\n", []string{"|a"}, io.EOF},
		{"id and retry are ignored", "id: 1\nretry: 5\ndata: a\n\n", []string{"|a"}, io.EOF},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}, io.EOF},
		{"leading blank lines", "\n\r\n\ndata: a\n\n", []string{"|a"}, io.EOF},
		{"done", "data: [DONE]\n\n", []string{"|[DONE]"}, io.EOF},
		{"done without line end", "data: {}\n\ndata: [DONE]", []string{"|{}", "|[DONE]"}, io.EOF},
		{"last event without blank line", "data: {}\n", []string{"|{}"}, io.EOF},
		{"cut in a line", "data: {}\n\ndata: {\"a\":", []string{"|{}"}, io.ErrUnexpectedEOF},
		{"cut in a field", "data: {}\n\nda", []string{"|{}"}, io.ErrUnexpectedEOF},
		{"utf-8", "data: zażółć 🦊\n\n", []string{"|zażółć 🦊"}, io.EOF},
		{"empty data", "data:\n\n", []string{"|"}, io.EOF},
		{"long line", "data: " + long + "\n\ndata: b\n\n", []string{"|" + long, "|b"}, io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 64, 1 << 20} {
				if size < 7 && len(tt.in) > 1<<20 {
					continue
				}
				got, err := events([]byte(tt.in), size, SSE)
				if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
					t.Fatalf("pieces of %d: got %.200q, %v; want %.200q, %v", size, got, err, tt.want, tt.err)
				}
			}
		})
	}
}

func TestJSONLines(t *testing.T) {
	tests := []struct {
		in   string
		want []string
		err  error
	}{
		{"{\"a\":1}\n{\"b\":2}\n", []string{`|{"a":1}`, `|{"b":2}`}, io.EOF},
		{"{\"a\":1}\r\n\r\n{\"b\":2}", []string{`|{"a":1}`, `|{"b":2}`}, io.EOF},
		{"{\"a\":1}\n{\"b\":", []string{`|{"a":1}`}, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 3, 1 << 20} {
			got, err := events([]byte(tt.in), size, JSONLines)
			if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("%q in pieces of %d: got %q, %v; want %q, %v", tt.in, size, got, err, tt.want, tt.err)
			}
		}
	}
}

func TestEventTooLong(t *testing.T) {
	line := []byte("data: x")
	s := splitter{source: func(p []byte) (int, error) {
		n := copy(p, line)
		line = nil
		for i := n; i < len(p); i++ {
			p[i] = 'x'
		}
		return len(p), nil
	}}
	if _, err := s.next(SSE); !errors.Is(err, errTooLong) {
		t.Fatalf("got %v, want %v", err, errTooLong)
	}
	if len(s.buf) > maxEvent {
		t.Fatalf("buffer has grown to %d bytes", len(s.buf))
	}
}

// Comments without end, as some servers send them to keep a connection open, must
// not fill memory.
func TestCommentsAreNotKept(t *testing.T) {
	left := 1 << 20
	s := splitter{source: func(p []byte) (int, error) {
		if left -= 3; left < 0 {
			return 0, io.EOF
		}
		return copy(p, ":x\n"), nil
	}}
	if _, err := s.next(SSE); err != io.EOF {
		t.Fatal(err)
	}
	if len(s.buf) > startBuffer {
		t.Fatalf("buffer has grown to %d bytes", len(s.buf))
	}
}

// reference is the standard's algorithm, written for clarity.
func reference(in string) []string {
	in = strings.TrimLeft(in, " \t\r\n")
	if rest, ok := strings.CutPrefix(in, "\xef\xbb\xbf"); ok {
		in = strings.TrimLeft(rest, " \t\r\n")
	}
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	var out, data []string
	name := ""
	for line := range strings.SplitSeq(in, "\n") {
		if line == "" {
			if data != nil {
				out = append(out, name+"|"+strings.Join(data, "\n"))
			}
			name, data = "", nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			name = value
		}
	}
	if data != nil {
		out = append(out, name+"|"+strings.Join(data, "\n"))
	}
	return out
}

func FuzzSSE(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "event: x\r\ndata: a\r\n\r\n", "\xef\xbb\xbfdata: {}\r\rdata:", ": c\n\ndata: a\ndata: b\n\n",
		"data: [DONE]", "data: \xf0\x9f\xa6\x8a\n\n", "event\ndata\n\n", "\r\n\r\ndata\r\ndata: x\r\r\n",
		"data: {\"a\":\"b\\u00e9\"}\n\n\n\ndata: 1",
	} {
		f.Add([]byte(seed), byte(1))
		f.Add([]byte(seed), byte(5))
	}
	f.Fuzz(func(t *testing.T, in []byte, size byte) {
		got, err := events(in, int(size)+1, SSE)
		all, errAll := events(in, len(in)+1, SSE)
		if !slices.Equal(got, all) || fmt.Sprint(err) != fmt.Sprint(errAll) {
			t.Fatalf("pieces of %d: %q, %v; at once: %q, %v", int(size)+1, got, err, all, errAll)
		}
		want := reference(string(in))
		if err == io.ErrUnexpectedEOF {
			// The last line was cut: the reference takes it, and what belongs to it.
			want = want[:min(len(got), len(want))]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func BenchmarkSSE(b *testing.B) {
	event := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}` + "\n\n"
	stream := []byte(strings.Repeat(event, 2000))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		s := splitter{source: pieces(stream, 4096)}
		for {
			if _, err := s.next(SSE); err != nil {
				break
			}
		}
	}
}
