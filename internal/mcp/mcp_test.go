package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/idelchi/aura/internal/mcp"
	"github.com/idelchi/aura/internal/mcp/mcptest"
	"github.com/idelchi/aura/internal/tool"
)

// TestMain makes this binary the servers that the tests connect to.
func TestMain(m *testing.M) {
	if os.Getenv(mcptest.Marker) != "" {
		os.Exit(mcptest.Main(os.Args))
	}
	goleak.VerifyTestMain(m)
}

// stdio is a server of mcptest.
func stdio(name string, args ...string) mcp.Server {
	return mcp.Server{
		Name: name, File: "mcp/test.yaml", Line: 1, Type: "stdio", Command: os.Args[0], Args: args,
		Env: map[string]string{mcptest.Marker: "1"},
	}
}

// open starts servers and waits for them.
func open(t *testing.T, o mcp.Options, servers ...mcp.Server) *mcp.Hub {
	t.Helper()
	h := mcp.New(servers, o)
	t.Cleanup(h.Close)
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = s.Name
	}
	h.Start(names...)
	h.Wait(t.Context(), names...)
	return h
}

func find(t *testing.T, h *mcp.Hub, name string) tool.Tool {
	t.Helper()
	for _, x := range h.Tools() {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no tool %s; status: %+v", name, h.Status())
	return tool.Tool{}
}

func run(ctx context.Context, t *testing.T, h *mcp.Hub, name string, args map[string]any) (tool.Result, error) {
	t.Helper()
	return find(t, h, name).Execute(ctx, tool.Call{ID: "c1", Args: args})
}

// handler serves the good server over HTTP.
func handler(t *testing.T) http.Handler {
	server := mcptest.Server()
	t.Cleanup(func() {
		for s := range server.Sessions() {
			_ = s.Close()
		}
	})
	return protocol.NewStreamableHTTPHandler(func(*http.Request) *protocol.Server { return server }, nil)
}

// over serves the good server on both transports.
func over(t *testing.T, test func(t *testing.T, s mcp.Server)) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		test(t, stdio("srv", "good"))
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		web := httptest.NewServer(handler(t))
		t.Cleanup(web.Close)
		test(t, mcp.Server{Name: "srv", Type: "http", URL: web.URL})
	})
}

// HO-10 SD-40: tools of a server over both transports, under their names, with every
// kind of result.
func TestTools(t *testing.T) {
	over(t, func(t *testing.T, s mcp.Server) {
		h := open(t, mcp.Options{}, s)
		if got := h.Connected(); !slices.Equal(got, []string{"srv"}) {
			t.Fatalf("connected: %v; notices: %q", got, h.Notices())
		}
		for name, want := range map[string]string{
			"echo":     "hello",
			"document": "<resource uri=\"note:1\">\nthe note\n</resource>\n[resource note:2 second]",
			"picture":  "[audio audio/wav, 4 bytes, cannot be heard]",
		} {
			r, err := run(t.Context(), t, h, "mcp__srv__"+name, map[string]any{"text": "hello"})
			if err != nil || r.Text != want {
				t.Errorf("%s: %q, %v", name, r.Text, err)
			}
			if name == "picture" &&
				(len(r.Images) != 1 || r.Images[0].MediaType != "image/png" || string(r.Images[0].Data) != "png") {
				t.Errorf("images: %+v", r.Images)
			}
		}
		if r, err := run(
			t.Context(),
			t,
			h,
			"mcp__srv__add",
			map[string]any{"a": 2, "b": 3},
		); err != nil ||
			r.Text != `{"sum":5}` {
			t.Errorf("add: %q, %v", r.Text, err)
		}
		if _, err := run(t.Context(), t, h, "mcp__srv__fail", nil); err == nil || err.Error() != "it did not work" {
			t.Errorf("fail: %v", err)
		}
		if r, err := run(
			t.Context(),
			t,
			h,
			"mcp__srv__flood",
			nil,
		); err != nil || len(r.Text) > 1<<20+100 ||
			!strings.Contains(r.Text, "bytes left out") {
			t.Errorf("flood: %d bytes, %v", len(r.Text), err)
		}
		x := find(t, h, "mcp__srv__add")
		if x.Source != (tool.Source{Kind: "mcp", Name: "srv"}) || x.Description != "Adds numbers." ||
			len(x.SideEffects) != 1 {
			t.Errorf("tool: %+v", x)
		}
		if problems := x.Schema.Check(map[string]any{"a": "two"}); len(problems) == 0 {
			t.Error("the schema of the server is not held to")
		}
	})
}

