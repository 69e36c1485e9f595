package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// maxMessage bounds one message of a server.
const maxMessage = 16 << 20

// schemas remembers the schemas of tools as the server wrote them. The SDK hands
// them out decoded, which loses the order of parameters and large numbers.
type schemas struct {
	mu  sync.Mutex
	raw map[string]json.RawMessage
}

// learn takes the schemas out of a message, if there are any in it.
func (s *schemas) learn(message []byte) {
	if !bytes.Contains(message, []byte(`"inputSchema"`)) {
		return
	}
	var m struct {
		Result struct {
			Tools []struct {
				Name        string          `json:"name"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		} `json:"result"`
	}
	if json.Unmarshal(message, &m) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw == nil {
		s.raw = map[string]json.RawMessage{}
	}
	for _, t := range m.Result.Tools {
		if len(s.raw) < 2*maxTools {
			s.raw[t.Name] = t.InputSchema
		}
	}
}

// of returns the schema of a tool; decoded is what to fall back to.
func (s *schemas) of(name string, decoded any) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw, ok := s.raw[name]; ok && len(raw) > 0 {
		return raw, nil
	}
	return json.Marshal(decoded)
}

// tap reads messages on their way. Each line is one message, or the data of an event;
// a whole body is one where lines is false.
type tap struct {
	io.ReadCloser
	lines bool
	learn func([]byte)
	buf   []byte
	lost  bool // The current message is too long to keep.
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	data := p[:n]
	for t.lines {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		t.keep(data[:i])
		t.message()
		data = data[i+1:]
	}
	t.keep(data)
	if errors.Is(err, io.EOF) {
		t.message()
	}
	return n, err
}

func (t *tap) keep(data []byte) {
	if t.lost || len(t.buf)+len(data) > maxMessage {
		t.lost, t.buf = true, nil
		return
	}
	t.buf = append(t.buf, data...)
}

func (t *tap) message() {
	if !t.lost && len(t.buf) > 0 {
		data := t.buf
		if t.lines {
			data = bytes.TrimPrefix(data, []byte("data:"))
		}
		t.learn(data)
	}
	t.buf, t.lost = t.buf[:0], false
}

// transport adds headers to requests and watches the answers. The headers go to the
// server they are meant for and nowhere else, whatever it redirects to.
type transport struct {
	next    http.RoundTripper
	url     *url.URL
	headers map[string]string
	schemas *schemas
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(t.headers) > 0 && req.URL.Host == t.url.Host && req.URL.Scheme == t.url.Scheme {
		req = req.Clone(req.Context())
		for name, value := range maps.All(t.headers) {
			req.Header.Set(name, value)
		}
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body := resp.Body
	events := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	if !events {
		body = &limited{ReadCloser: body, left: maxMessage}
	}
	if req.Method == http.MethodPost {
		body = &tap{ReadCloser: body, lines: events, learn: t.schemas.learn}
	}
	resp.Body = body
	return resp, nil
}

// limited is a body that may not be longer than a message.
type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the answer is too long")
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
