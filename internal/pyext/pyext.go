// Package pyext runs Python extensions: it finds them, starts one Python process
// for all of them, and makes handlers, tools and commands of what they register.
// Both ends of the wire live here, the other one in the directory python. It does
// not decide when handlers run; that is package lifecycle.
package pyext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// Deadlines that apply where Options says nothing.
const (
	DefaultTimeout     = 10 * time.Second
	DefaultToolTimeout = 120 * time.Second
)

// Options configures a Host. Cache is required, the rest optional.
type Options struct {
	Interpreter Interpreter   // What runs the extensions; probed if it was only found.
	Cache       string        // Directory for the embedded Python package.
	Workdir     string        // Of the process.
	Env         []string      // Of the process; nil is that of this one.
	Timeout     time.Duration // Of one handler, and of loading one extension.
	ToolTimeout time.Duration // Of one tool or command.
	Resumed     bool          // The session has started already: extensions hear of it first.
	Debug       bool          // Log lines at level DEBUG cross the wire.
	Logger      *slog.Logger

	// Notice shows what an extension says to the user. It may be called by any
	// goroutine.
	Notice func(extension, text string)

	patience time.Duration // For calls to stop after the user cancelled; for tests.
	loading  time.Duration // Of loading one extension, if not Timeout; for tests.
	boot     string        // What Python runs; for tests.

	// Messages is the conversation, for extensions that read it. It is called
	// only while a handler, tool or command runs.
	Messages func() []message.Message
}

// Host is the Go end: it owns the Python process and what the extensions
// registered. Methods may be called by several goroutines.
type Host struct {
	opts   Options
	found  []Extension
	guards []*foreign.Guard // Of each extension, in their order.

	mu      sync.Mutex
	closed  bool
	proc    *process
	state   chan struct{}   // Closed when proc is ready, or cannot be.
	err     error           // Why it cannot be.
	regs    map[int]*loaded // By number of the extension, from 1.
	unknown int             // Deaths that nobody could be blamed for.
	begun   bool            // The session has started: a new process is told too.
	known   facts           // The latest ones.
	wg      sync.WaitGroup
}

// maxUnknownDeaths is how often the process may die of nobody knows what.
const maxUnknownDeaths = 3

// New makes a host for extensions. Shadowed ones are left out. Nothing runs yet.
func New(o Options, found []Extension) *Host {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.ToolTimeout <= 0 {
		o.ToolTimeout = DefaultToolTimeout
	}
	if o.loading <= 0 {
		o.loading = o.Timeout
	}
	if o.boot == "" {
		o.boot = bootCode
	}
	if o.patience <= 0 {
		o.patience = cancelGrace
	}
	if o.Notice == nil {
		o.Notice = func(string, string) {}
	}
	if o.Messages == nil {
		o.Messages = func() []message.Message { return nil }
	}
	h := &Host{opts: o, begun: o.Resumed, state: make(chan struct{}), regs: map[int]*loaded{}}
	for _, e := range found {
		if e.ShadowedBy == "" {
			h.found = append(h.found, e)
			h.guards = append(h.guards, foreign.NewGuard(fmt.Sprintf("extension %q", e.Name), nil))
		}
	}
	return h
}

// Start starts the Python process in the background and returns at once.
func (h *Host) Start() {
	h.wg.Go(func() { h.launch(h.state) })
}

// Wait waits until the extensions are loaded. Problems of single extensions are
// no error; they are told as notices.
func (h *Host) Wait(ctx context.Context) error {
	_, err := h.current(ctx)
	return err
}

// Extensions lists the extensions with what they registered, in running order.
func (h *Host) Extensions() []Loaded {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Loaded
	for i, e := range h.found {
		l := Loaded{Extension: e, Error: h.guards[i].Why()}
		if reg := h.regs[i+1]; reg != nil {
			l.fill(reg)
		}
		out = append(out, l)
	}
	return out
}

// Prompts are the paragraphs that extensions add to the system prompt.
func (h *Host) Prompts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for i := range h.found {
		if reg := h.regs[i+1]; reg != nil && h.guards[i].Err() == nil {
			out = append(out, reg.Prompts...)
		}
	}
	return out
}

// Close ends the Python process and everything it started.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	p, state := h.proc, h.state
	h.mu.Unlock()
	if p != nil {
		select {
		case <-state:
		default: // It still loads: nothing of it has begun that could end in order.
			p.kill(death{why: "the session has ended", blameless: true})
		}
		p.shutdown()
	}
	h.wg.Wait()
}