// Live output while a call runs.
func TestProgress(t *testing.T) {
	over(t, func(t *testing.T, s mcp.Server) {
		h := open(t, mcp.Options{}, s)
		file := filepath.Join(t.TempDir(), "seen")
		var seen strings.Builder
		call := tool.Call{ID: "p", Args: map[string]any{"text": file}, Output: func(s string) {
			if seen.WriteString(s); strings.HasPrefix(s, "3/3") {
				_ = os.WriteFile(file, nil, 0o644)
			}
		}}
		if _, err := find(t, h, "mcp__srv__progress").Execute(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if got := seen.String(); got != "1/3 step\n2/3 step\n3/3 step\n" {
			t.Errorf("progress: %q", got)
		}
	})
}

// A call that is cancelled or takes too long ends, and the server is told.
func TestCancel(t *testing.T) {
	over(t, func(t *testing.T, s mcp.Server) {
		file := filepath.Join(t.TempDir(), "told")
		h := open(t, mcp.Options{}, s)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { await(t, file+".started"); cancel() }()
		if _, err := run(ctx, t, h, "mcp__srv__hang", map[string]any{"text": file}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled call: %v", err)
		}
		await(t, file)
		s.Timeout = 1500 * time.Millisecond
		h.Update([]mcp.Server{s})
		h.Start("srv")
		h.Wait(t.Context(), "srv")
		_, err := run(t.Context(), t, h, "mcp__srv__hang", nil)
		if err == nil || !strings.Contains(err.Error(), `MCP server srv: tool "hang" timed out after 1.5s`) {
			t.Errorf("hanging call: %v", err)
		}
		if r, err := run(
			t.Context(),
			t,
			h,
			"mcp__srv__echo",
			map[string]any{"text": "still here"},
		); err != nil ||
			r.Text != "still here" {
			t.Errorf("after a hanging call: %q, %v", r.Text, err)
		}
	})
}

// await waits until another process has written a file.
func await(t *testing.T, file string) {
	eventually(t, file, func() bool { _, err := os.Stat(file); return err == nil })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%s never came", what)
			return
		}
	}
}

// A server that changes its tools: the registry follows.
func TestListChanged(t *testing.T) {
	over(t, func(t *testing.T, s mcp.Server) {
		h := open(t, mcp.Options{}, s)
		before := h.Version()
		if _, err := run(t.Context(), t, h, "mcp__srv__grow", nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the new tool", func() bool {
			return slices.ContainsFunc(h.Tools(), func(x tool.Tool) bool { return x.Name == "mcp__srv__grown" })
		})
		if h.Version() == before {
			t.Error("the version did not change")
		}
		if r, err := run(t.Context(), t, h, "mcp__srv__grown", nil); err != nil || r.Text != "I am new" {
			t.Errorf("grown: %q, %v", r.Text, err)
		}
	})
}

// A server that dies in a call is named with its last words; the next call starts it
// again.
func TestCrash(t *testing.T) {
	t.Parallel()
	h := open(t, mcp.Options{}, stdio("srv", "good"))
	_, err := run(t.Context(), t, h, "mcp__srv__crash", nil)
	for _, part := range []string{"MCP server srv died", "exit status 7", "something went terribly wrong"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("crash: %v lacks %q", err, part)
		}
	}
	var notices []string
	eventually(t, "the news", func() bool {
		notices = append(notices, h.Notices()...)
		return h.Status()[0].State == mcp.Died && len(notices) > 0
	})
	if got := h.Connected(); len(got) != 0 {
		t.Errorf("connected: %v", got)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "MCP server srv: died: it ended with exit status 7") {
		t.Errorf("notices: %q", notices)
	}
	if r, err := run(
		t.Context(),
		t,
		h,
		"mcp__srv__echo",
		map[string]any{"text": "back"},
	); err != nil ||
		r.Text != "back" {
		t.Errorf("after the crash: %q, %v", r.Text, err)
	}
	if got := h.Connected(); !slices.Equal(got, []string{"srv"}) {
		t.Errorf("connected: %v", got)
	}
}

