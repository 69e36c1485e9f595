package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
)

// conn is the connection to one server, through all its lives.
type conn struct {
	hub    *Hub
	server Server
	ctx    context.Context // Ends with the connection.
	cancel context.CancelFunc

	mu      sync.Mutex
	state   State
	problem string
	live    *life         // The current life; also a finished one, until the next.
	ready   chan struct{} // Closed when the latest attempt to connect has ended.
	list    catalogue
	calls   []*running

	closing sync.WaitGroup // Lives that come to an end.
}

// life is a connection from its beginning to the death of the server.
type life struct {
	session *protocol.ClientSession
	process *process // Nil on the network.
	wire    protocol.Connection
	http    *http.Transport
	schemas schemas
	over    chan struct{} // Closed when the connection has ended.

	refresh chan struct{} // A lock, held while lists are read anew.
	pending chan struct{} // Somebody waits for it.
}

func newConn(h *Hub, s Server) *conn {
	c := &conn{hub: h, server: s, state: Idle}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if s.Disabled {
		c.state = Disabled
	}
	return c
}

func (c *conn) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == Failed || c.state == Died
}

// start begins to connect, if nobody did so before.
func (c *conn) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Idle && c.ctx.Err() == nil {
		c.begin()
	}
}

// begin starts an attempt to connect. c.mu is held.
func (c *conn) begin() {
	c.state = Connecting
	ready := make(chan struct{})
	c.ready = ready
	go func() {
		defer close(ready)
		ctx, cancel := context.WithTimeout(c.ctx, c.server.connectTimeout())
		defer cancel()
		l, list, err := c.dial(ctx)
		if err != nil && ctx.Err() != nil && c.ctx.Err() == nil {
			err = fmt.Errorf("it did not answer within %s%s", c.server.connectTimeout(), said(l))
		}
		c.finish(l, list, err)
	}()
}

// said adds the last words of a server to an error.
func said(l *life) string {
	if l == nil || l.process == nil || l.process.lastWords() == "" {
		return ""
	}
	return ", saying: " + l.process.lastWords()
}

// finish takes over the outcome of an attempt.
func (c *conn) finish(l *life, list catalogue, err error) {
	if err != nil {
		if l != nil {
			c.closing.Go(l.close) // Nobody has to wait for it.
		}
		c.mu.Lock()
		c.state, c.problem = Failed, err.Error()
		c.mu.Unlock()
		if c.ctx.Err() == nil {
			c.hub.notice(c.server.Name, "cannot be connected: %v", err)
		}
		c.hub.version.Add(1)
		return
	}
	for _, s := range list.skipped {
		c.hub.notice(c.server.Name, "%s", s)
	}
	c.mu.Lock()
	c.state, c.problem, c.live, c.list = Connected, "", l, list
	c.mu.Unlock()
	c.hub.version.Add(1)
	c.closing.Go(func() { c.watch(l) })
}

// watch notes the end of a life.
func (c *conn) watch(l *life) {
	err := l.session.Wait()
	if l.process != nil { // It says more than a pipe that broke.
		l.process.within(killTime)
	}
	close(l.over)
	why := "the connection ended"
	if err != nil {
		why = oneLine(err.Error(), 300)
	}
	if l.process != nil {
		if text := l.process.ended(); text != "" {
			why = text
		}
	}
	c.mu.Lock()
	current := c.live == l && c.state == Connected && c.ctx.Err() == nil
	if current {
		c.state, c.problem = Died, why
	}
	c.mu.Unlock()
	if current {
		c.hub.notice(c.server.Name, "died: %s; it is connected again when it is needed", why)
		c.hub.version.Add(1)
	}
	l.close()
}

// wait returns when the latest attempt to connect has ended and lists that changed
// have been read.
func (c *conn) wait(ctx context.Context) {
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	if ready == nil {
		return
	}
	select {
	case <-ready:
	case <-ctx.Done():
		return
	}
	c.mu.Lock()
	l := c.live
	c.mu.Unlock()
	if l != nil {
		select {
		case l.refresh <- struct{}{}:
			<-l.refresh
		case <-ctx.Done():
		}
	}
}

// alive returns the current life, after connecting again where it is over.
func (c *conn) alive(ctx context.Context) (*life, error) {
	c.mu.Lock()
	l, state := c.live, c.state
	c.mu.Unlock()
	if state == Connected && !l.isOver() {
		return l, nil
	}
	if state == Connecting {
		c.wait(ctx)
	}
	if err := c.reconnect(ctx, l); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live, nil
}

// reconnect begins a new life, unless another one than old is there already; a nil
// old stands for any.
func (c *conn) reconnect(ctx context.Context, old *life) error {
	c.mu.Lock()
	switch {
	case c.server.Disabled:
		c.mu.Unlock()
		return fmt.Errorf("MCP server %s is disabled in %s:%d", c.server.Name, c.server.File, c.server.Line)
	case c.ctx.Err() != nil:
		c.mu.Unlock()
		return fmt.Errorf("MCP server %s: the session is over", c.server.Name)
	case c.state == Connecting, c.state == Connected && old != nil && c.live != old:
	default:
		if l := c.live; l != nil {
			c.live = nil
			c.closing.Go(l.close)
		}
		c.begin()
	}
	ready := c.ready
	c.mu.Unlock()
	select {
	case <-ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != Connected {
		return fmt.Errorf("MCP server %s: %s", c.server.Name, c.problem)
	}
	return nil
}

// close ends the connection for good.
func (c *conn) close() {
	c.cancel()
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	if ready == nil {
		return
	}
	<-ready
	c.mu.Lock()
	l := c.live
	c.mu.Unlock()
	if l != nil {
		l.close()
	}
	done := make(chan struct{})
	go func() { defer close(done); c.closing.Wait() }()
	select {
	case <-done:
	case <-time.After(2 * closeTime):
	}
}

// status describes the server, without its tools.
func (c *conn) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Status{
		Server: c.server, State: c.state, Error: c.problem, Program: c.list.program, Protocol: c.list.protocol,
		Instructions: c.list.instructions, Skipped: slices.Clone(c.list.skipped), Prompts: c.list.named(c.server.Name),
	}
}

