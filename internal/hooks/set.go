package hooks

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/sh"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// backstop is how much longer than the hook's own deadline the pipeline waits:
// time to end the processes and to notice.
const backstop = 5 * time.Second

// Options configures a Set. Only Hooks is required.
type Options struct {
	Hooks  config.Hooks
	Import []string // Programs whose hooks are imported too, see Load: "claude".

	// Filters are the layers that choose hooks by name for an agent in a mode, the
	// agent's first. nil lets all through. The answer must not change.
	Filters func(agent, mode string) []tool.Filter

	Workdir string          // Where hooks run if the session does not say.
	Env     func() []string // Environment of the commands; nil: that of the process.
	OnRun   func(Run)       // Sees every run when it is over; nil: nobody does.
	Logger  *slog.Logger
}

// Run is one run of a hook as an observer sees it.
type Run struct {
	Hook     config.Hook
	Result   sh.Result
	Err      error // The command could not be started.
	Duration time.Duration
}

// Set is the hooks of a session. It may be used by several goroutines: sub-agents
// share the hooks of their parent.
type Set struct {
	opts  Options
	order []*bound // Enabled hooks, moment by moment, each in running order.

	last atomic.Pointer[event]

	mu     sync.Mutex
	active map[[2]string][]bool // Per agent and mode, by position in order.
	plans  map[planKey][]bool
}

// bound is a hook with its place in the life of a session.
type bound struct {
	Entry
	row    lifecycle.Row
	index  int
	ending string // What the files glob `*ending` wants; empty for other globs.
}

// planKey is all that decides which hooks are concerned, but for the paths.
type planKey struct {
	moment            lifecycle.Moment
	agent, mode, tool string
}

// event is what the hooks of one dispatch share. It is valid for as long as the
// data of the dispatch is the same.
type event struct {
	data any
	on   []bool // By position in Set.order; nil: no hook is concerned.

	found   atomic.Bool // paths is set.
	mu      sync.Mutex
	paths   []string
	payload []byte
}

