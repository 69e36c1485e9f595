package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// server is a model that speaks the OpenAI chat protocol on this machine.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	reply func(w *answer, turn int) // Writes the events of one answer.
	turns []turn
	ended time.Time // When the latest answer was complete.
}

// turn is what the server saw of one request.
type turn struct {
	think time.Duration // Between the end of the previous answer and this request.
	bytes int64
}

func newServer() *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// play sets the answers for the next run.
func (s *server) play(reply func(*answer, int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply, s.turns, s.ended = reply, nil, time.Time{}
}

// seen returns the requests since play.
func (s *server) seen() []turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	arrived := time.Now()
	n, _ := io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	t := turn{bytes: n}
	if !s.ended.IsZero() {
		t.think = arrived.Sub(s.ended)
	}
	s.turns = append(s.turns, t)
	reply, number := s.reply, len(s.turns)
	s.mu.Unlock()

	w.Header().Set("Content-Type", "text/event-stream")
	out := &answer{bufio.NewWriterSize(w, 1<<16), http.NewResponseController(w)}
	reply(out, number)
	fmt.Fprint(out, "data: [DONE]\n\n")
	_ = out.Flush()
	s.mu.Lock()
	s.ended = time.Now()
	s.mu.Unlock()
}

// answer is an answer on its way.
type answer struct {
	*bufio.Writer
	control *http.ResponseController
}

// push sends what has been written so far.
func (a *answer) push() {
	_ = a.Flush()
	_ = a.control.Flush()
}

// pace answers with text in pieces, a number of them every millisecond.
func pace(pieces, each int, piece string) func(*answer, int) {
	return func(w *answer, turn int) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for sent := 0; sent < pieces; sent += each {
			delta(w, each, piece)
			w.push()
			<-tick.C
		}
		finish(w, "stop")
	}
}

// say answers with text in pieces.
func say(pieces int, piece string) func(*answer, int) {
	return func(w *answer, _ int) {
		delta(w, pieces, piece)
		finish(w, "stop")
	}
}

func delta(w io.Writer, pieces int, piece string) {
	for range pieces {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece)
	}
}

// callTools answers with a tool call until the given turn, then with text.
func callTools(last int) func(*answer, int) {
	return func(w *answer, turn int) {
		if turn >= last {
			say(1, "finished")(w, turn)
			return
		}
		fmt.Fprintf(
			w,
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function",`+
				`"function":{"name":"Read","arguments":"{\"path\":\"note.txt\"}"}}]}}]}`+"\n\n",
			turn,
		)
		finish(w, "tool_calls")
	}
}

func finish(w io.Writer, reason string) {
	fmt.Fprintf(
		w,
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":`+
			`{"prompt_tokens":10,"completion_tokens":5}}`+"\n\n",
		reason,
	)
}