// A server on the network that forgot the session is asked again, once; one that is gone
// is named.
func TestSessionLost(t *testing.T) {
	t.Parallel()
	var current atomic.Value
	current.Store(handler(t))
	web := httptest.NewServer(
		http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) { current.Load().(http.Handler).ServeHTTP(w, r) },
		),
	)
	t.Cleanup(web.Close)
	h := open(t, mcp.Options{}, mcp.Server{Name: "srv", Type: "http", URL: web.URL})
	current.Store(handler(t)) // It knows nobody.
	if r, err := run(
		t.Context(),
		t,
		h,
		"mcp__srv__echo",
		map[string]any{"text": "again"},
	); err != nil ||
		r.Text != "again" {
		t.Errorf("new session: %q, %v", r.Text, err)
	}
	web.CloseClientConnections()
	web.Close()
	if _, err := run(
		t.Context(),
		t,
		h,
		"mcp__srv__echo",
		nil,
	); err == nil ||
		!strings.Contains(err.Error(), "MCP server srv") {
		t.Errorf("gone: %v", err)
	}
}

// Servers that cannot be connected are named with the reason, and the others work.
func TestFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short := func(s mcp.Server) mcp.Server { s.Timeout = 300 * time.Millisecond; return s }
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	h := open(
		t,
		mcp.Options{},
		stdio("a-broken", "broken"),
		short(stdio("b-mute", "mute")),
		short(stdio("c-noise", "noise")),
		mcp.Server{Name: "d-missing", Type: "stdio", Command: "no-such-program-anywhere"},
		mcp.Server{Name: "e-web", Type: "http", URL: web.URL},
		mcp.Server{Name: "f-refused", Type: "http", URL: "http://127.0.0.1:1"},
		mcp.Server{
			Name:    "g-token",
			Type:    "http",
			URL:     web.URL,
			File:    "mcp/x.yaml",
			Line:    4,
			Headers: map[string]string{"Authorization": "Bearer ${NO_SUCH_TOKEN}"},
		},
		short(stdio("h-gated", "gated", filepath.Join(dir, "never"))),
		mcp.Server{Name: "i-off", Type: "stdio", Command: os.Args[0], Disabled: true},
		stdio("j-good", "good"),
		stdio("k-chatty", "chatty"),
	)
	notices := strings.Join(h.Notices(), "\n")
	for _, want := range []string{
		"a-broken: cannot be connected: it ended with exit status 3, saying: no token in the environment",
		"b-mute: cannot be connected: it did not answer within 300ms",
		"c-noise: cannot be connected: it did not answer within 300ms, saying: Welcome to my server!",
		`d-missing: cannot be connected: command "no-such-program-anywhere": not found in PATH`,
		"e-web: cannot be connected: ",
		"f-refused: cannot be connected: ",
		"g-token: cannot be connected: mcp/x.yaml:4: g-token.headers.Authorization: $NO_SUCH_TOKEN is not set",
		"h-gated: cannot be connected: it did not answer",
	} {
		if !strings.Contains(notices, "MCP server "+want) {
			t.Errorf("notices lack %q:\n%s", want, notices)
		}
	}
	if got := h.Connected(); !slices.Equal(got, []string{"j-good", "k-chatty"}) {
		t.Errorf("connected: %v", got)
	}
	for _, name := range h.Connected() {
		if r, err := run(
			t.Context(),
			t,
			h,
			"mcp__"+name+"__echo",
			map[string]any{"text": "fine"},
		); err != nil ||
			r.Text != "fine" {
			t.Errorf("%s: %q, %v", name, r.Text, err)
		}
	}
	if err := h.Reconnect(t.Context(), "i-off"); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("reconnect of a disabled server: %v", err)
	}
	if err := h.Reconnect(t.Context(), "j-god"); err == nil || !strings.Contains(err.Error(), `did you mean "j-good"`) {
		t.Errorf("reconnect of an unknown server: %v", err)
	}
}

