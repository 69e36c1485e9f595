package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// mockTurn is one answer of the model server. It is played for one chat request.
type mockTurn struct {
	Text     string            `yaml:"text"`
	Thinking string            `yaml:"thinking"`
	Calls    []mockCall        `yaml:"calls"`
	Usage    [2]int            `yaml:"usage"`  // Input and output tokens.
	Status   int               `yaml:"status"` // Answer with this status and Body instead of a stream.
	Body     string            `yaml:"body"`
	Header   map[string]string `yaml:"header"`

	Stop string `yaml:"stop"` // "length": the answer reached the output limit.

	// Fault damages the stream: busy (an error object before anything of the answer), cut
	// (the connection breaks in the middle), noend (it ends without its closing event),
	// html, empty, invalid (an event that is not JSON), error (an error object instead of
	// the end), half (half a tool call, then the end), stall (nothing more comes), silent
	// (nothing comes at all), crlf and split (harmless: CRLF line ends, and characters
	// split over packets).
	Fault string `yaml:"fault"`
}

type mockCall struct {
	ID        string         `yaml:"id"`
	Name      string         `yaml:"name"`
	Arguments map[string]any `yaml:"arguments"`
	Raw       string         `yaml:"raw"` // Arguments that are not JSON.
}

func (c mockCall) args() string {
	if c.Raw != "" {
		return c.Raw
	}
	if c.Arguments == nil {
		return "{}"
	}
	text, _ := json.Marshal(c.Arguments)
	return string(text)
}

// mock is a model server that plays turns in one wire format.
type mock struct {
	*httptest.Server
	format string
	turns  []mockTurn
	dir    string

	mu   sync.Mutex
	next int
	stop chan struct{}
}

func startMock(format, src, dir string) (*mock, error) {
	if _, ok := wireFormats[format]; !ok {
		return nil, fmt.Errorf("unknown wire format %q", format)
	}
	m := &mock{format: format, dir: dir, stop: make(chan struct{})}
	if err := yaml.Load([]byte(src), &m.turns, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	return m, nil
}

func (m *mock) Close() {
	close(m.stop)
	m.CloseClientConnections()
	m.Server.Close()
}

// provider is the configuration that leads to this server.
func (m *mock) provider(settings map[string]string) string {
	text := fmt.Sprintf("mock:\n  "+wireFormats[m.format].kind+"\n", m.URL)
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		text += fmt.Sprintf("  %s: %s\n", key, settings[key])
	}
	return text
}

func (m *mock) serve(w http.ResponseWriter, r *http.Request) {
	f := wireFormats[m.format]
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, f.suffix) {
		m.describe(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	n := m.next
	m.next++
	m.mu.Unlock()
	var head strings.Builder
	fmt.Fprintln(&head, r.URL.Path)
	_ = r.Header.Write(&head)
	_ = os.WriteFile(filepath.Join(m.dir, fmt.Sprintf("%d.head", n+1)), []byte(head.String()), 0o644)
	_ = os.WriteFile(filepath.Join(m.dir, fmt.Sprintf("%d.json", n+1)), body, 0o644)
	if n >= len(m.turns) {
		http.Error(
			w,
			fmt.Sprintf(`{"error":{"message":"the mock has only %d turns"}}`, len(m.turns)),
			http.StatusTeapot,
		)
		return
	}
	t := m.turns[n]
	for k, v := range t.Header {
		w.Header().Set(k, v)
	}
	if t.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(t.Status)
		io.WriteString(w, t.Body)
		return
	}
	m.play(w, t)
}

// describe answers questions about models.
func (m *mock) describe(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/api/show"):
		io.WriteString(w, `{"details":{"family":"llama","parameter_size":"8.0B"},`+
			`"model_info":{"llama.context_length":8192},"capabilities":["completion","tools","thinking"]}`)
	case strings.HasSuffix(r.URL.Path, "/api/tags"):
		io.WriteString(w, `{"models":[{"name":"llama3:8b","model":"llama3:8b",`+
			`"details":{"family":"llama","parameter_size":"8.0B"}}]}`)
	case m.format == "google":
		io.WriteString(w, `{"models":[{"name":"models/gemini-2.5-pro","inputTokenLimit":1000,`+
			`"supportedGenerationMethods":["generateContent"]}]}`)
	case m.format == "anthropic":
		io.WriteString(w, `{"data":[{"id":"claude-sonnet-4-5","type":"model"}],"has_more":false}`)
	default:
		io.WriteString(w, `{"object":"list","data":[{"id":"mock-8b","object":"model","context_length":65536},`+
			`{"id":"alpha","object":"model"}]}`)
	}
}

// play writes a turn as a stream, with its fault.
func (m *mock) play(w http.ResponseWriter, t mockTurn) {
	f := wireFormats[m.format]
	flush := w.(http.Flusher).Flush
	switch t.Fault {
	case "html":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html><html><body>Sign in to the wifi</body></html>")
		return
	case "empty":
		return
	case "silent":
		m.hold()
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := f.events(t)
	write := func(e mockEvent) {
		data, ok := e.data.(string)
		if !ok {
			text, _ := json.Marshal(e.data)
			data = string(text)
		}
		text := fmt.Sprintf(f.line, e.name, data)
		if f.line == "data: %[2]s\n\n" || f.line == "%[2]s\n" {
			text = fmt.Sprintf(strings.ReplaceAll(f.line, "%[2]s", "%s"), data)
		}
		if t.Fault == "crlf" {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if t.Fault == "split" {
			for i := range len(text) {
				io.WriteString(w, text[i:i+1])
				flush()
			}
			return
		}
		io.WriteString(w, text)
		flush()
	}
	if t.Fault == "busy" {
		if m.format == "anthropic" || m.format == "responses" {
			write(events[0])
		}
		write(f.fault)
		return
	}
	last := len(events) - 1
	for i, e := range events {
		switch {
		case t.Fault == "invalid" && i == last:
			write(mockEvent{e.name, `{"broken`})
			return
		case t.Fault == "error" && i == last:
			write(f.fault)
			return
		case t.Fault == "noend" && i == last:
			return
		case t.Fault == "stall" && i == last:
			m.hold()
			return
		case t.Fault == "cut" && i == last:
			panic(http.ErrAbortHandler)
		}
		write(e)
	}
}

// hold sends nothing more until the test is over. It writes a file for scripts that wait
// for this.
func (m *mock) hold() {
	_ = os.WriteFile(filepath.Join(m.dir, "held"), nil, 0o644)
	<-m.stop
}
