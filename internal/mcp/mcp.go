// Package mcp connects to servers that speak the Model Context Protocol and makes
// tools of what they offer. It decides nothing about calls: the tools go through
// the same gates as all others, and which servers an agent gets is for the
// composition root to say.
package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/idelchi/aura/internal/tool"
)

// Options configures a Hub. The zero value works.
type Options struct {
	Dir    string          // Working directory of servers; empty is that of the process.
	Env    func() []string // Environment of servers and of ${VAR}; nil is that of the process.
	Client string          // Version of this program, as servers get to see it.
	Logger *slog.Logger

	// Ask puts a question of a server to the user; nil means that nobody is there,
	// and servers are told so.
	Ask func(context.Context, tool.Question) ([]string, error)
}

// Hub holds the connections to a set of servers. Its methods may be called by
// several goroutines.
type Hub struct {
	opts    Options
	version atomic.Int64

	mu      sync.Mutex
	conns   []*conn // By name.
	notices []string
	closed  bool
}

// New makes a hub for servers, none of which is started.
func New(servers []Server, o Options) *Hub {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Hub{opts: o}
	h.Update(servers)
	return h
}

// Update replaces the set of servers. Connections whose definition has not changed
// stay as they are, unless they had failed; all others end.
func (h *Hub) Update(servers []Server) {
	servers = slices.Clone(servers)
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	h.mu.Lock()
	old := h.conns
	h.conns = nil
	for _, s := range servers {
		i := slices.IndexFunc(old, func(c *conn) bool { return reflect.DeepEqual(c.server, s) && !c.failed() })
		if i >= 0 {
			h.conns = append(h.conns, old[i])
			old = slices.Delete(slices.Clone(old), i, i+1)
			continue
		}
		h.conns = append(h.conns, newConn(h, s))
	}
	h.mu.Unlock()
	closeAll(old)
	h.version.Add(1)
}

// Close ends all connections and the programs behind them. The nil Hub has none.
func (h *Hub) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	conns := h.conns
	h.closed = true
	h.mu.Unlock()
	closeAll(conns)
}

func closeAll(conns []*conn) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(c.close)
	}
	wg.Wait()
}

// Servers returns the definitions of all servers, by name.
func (h *Hub) Servers() []Server {
	var list []Server
	for _, c := range h.all() {
		list = append(list, c.server)
	}
	return list
}

func (h *Hub) all() []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	return slices.Clone(h.conns)
}

// named returns the connections with the given names.
func (h *Hub) named(names []string) []*conn {
	return slices.DeleteFunc(h.all(), func(c *conn) bool { return !slices.Contains(names, c.server.Name) })
}

// Start begins to connect to the named servers, all at the same time, and returns
// at once. Servers that were started before, and disabled ones, are left alone.
func (h *Hub) Start(names ...string) {
	for _, c := range h.named(names) {
		c.start()
	}
}

// Wait returns when each of the named servers that were started is connected or has
// failed, which takes no longer than the longest of their timeouts, or when ctx ends.
func (h *Hub) Wait(ctx context.Context, names ...string) {
	for _, c := range h.named(names) {
		c.wait(ctx)
	}
}

// Reconnect ends the connection to a server and makes a new one.
func (h *Hub) Reconnect(ctx context.Context, name string) error {
	c, err := h.find(name)
	if err != nil {
		return err
	}
	return c.reconnect(ctx, nil)
}

// find returns the connection of a server; case does not matter.
func (h *Hub) find(name string) (*conn, error) {
	var names []string
	for _, c := range h.all() {
		if strings.EqualFold(c.server.Name, name) {
			return c, nil
		}
		names = append(names, c.server.Name)
	}
	return nil, unknownServer(name, names)
}

// Version changes whenever Tools, Prompts or Connected would answer differently.
func (h *Hub) Version() int64 { return h.version.Load() }

// Notices returns what the user should know about servers and was not told yet.
func (h *Hub) Notices() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.notices
	h.notices = nil
	return list
}

// maxNotices bounds what a server that fails again and again can pile up.
const maxNotices = 50

func (h *Hub) notice(server, format string, args ...any) {
	text := fmt.Sprintf("MCP server %s: %s", server, fmt.Sprintf(format, args...))
	h.opts.Logger.Warn(text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.notices) < maxNotices && !slices.Contains(h.notices, text) {
		h.notices = append(h.notices, text)
	}
}

// Connected names the servers that are connected.
func (h *Hub) Connected() []string {
	var names []string
	for _, c := range h.all() {
		if c.status().State == Connected {
			names = append(names, c.server.Name)
		}
	}
	return names
}

// Tools returns the tools of all servers that were connected once, in the order of
// their names. Names are unique. A server that died keeps its tools: calling one
// connects it again.
func (h *Hub) Tools() []tool.Tool {
	var list []tool.Tool
	taken := map[string]bool{}
	for _, c := range h.all() {
		tools, _ := c.tools(taken)
		list = append(list, tools...)
	}
	slices.SortFunc(list, func(a, b tool.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Serving names the servers that a tool or prompt of that name could belong to.
func (h *Hub) Serving(name string) []string {
	var names []string
	for _, c := range h.all() {
		if strings.HasPrefix(name, Prefix+clean(c.server.Name)+"__") {
			names = append(names, c.server.Name)
		}
	}
	return names
}

// Status is what there is to say about a server.
type Status struct {
	Server       Server
	State        State
	Error        string // Why it failed or died.
	Program      string // What the server calls itself, with its version.
	Protocol     string // Version of the protocol.
	Instructions string
	Tools        []ToolInfo
	Skipped      []string // Tools that cannot be used, and why.
	Prompts      []Prompt
	Resources    []Resource
}

// ToolInfo is a tool of a server under both its names.
type ToolInfo struct {
	Name        string `json:"name"`
	Original    string `json:"original"`
	Description string `json:"description,omitempty"`
}

// Resource is something a server lets one read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// State is how far a connection is.
type State string

// The states of a connection.
const (
	Idle       State = "not started"
	Disabled   State = "disabled"
	Connecting State = "connecting"
	Connected  State = "connected"
	Failed     State = "failed" // It could not be connected.
	Died       State = "died"   // It was connected; the next call connects it again.
)

// Status describes all servers, by name.
func (h *Hub) Status() []Status {
	var list []Status
	taken := map[string]bool{}
	for _, c := range h.all() {
		s := c.status()
		tools, originals := c.tools(taken)
		for i, t := range tools {
			s.Tools = append(s.Tools, ToolInfo{Name: t.Name, Original: originals[i], Description: t.Description})
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Server.Name, b.Server.Name) })
	return list
}

// Inspect describes one server, resources included, which are asked for now.
func (h *Hub) Inspect(ctx context.Context, name string) (Status, error) {
	c, err := h.find(name)
	if err != nil {
		return Status{}, err
	}
	resources := c.resources(ctx)
	for _, s := range h.Status() {
		if s.Server.Name == c.server.Name {
			s.Resources = resources
			return s, nil
		}
	}
	return Status{}, unknownServer(name, nil)
}
