package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/idelchi/aura/internal/tool"
)

// Settings are what the configuration says about the sandbox of an agent.
type Settings struct {
	Enabled     bool
	RO, RW      []string // In place of the usual directories; empty leaves those.
	ExtraRO     []string
	ExtraRW     []string
	DenyNetwork bool
}

// Options say how tools are confined.
type Options struct {
	Workdir string
	// Command starts this program as a confined process: the program and its arguments.
	// Empty means that tools cannot be confined.
	Command []string
	Env     func() []string
	Logger  *slog.Logger
	Notice  func(text string) // Tells the user what the model can do nothing about.
}

// Confinement is the sandbox of a session: what is asked for, and the processes that run
// tools under it. Its methods may be called by several goroutines.
type Confinement struct {
	opts Options

	mu       sync.Mutex
	override *bool              // What the user switched; nil leaves it to the configuration.
	workers  map[string]*Worker // By rules.
}

// New returns a sandbox in which nothing runs yet.
func New(o Options) *Confinement { return &Confinement{opts: o, workers: map[string]*Worker{}} }

// Switch turns the sandbox on or off, whatever the configuration says.
func (c *Confinement) Switch(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.override = &on
}

// Rules are the rules for an agent; nil while the sandbox is off.
func (c *Confinement) Rules(s Settings) *Rules {
	c.mu.Lock()
	on := s.Enabled
	if c.override != nil {
		on = *c.override
	}
	c.mu.Unlock()
	if !on {
		return nil
	}
	r := Default(c.opts.Workdir)
	if len(s.RO) > 0 {
		r.RO = s.RO
	}
	if len(s.RW) > 0 {
		r.RW = s.RW
	}
	r.RO = append(r.RO, s.ExtraRO...)
	r.RW = append(r.RW, s.ExtraRW...)
	r.NoNetwork = s.DenyNetwork
	r = r.Resolve(c.opts.Workdir)
	return &r
}

// Confine makes a tool run in a confined process where the rules and the kernel say so.
func (c *Confinement) Confine(t tool.Tool, r *Rules) tool.Tool {
	if r == nil || t.InProcess || len(c.opts.Command) == 0 || Supported() != nil {
		return t
	}
	t.Execute = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		result, err := c.worker(*r).Run(ctx, t.Name, call)
		if setup, ok := errors.AsType[*SetupError](err); ok {
			// The user must know; the model can do nothing about it.
			c.opts.Notice(setup.Error())
			return tool.Result{}, errors.New("the sandbox does not work; the user has been told")
		}
		return result, err
	}
	return t
}

// worker returns the confined process for a set of rules.
func (c *Confinement) worker(r Rules) *Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.workers[r.String()]
	if !ok {
		w = NewWorker(WorkerOptions{Command: c.opts.Command, Rules: r, Env: c.opts.Env(), Logger: c.opts.Logger})
		c.workers[r.String()] = w
	}
	return w
}

// Close ends the confined processes.
func (c *Confinement) Close() {
	c.mu.Lock()
	workers := c.workers
	c.workers = map[string]*Worker{}
	c.mu.Unlock()
	for _, w := range workers {
		w.Close()
	}
}

// State tells whether tools are confined. Enabled is what was asked for, Enforced what
// the kernel does.
type State struct {
	Enabled  bool
	Enforced bool
	Display  string
}

// StateOf is the state under the given rules; nil rules are those of a sandbox that is off.
func StateOf(r *Rules) State {
	if r == nil {
		return State{Display: "off"}
	}
	s := State{Enabled: true, Enforced: true, Display: r.String()}
	if err := Supported(); err != nil {
		s.Enforced, s.Display = false, fmt.Sprintf("%s (not enforced: %v)", r, err)
	}
	return s
}

// Notices tell the user what of the rules is not in force.
func (r *Rules) Notices() []string {
	if r == nil {
		return nil
	}
	var list []string
	if s := StateOf(r); !s.Enforced {
		list = append(list, s.Display)
	}
	for _, path := range r.Missing {
		list = append(list, MissingText(path)+" (create it, then /reload)")
	}
	return list
}