// closeTime bounds how long the end of a connection may take.
const closeTime = 2 * time.Second

// isOver reports whether the life has ended. A program that exited counts before the
// connection has noticed.
func (l *life) isOver() bool {
	if l.process != nil && l.process.ended() != "" {
		return true
	}
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// close ends a life. The program goes first, or calls that it does not answer would
// keep the connection open.
func (l *life) close() {
	if l.process != nil {
		_ = l.process.Close()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if l.wire != nil {
			_ = l.wire.Close()
		}
		if l.session != nil {
			_ = l.session.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(closeTime):
	}
	if l.http != nil {
		l.http.CloseIdleConnections()
	}
}

// dial connects to the server and reads its lists. The life is also returned with an
// error, to be closed.
func (c *conn) dial(ctx context.Context) (*life, catalogue, error) {
	env := os.Environ()
	if c.hub.opts.Env != nil {
		env = c.hub.opts.Env()
	}
	s, err := c.server.expanded(func(name string) (string, bool) { return lookup(env, name) })
	if err != nil {
		return nil, catalogue{}, err
	}
	l := &life{over: make(chan struct{}), refresh: make(chan struct{}, 1), pending: make(chan struct{}, 1)}
	t, err := c.transport(l, s, env)
	if err != nil {
		return l, catalogue{}, err
	}
	capture := &captured{Transport: t}
	l.session, err = c.client(l).Connect(ctx, capture, nil)
	l.wire = capture.conn
	if err != nil {
		return l, catalogue{}, c.explain(l, err)
	}
	list, err := c.read(ctx, l)
	if err != nil {
		return l, list, c.explain(l, err)
	}
	return l, list, nil
}

// explain says why a server could not be connected: how the program ended says more
// than the pipe that broke.
func (c *conn) explain(l *life, err error) error {
	if l.process != nil && l.process.within(50*time.Millisecond) {
		return errors.New(l.process.ended())
	}
	return fmt.Errorf("%s%s", oneLine(err.Error(), 500), said(l))
}

// captured remembers the connection, which the SDK does not close when the handshake
// fails halfway.
type captured struct {
	protocol.Transport
	conn protocol.Connection
}

func (t *captured) Connect(ctx context.Context) (conn protocol.Connection, err error) {
	t.conn, err = t.Transport.Connect(ctx)
	return t.conn, err
}

// transport makes the way to the server.
func (c *conn) transport(l *life, s Server, env []string) (protocol.Transport, error) {
	if s.Type == "http" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("%s is not an address", s.URL)
		}
		l.http = http.DefaultTransport.(*http.Transport).Clone()
		client := &http.Client{Transport: &transport{next: l.http, url: u, headers: s.Headers, schemas: &l.schemas}}
		return &protocol.StreamableClientTransport{
			Endpoint:     s.URL,
			HTTPClient:   client,
			MaxRetries:   2,
			MaxEventSize: maxMessage,
		}, nil
	}
	for name, value := range s.Env {
		env = append(slices.Clip(env), name+"="+value)
	}
	var err error
	log := c.hub.opts.Logger.With("server", s.Name)
	if l.process, err = startProcess(s.Command, s.Args, env, c.hub.opts.Dir, log); err != nil {
		return nil, err
	}
	reader := &tap{ReadCloser: l.process, lines: true, learn: l.schemas.learn}
	return &protocol.IOTransport{Reader: reader, Writer: l.process, MaxLineLength: maxMessage}, nil
}

// lookup finds a variable in an environment; the last one wins.
func lookup(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if key, value, ok := strings.Cut(kv, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// client makes the client of a life.
func (c *conn) client(l *life) *protocol.Client {
	changed := func() { c.changed(l) }
	o := &protocol.ClientOptions{
		Logger:                      c.hub.opts.Logger,
		Capabilities:                &protocol.ClientCapabilities{RootsV2: &protocol.RootCapabilities{}},
		ToolListChangedHandler:      func(context.Context, *protocol.ToolListChangedRequest) { changed() },
		PromptListChangedHandler:    func(context.Context, *protocol.PromptListChangedRequest) { changed() },
		ProgressNotificationHandler: c.progress,
		LoggingMessageHandler: func(_ context.Context, r *protocol.LoggingMessageRequest) {
			c.hub.opts.Logger.Debug(
				"message",
				"server",
				c.server.Name,
				"level",
				r.Params.Level,
				"text",
				clip(fmt.Sprint(r.Params.Data), maxErrorLine),
			)
		},
	}
	if c.hub.opts.Ask != nil {
		o.ElicitationHandler = c.elicit
	}
	client := protocol.NewClient(&protocol.Implementation{Name: "aura", Version: c.hub.opts.Client}, o)
	if dir := c.hub.opts.Dir; filepath.IsAbs(dir) {
		uri := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
		client.AddRoots(&protocol.Root{URI: uri.String(), Name: filepath.Base(dir)})
	}
	return client
}