// NewSet compiles the hooks. The error names every mistake in what they depend on.
func NewSet(o Options) (*Set, error) {
	s := &Set{opts: o, active: map[[2]string][]bool{}, plans: map[planKey][]bool{}}
	var errs config.Errors
	for _, row := range lifecycle.Moments() {
		if row.Hook == "" {
			continue
		}
		names, err := o.Hooks.Sort(row.Hook)
		if list, ok := err.(config.Errors); ok {
			errs = append(errs, list...)
			continue
		}
		for _, e := range compile(o.Hooks, names) {
			h := &bound{Entry: e, row: row, index: len(s.order)}
			if ending, ok := strings.CutPrefix(e.Files, "*"); ok && !strings.ContainsAny(ending, `*?[\`) {
				h.ending = ending
			}
			s.order = append(s.order, h)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// Hooks returns all hooks, those that never run included.
func (s *Set) Hooks() config.Hooks { return s.opts.Hooks }

// Bindings returns one handler for each hook, in running order.
func (s *Set) Bindings() []lifecycle.Binding {
	list := make([]lifecycle.Binding, len(s.order))
	for i, h := range s.order {
		list[i] = lifecycle.Binding{
			Source:    lifecycle.Source{Kind: lifecycle.Hook, Name: h.Name, File: h.hook.Source.File},
			Moment:    h.row.Moment,
			Match:     func(ev *lifecycle.Event) bool { return s.match(h, ev) },
			Timeout:   h.Timeout + backstop,
			OnFailure: lifecycle.Failure(h.hook.OnFailure),
			Handler: lifecycle.HandlerFunc(func(ctx context.Context, ev *lifecycle.Event) (lifecycle.Reply, error) {
				return s.handle(ctx, h, ev)
			}),
		}
	}
	return list
}

// match decides whether a hook is concerned. It is called for every hook at every
// moment, so all that can be shared is.
func (s *Set) match(h *bound, ev *lifecycle.Event) bool {
	e := s.event(ev)
	if e.on == nil || !e.on[h.index] {
		return false
	}
	if h.hook.Foreign != "" && !h.foreignMatch(ev) {
		return false
	}
	if h.Files == "" {
		return true
	}
	for _, path := range s.paths(e, ev) {
		if h.covers(path) {
			return true
		}
	}
	return false
}

// covers reports whether the files glob matches an absolute path.
func (h *bound) covers(path string) bool {
	if h.ending != "" && !strings.HasSuffix(path, h.ending) {
		return false
	}
	ok, _ := filepath.Match(h.Files, filepath.Base(path))
	return ok
}

// event returns what is known about a dispatch.
func (s *Set) event(ev *lifecycle.Event) *event {
	if e := s.last.Load(); e != nil && e.data == ev.Data {
		return e
	}
	e := &event{data: ev.Data, on: s.plan(ev)}
	s.last.Store(e)
	return e
}

// plan says which hooks are concerned as far as moment, agent, mode and tool go.
func (s *Set) plan(ev *lifecycle.Event) []bool {
	c := ev.Context()
	key := planKey{moment: ev.Moment, agent: c.Agent, mode: c.Mode}
	switch d := ev.Data.(type) {
	case *sdk.BeforeToolContext:
		key.tool = d.ToolName
	case *sdk.AfterToolContext:
		if d.ToolError != "" {
			return nil // There is nothing to format, check or praise.
		}
		key.tool = d.ToolName
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if on, ok := s.plans[key]; ok {
		return on
	}
	var on []bool
	active := s.activeLocked(c.Agent, c.Mode)
	for i, h := range s.order {
		if active[i] && h.row.Moment == key.moment && (!h.hook.OnTool() || h.Matches(key.tool)) {
			if on == nil {
				on = make([]bool, len(s.order))
			}
			on[i] = true
		}
	}
	s.plans[key] = on
	return on
}

// activeLocked says which hooks the filters of an agent in a mode leave.
func (s *Set) activeLocked(agent, mode string) []bool {
	key := [2]string{agent, mode}
	if on, ok := s.active[key]; ok {
		return on
	}
	out := s.opts.Hooks.Prune(func(h config.Hook) bool { return s.passes(agent, mode, h.Name) })
	on := make([]bool, len(s.order))
	for i, h := range s.order {
		on[i] = !out[h.Name]
	}
	s.active[key] = on
	return on
}

// passes reports whether every filter lets a name through. Case does not matter.
func (s *Set) passes(agent, mode, name string) bool {
	if s.opts.Filters == nil {
		return true
	}
	for _, f := range s.opts.Filters(agent, mode) {
		if !(tool.Filter{Enabled: lower(f.Enabled), Disabled: lower(f.Disabled)}).Allows(strings.ToLower(name)) {
			return false
		}
	}
	return true
}

func lower(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// paths are the files of a tool call.
func (s *Set) paths(e *event, ev *lifecycle.Event) []string {
	if e.found.Load() {
		return e.paths
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.found.Load() {
		switch d := ev.Data.(type) {
		case *sdk.BeforeToolContext:
			e.paths = extract(d.Arguments, s.dir(ev))
		case *sdk.AfterToolContext:
			e.paths = extract(d.Arguments, s.dir(ev))
		}
		e.found.Store(true)
	}
	return e.paths
}

// payload is what the hooks of a dispatch read. It is made for the first of them.
func (s *Set) payload(h *bound, e *event, ev *lifecycle.Event, paths []string) ([]byte, error) {
	if h.hook.Foreign != "" {
		return h.payload(ev, s.dir(ev), paths)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.payload == nil {
		e.payload, err = h.payload(ev, s.dir(ev), paths)
	}
	return e.payload, err
}

func (s *Set) dir(ev *lifecycle.Event) string {
	if dir := ev.Context().Workdir; dir != "" {
		return dir
	}
	return s.opts.Workdir
}

// handle runs a hook and translates its verdict.
func (s *Set) handle(ctx context.Context, h *bound, ev *lifecycle.Event) (lifecycle.Reply, error) {
	e := s.event(ev)
	paths := s.paths(e, ev)
	payload, err := s.payload(h, e, ev, paths)
	if err != nil {
		return lifecycle.Reply{}, err
	}
	j := job{payload: payload, paths: h.MatchedPaths(paths), dir: s.dir(ev)}
	switch d := ev.Data.(type) {
	case *sdk.BeforeToolContext:
		j.tool = d.ToolName
	case *sdk.AfterToolContext:
		j.tool = d.ToolName
	}
	if s.opts.Env != nil {
		j.env = s.opts.Env()
	}
	start := time.Now()
	res, err := h.start(ctx, j)
	if ctx.Err() != nil {
		return lifecycle.Reply{}, ctx.Err()
	}
	if s.opts.OnRun != nil {
		s.opts.OnRun(Run{Hook: *h.hook, Result: res, Err: err, Duration: time.Since(start)})
	}
	a, err := h.judge(res, err)
	if err != nil {
		return lifecycle.Reply{}, err
	}
	return h.reply(ev, a), nil
}
