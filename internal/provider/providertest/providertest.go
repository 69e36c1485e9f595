// Package providertest replays recorded answers of model servers over real HTTP, with
// faults where a test wants them. It is not a model: package provider/script is.
package providertest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// Step is one answer. The zero Step answers 200 with an empty event stream.
type Step struct {
	Status int               // 0 = 200.
	Header map[string]string // Content-Type is text/event-stream unless set here.
	Body   string            // Sent and flushed first, if not empty.
	Chunks []string          // Then these, each flushed by itself.
	Stall  bool              // Then send nothing more until the client or the test goes away.
	Cut    bool              // Then cut the connection instead of ending the body.
}

// Request is what a client sent.
type Request struct {
	Method string
	Path   string // With the query.
	Header http.Header
	Body   string
}

// Server replays steps, one per request, and records the requests.
type Server struct {
	URL string // Base URL without a trailing slash.

	t     testing.TB
	mu    sync.Mutex
	steps []Step
	seen  []Request
	done  chan struct{}
	conns atomic.Int32
}

// Serve starts a server on 127.0.0.1 that answers the requests with steps, in order. A
// request beyond them fails the test and is answered 418. The server ends with the test.
func Serve(t testing.TB, steps ...Step) *Server {
	t.Helper()
	s := &Server{t: t, steps: steps, done: make(chan struct{})}
	h := httptest.NewUnstartedServer(s)
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	h.Start()
	s.URL = h.URL
	t.Cleanup(func() {
		close(s.done)
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// Requests returns what has been received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// Last returns the latest request; without any it fails the test.
func (s *Server) Last() Request {
	s.t.Helper()
	all := s.Requests()
	if len(all) == 0 {
		s.t.Fatal("the server received no request")
	}
	return all[len(all)-1]
}

// Connections returns how many connections have been opened.
func (s *Server) Connections() int { return int(s.conns.Load()) }

// ServeHTTP answers one request with the next step.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen = append(s.seen, Request{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body)})
	var step Step
	if n := len(s.seen); n <= len(s.steps) {
		step = s.steps[n-1]
	} else {
		s.t.Errorf("request %d (%s %s) was not expected", n, r.Method, r.URL.Path)
		step.Status = http.StatusTeapot
	}
	s.mu.Unlock()

	w.Header().Set("Content-Type", "text/event-stream")
	for name, value := range step.Header {
		w.Header().Set(name, value)
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	flush := func() { _ = http.NewResponseController(w).Flush() } // The client may be gone.
	if step.Body != "" {
		io.WriteString(w, step.Body)
		flush()
	}
	for _, chunk := range step.Chunks {
		io.WriteString(w, chunk)
		flush()
	}
	if step.Stall {
		flush()
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	}
	if step.Cut {
		panic(http.ErrAbortHandler)
	}
}

// SSE makes the text of an event stream of data lines.
func SSE(data ...string) string {
	var out []byte
	for _, d := range data {
		out = append(append(append(out, "data: "...), d...), "\n\n"...)
	}
	return string(out)
}

// Refused returns the URL of a port on 127.0.0.1 where nothing listens.
func Refused(t testing.TB) string {
	t.Helper()
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	return h.URL
}