// A slow server holds nobody up who does not wait for it, and comes when it is ready.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	h := mcp.New([]mcp.Server{stdio("slow", "gated", gate)}, mcp.Options{})
	defer h.Close()
	h.Start("slow")
	if s := h.Status()[0]; s.State != mcp.Connecting || len(h.Tools()) != 0 {
		t.Errorf("status: %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.Wait(ctx, "slow") // Does not wait.
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h.Wait(t.Context(), "slow")
	if s := h.Status()[0]; s.State != mcp.Connected || s.Program != "good 1.2.3" || s.Instructions != "Be nice." ||
		len(s.Prompts) != 2 {
		t.Errorf("status: %+v", s)
	}
}

// Servers that lie about schemas: what cannot be used is named, the rest works, and
// what models get is what the server wrote.
func TestSchemas(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tools.json")
	const verbatim = `{"type":"object","properties":{"zeta":{"type":"integer","maximum":12345678901234567891},"alpha":{"$ref":"#/nowhere"}}}`
	list := `[{"name":"good one/2","inputSchema":` + verbatim + `},
		{"name":"string","inputSchema":"object"}, {"name":"array","inputSchema":{"type":"array"}},
		{"name":"none"}, {"name":"","inputSchema":{}}, {"name":"null","inputSchema":null},
		{"name":"good one.2","inputSchema":{"type":"object"}},
		{"name":"` + strings.Repeat("long", 30) + `","inputSchema":{}}]`
	if err := os.WriteFile(file, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	h := open(t, mcp.Options{}, stdio("my server", "raw", file))
	var names []string
	for _, x := range h.Tools() {
		names = append(names, x.Name)
		if len(x.Name) > 64 || strings.ContainsAny(x.Name, " ./") {
			t.Errorf("name %q", x.Name)
		}
	}
	if len(names) != 3 || names[1] != "mcp__my_server__good_one_2" && names[0] != "mcp__my_server__good_one_2" {
		t.Errorf("tools: %q; notices: %q", names, h.Notices())
	}
	if got := string(find(t, h, "mcp__my_server__good_one_2").Schema.Raw()); got != verbatim {
		t.Errorf("schema: %s", got)
	}
	if problems := find(t, h, "mcp__my_server__good_one_2").Schema.Check(map[string]any{"more": 1}); len(problems) > 0 {
		t.Errorf("a parameter that is not listed: %v", problems)
	}
	notices := strings.Join(h.Notices(), "\n")
	for _, name := range []string{`"string"`, `"array"`, `"none"`, `""`, `"null"`} {
		if !strings.Contains(notices, "MCP server my server: tool "+name+" is left out: ") {
			t.Errorf("notices lack %s:\n%s", name, notices)
		}
	}
	if r, err := run(t.Context(), t, h, "mcp__my_server__good_one_2", nil); err != nil || r.Text != "raw answer" {
		t.Errorf("call: %q, %v", r.Text, err)
	}
	again := mcp.New(nil, mcp.Options{})
	again.Close()
	var second []string
	for _, x := range h.Tools() {
		second = append(second, x.Name)
	}
	if !slices.Equal(names, second) {
		t.Errorf("names change: %q, %q", names, second)
	}
}

// The environment of servers: that of the session, and their own over it.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s := stdio("srv", "good")
	s.Args = []string{"${KIND:-good}"}
	s.Env["OWN"], s.Env["SHARED"] = "own ${FROM_FILE}", "server"
	h := open(
		t,
		mcp.Options{Env: func() []string { return append(os.Environ(), "FROM_FILE=secret", "SHARED=file") }},
		s,
	)
	for name, want := range map[string]string{"OWN": "own secret", "FROM_FILE": "secret", "SHARED": "server"} {
		r, err := run(t.Context(), t, h, "mcp__srv__env", map[string]any{"text": name})
		if err != nil || r.Text != name+"="+want {
			t.Errorf("%s: %q, %v", name, r.Text, err)
		}
	}
}

// Headers are expanded and go to the server they are for, and to nobody it redirects to.
func TestHeaders(t *testing.T) {
	t.Parallel()
	thief := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		thief <- r.Header.Get("X-Key")
		http.NotFound(w, r)
	}))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.Handle("/", handler(t))
	mux.Handle("/elsewhere", http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "key 1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	headers := map[string]string{"X-Key": "key ${NUMBER}"}
	h := open(t, mcp.Options{Env: func() []string { return []string{"NUMBER=1"} }},
		mcp.Server{Name: "srv", Type: "http", URL: web.URL, Headers: headers},
		mcp.Server{Name: "bare", Type: "http", URL: web.URL},
		mcp.Server{Name: "moved", Type: "http", URL: web.URL + "/elsewhere", Headers: headers})
	if got := h.Connected(); !slices.Equal(got, []string{"srv"}) {
		t.Errorf("connected: %v; %q", got, h.Notices())
	}
	if got := <-thief; got != "" {
		t.Errorf("the header went to another server: %q", got)
	}
}