// current returns the running process; it waits while one starts.
func (h *Host) current(ctx context.Context) (*process, error) {
	for {
		h.mu.Lock()
		state := h.state
		h.mu.Unlock()
		select {
		case <-state:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		h.mu.Lock()
		p, err, same := h.proc, h.err, state == h.state
		h.mu.Unlock()
		if same {
			return p, err
		}
	}
}

// launch starts processes until one has loaded the extensions that are left.
func (h *Host) launch(state chan struct{}) {
	defer close(state)
	for {
		p, err := h.spawn()
		if p != nil && err != nil {
			p.wait()
		}
		h.mu.Lock()
		h.proc, h.err = p, err
		closed := h.closed
		h.mu.Unlock()
		if closed && p != nil {
			p.shutdown()
		}
		if closed || err == nil || p == nil || !h.blame(p) {
			return
		}
	}
}

// errNone is the state of a host whose extensions are all out of service.
var errNone = errors.New("no Python extension is in service")

// spawn starts a process and lets it load the extensions that are in service.
func (h *Host) spawn() (*process, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errors.New("the session has ended")
	}
	var list []Extension
	for i, e := range h.found {
		if h.guards[i].Err() == nil {
			e.number = i + 1
			list = append(list, e)
		}
	}
	h.mu.Unlock()
	if len(list) == 0 {
		return nil, errNone
	}
	p, err := startProcess(h)
	if err != nil {
		h.opts.Notice("", fmt.Sprintf("Python extensions do not run: %v", err))
		return nil, err
	}
	h.mu.Lock()
	h.proc = p // Close ends it also while it loads.
	closed := h.closed
	h.mu.Unlock()
	if closed {
		p.kill(death{why: "the session has ended", blameless: true})
	}
	return p, p.load(list)
}

// blame finds out whose fault the end of a process was, takes that extension out of
// service and tells the user. It reports whether another start makes sense.
func (h *Host) blame(p *process) bool {
	d := p.cause()
	h.mu.Lock()
	name, text := "", ""
	switch {
	case d.blameless: // It was ended on purpose.
	case d.culprit > 0 && d.culprit <= len(h.found):
		name, text = h.found[d.culprit-1].Name, d.why+"; it is switched off until /reload"
		h.guard(d.culprit).SwitchOff(d.why)
	default:
		h.unknown++
		text = "the Python process ended: " + d.why
	}
	again := h.unknown < maxUnknownDeaths
	h.mu.Unlock()
	if text != "" {
		h.opts.Logger.Warn("Python process ended", "extension", name, "why", d.why)
		h.opts.Notice(name, text)
	}
	return again
}

// takeLoaded keeps what an extension registered, or why it could not be loaded.
func (h *Host) takeLoaded(l *loaded) {
	if l.Index < 1 || l.Index > len(h.found) {
		return
	}
	name := h.found[l.Index-1].Name
	h.mu.Lock()
	_, again := h.regs[l.Index]
	h.regs[l.Index] = l
	if l.Error != "" {
		h.guard(l.Index).SwitchOff("it could not be loaded: " + l.Error)
	}
	h.mu.Unlock()
	if l.Error != "" {
		h.opts.Logger.Warn("extension could not be loaded", "extension", name, "error", l.Error, "trace", l.Trace)
		h.opts.Notice(name, "it could not be loaded: "+l.Error)
		return
	}
	if !again {
		h.opts.Logger.Debug(
			"extension loaded",
			"extension",
			name,
			"handlers",
			len(l.Handlers),
			"tools",
			len(l.Tools),
			"commands",
			len(l.Commands),
		)
	}
}

// died is called when a process that was ready is gone. A new one is started for
// the extensions that are left.
func (h *Host) died(p *process) {
	h.mu.Lock()
	if h.closed || h.proc != p {
		h.mu.Unlock()
		return
	}
	state := make(chan struct{})
	h.state, h.proc = state, nil
	h.mu.Unlock()
	if h.blame(p) {
		h.wg.Go(func() { h.launch(state) })
		return
	}
	h.mu.Lock()
	h.err = fmt.Errorf("the Python process ended %d times; /reload starts it again", maxUnknownDeaths)
	h.mu.Unlock()
	close(state)
}

// inService reports whether an extension runs.
func (h *Host) inService(number int) bool { return h.guard(number).Err() == nil }

// guard is the guard of an extension by its number; nil if there is none of that number.
func (h *Host) guard(number int) *foreign.Guard {
	if number < 1 || number > len(h.guards) {
		return nil
	}
	return h.guards[number-1]
}

// name is the name of an extension by its number.
func (h *Host) name(number int) string {
	if number < 1 || number > len(h.found) {
		return ""
	}
	return h.found[number-1].Name
}

// remember keeps the latest facts for the next process.
func (h *Host) remember(c *sdk.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known.Config.Vars.values == nil && c.Vars != nil {
		h.known.Config.Vars.values = new(c.Vars)
	}
	h.known = factsOf(c, h.known.Config.Vars.values)
}

func (h *Host) lastFacts() facts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known
}

// said takes what an extension logs to the user, or to the log only.
func (h *Host) said(f frame) {
	const info, warning = 20, 30 // Levels of Python's logging.
	name := h.name(f.Index)
	h.opts.Logger.Debug("extension says", "extension", name, "level", f.Level, "text", *f.Log, "trace", f.Trace)
	if f.Level < info {
		return
	}
	text := *f.Log
	if f.Level >= warning {
		text = "warning: " + text
	}
	if f.Level > warning {
		text = "error: " + *f.Log
	}
	h.opts.Notice(name, text)
}

// prompted takes over what an extension adds to the prompt while it runs.
func (h *Host) prompted(f frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if reg := h.regs[f.Index]; reg != nil {
		c := *reg
		c.Prompts = f.Prompts
		h.regs[f.Index] = &c
	}
}
