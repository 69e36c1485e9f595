package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/sdk"
)

// Options configures a Pipeline. All fields are optional.
type Options struct {
	Logger *slog.Logger
	Shell  func(ctx context.Context, command string) bool // Runs `bash:` terms of conditions.
	// Told of every handler that is about to run, in the dispatching goroutine.
	Begin func(Moment, Source)
	Trace func(Record) // Sees every record; called from the dispatching goroutine.
}

// Pipeline runs the handlers of every moment. It may be used by several
// goroutines: sub-agents share the pipeline of their parent.
type Pipeline struct {
	opts  Options
	trace trace

	bound atomic.Pointer[[][]*Binding] // Per row of the table, in running order.

	mu    sync.Mutex
	kinds map[Kind][]*Binding
	fired map[string]bool // Once-bindings that ran; survives Bind.

	panics map[string]int // Counted here, since the trace forgets.
}

// New returns a pipeline without handlers.
func New(o Options) *Pipeline {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{opts: o, kinds: map[Kind][]*Binding{}, fired: map[string]bool{}, panics: map[string]int{}}
	p.bound.Store(new(make([][]*Binding, len(table))))
	return p
}

// Bind replaces all handlers of one kind. Within the kind they run in the given
// order. What has fired once stays fired.
func (p *Pipeline) Bind(kind Kind, bindings []Binding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*Binding, len(bindings))
	guards := map[string]*foreign.Guard{}
	for i := range bindings {
		b := bindings[i]
		b.Source.Kind = kind
		if key := b.Source.key(); b.Guard == nil && b.Timeout > 0 {
			if guards[key] == nil {
				guards[key] = foreign.NewGuard(b.Source.String(), nil)
			}
			b.Guard = guards[key]
		}
		list[i] = &b
	}
	p.kinds[kind] = list

	bound := make([][]*Binding, len(table))
	for i, row := range table {
		for _, k := range row.Order {
			for _, b := range p.kinds[k] {
				if b.Moment == row.Moment {
					bound[i] = append(bound[i], b)
				}
			}
		}
	}
	p.bound.Store(&bound)
}

// Has reports whether any handler is bound to m.
func (p *Pipeline) Has(m Moment) bool { return len(p.at(m)) > 0 }

// Bindings lists the handlers of a moment in running order.
func (p *Pipeline) Bindings(m Moment) []Binding {
	list := p.at(m)
	out := make([]Binding, len(list))
	for i, b := range list {
		out[i] = *b
	}
	return out
}

// at returns the handlers of m in running order.
func (p *Pipeline) at(m Moment) []*Binding {
	if i := index(m); i >= 0 {
		return (*p.bound.Load())[i]
	}
	return nil
}

// Fired reports whether a once-binding of the source has run at m.
func (p *Pipeline) Fired(s Source, m Moment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fired[s.key()+"/"+string(m)]
}

// Panics is how often a binding of the source has panicked at m.
func (p *Pipeline) Panics(s Source, m Moment) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.panics[s.key()+"/"+string(m)]
}

// Records returns the latest trace records, oldest first.
func (p *Pipeline) Records() []Record { return p.trace.all() }

// Emission is what came of emitting a moment: the outcome, with its data typed.
type Emission[C any] struct {
	Outcome

	// Data is what was emitted as the last handler left it; nil if an all-or-nothing
	// moment fell back to what was before.
	Data *C
}

// Emit runs the handlers of the moment that data belongs to. check, if not nil, judges
// the data after every change of it.
func Emit[C any](ctx context.Context, p *Pipeline, data *C, check func(*C) error) Emission[C] {
	var erased func(any) error
	if check != nil {
		erased = func(d any) error { return check(d.(*C)) }
	}
	out := p.Dispatch(ctx, EventOf(data), erased)
	e := Emission[C]{Outcome: out}
	e.Data, _ = out.Data.(*C)
	return e
}

// Dispatch is Emit for code that treats all moments alike. It runs the handlers one after another. check, if not nil,
// judges the data after every change of it; a change that it refuses blocks (or,
// at an all-or-nothing moment, is undone). The outcome is usable whatever the
// handlers did; a cancelled ctx ends the dispatch early.
func (p *Pipeline) Dispatch(ctx context.Context, ev Event, check func(data any) error) Outcome {
	out := Outcome{Data: ev.Data}
	ev.Context() // Once, for all handlers.
	row := rowOf(ev.Data)
	for _, b := range p.at(ev.Moment) {
		if ctx.Err() != nil {
			break
		}
		if !p.due(ctx, b, &ev) {
			continue
		}
		if p.opts.Begin != nil {
			p.opts.Begin(ev.Moment, b.Source)
		}
		start := time.Now()
		reply, err := p.call(ctx, b, &ev)
		rec := Record{Time: start, Moment: ev.Moment, Source: b.Source, Duration: time.Since(start)}
		rec.Tool, rec.CallID = ev.call()
		if err != nil {
			if ctx.Err() != nil { // The user cancelled: nobody's fault.
				break
			}
			rec.Verdict, rec.Detail = verdictOf(err), err.Error()
			p.fail(&out, b, row, err)
		} else {
			reply.restrict(row.May)
			rec.Verdict, rec.Detail = out.merge(row, b, &ev, &reply, check)
		}
		p.record(rec)
		if row.AllOrNot && out.spoiled {
			break
		}
		if out.Blocked != nil {
			out.Said, out.Feedback = nil, nil // What was said about a call that does not happen is not said.
			break
		}
	}
	if row.AllOrNot && out.spoiled {
		out.Data = nil
	}
	return out
}

func (p *Pipeline) record(r Record) {
	p.trace.add(r)
	if r.Verdict == Panicked {
		p.mu.Lock()
		p.panics[r.Source.key()+"/"+string(r.Moment)]++
		p.mu.Unlock()
	}
	if p.opts.Logger.Enabled(context.Background(), slog.LevelDebug) { // Or the arguments cost more than the rest.
		p.opts.Logger.Debug("handler", "moment", r.Moment, "source", r.Source.String(),
			"verdict", r.Verdict, "duration", r.Duration, "detail", r.Detail)
	}
	if p.opts.Trace != nil {
		p.opts.Trace(r)
	}
}

// due decides whether b runs now, and marks a once-binding as fired if so.
func (p *Pipeline) due(ctx context.Context, b *Binding, ev *Event) bool {
	if b.Match != nil && !b.Match(ev) {
		return false
	}
	if b.Once && p.Fired(b.Source, b.Moment) {
		return false
	}
	if b.OnFailure != Deny && b.Off() { // A closed gate stays closed: call reports it.
		return false
	}
	if b.Condition != nil && !b.Condition.Eval(ctx, ev.Context(), p.opts.Shell) {
		return false
	}
	if !b.Once {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := b.Source.key() + "/" + string(b.Moment)
	fired := p.fired[key]
	p.fired[key] = true
	return !fired
}

// fail applies the failure policy of b to the outcome.
func (p *Pipeline) fail(out *Outcome, b *Binding, row *Row, err error) {
	text := fmt.Sprintf("%s failed: %v", b.Label(), err)
	p.opts.Logger.Warn(text)
	if f, loud := errors.AsType[*Fault](err); loud {
		out.Notices = append(out.Notices, Notice{b.Source, text})
		if f.Feedback != "" && row.May&onTool != 0 {
			out.Feedback = append(out.Feedback, f.Feedback)
		}
	}
	if row.AllOrNot {
		out.spoiled = true
	}
	if b.OnFailure == Deny && row.May&Block != 0 {
		out.Blocked = &Refusal{b.Source, text + " (on_failure: block)"}
	}
}

// call runs one handler under its deadline.
func (p *Pipeline) call(ctx context.Context, b *Binding, ev *Event) (Reply, error) {
	r, err := foreign.Call(ctx, b.Guard, b.Timeout, func(ctx context.Context) (Reply, error) {
		return b.Handler.Handle(ctx, ev)
	})
	if e, ok := errors.AsType[*foreign.PanicError](err); ok {
		p.opts.Logger.Error("panic", "source", b.Label(), "value", fmt.Sprint(e.Value), "stack", e.Stack)
		err = &Fault{Verdict: Panicked, Err: fmt.Errorf("%s %w", b.Source.Kind, e)}
	}
	if e, ok := errors.AsType[*foreign.LateError](err); ok {
		err = &Fault{Verdict: TimedOut, Err: e}
	}
	return r, err
}

// Outcome is what a dispatch came to.
type Outcome struct {
	// Data is the event's data as the last handler left it; nil if an
	// all-or-nothing moment fell back to what was before.
	Data any

	Said         []Said   // Messages to inject, in order. Empty if Blocked.
	Feedback     []string // Texts for the model that belong to the tool call, in order. Empty if Blocked.
	Notices      []Notice // For the user.
	DisableTools []string // Name patterns.
	Blocked      *Refusal // The first refusal, which ended the dispatch.
	Asks         []Refusal
	System       []string // Additions to the system prompt.
	Retry        bool     // on_error.
	Skip         bool     // before_chat, on_error, before_compaction: some handler said skip.
	Drop         bool     // after_response: keep the text out of the history.

	spoiled bool
}

// Said is a message that a handler injects.
type Said struct {
	Source Source
	Text   string
	Role   sdk.Role
	Eject  bool
}

// Notice is a text for the user only.
type Notice struct {
	Source Source
	Text   string
}

// Refusal is a veto, or the wish that the user decides.
type Refusal struct {
	Source Source
	Reason string
}

// merge takes a reply into the outcome and updates the event for the handlers
// that follow. It returns what happened, for the trace.
func (o *Outcome) merge(
	row *Row, b *Binding, ev *Event, r *Reply, check func(any) error,
) (Verdict, string) {
	if r.Notice != "" {
		o.Notices = append(o.Notices, Notice{b.Source, r.Notice})
		r.Message = ""
	}
	o.DisableTools = append(o.DisableTools, r.DisableTools...)
	if r.Block {
		reason := r.Reason
		if reason == "" {
			reason = "refused by " + b.Source.String()
		}
		o.Blocked = &Refusal{b.Source, reason}
		return Blocked, reason
	}

	var did []string
	next, changed := row.apply(ev.Data, r)
	if changed {
		if check != nil {
			if err := check(next); err != nil {
				return o.refuse(row, b, err)
			}
		}
		ev.Data, ev.context, ev.changed, o.Data = next, row.contextOf(next), true, next
		did = append(did, "data")
	}
	did = append(did, o.steer(r)...)
	if r.Feedback != "" {
		o.Feedback = append(o.Feedback, r.Feedback)
	}
	if r.Ask != "" {
		o.Asks = append(o.Asks, Refusal{b.Source, r.Ask})
		return Asked, r.Ask
	}
	if r.Message != "" {
		role := r.Role
		if role != sdk.RoleUser {
			role = sdk.RoleAssistant
		}
		o.Said = append(o.Said, Said{b.Source, r.Prefix + r.Message, role, r.Eject})
	}
	switch {
	case len(did) > 0:
		return Changed, strings.Join(did, ", ")
	case r.Message != "" || r.Notice != "" || r.Feedback != "":
		return Spoke, r.Notice + r.Message + r.Feedback
	case len(r.DisableTools) > 0:
		return Changed, "disabled " + strings.Join(r.DisableTools, " ")
	}
	return Passed, ""
}

// refuse handles a change that the check did not accept.
func (o *Outcome) refuse(row *Row, b *Binding, err error) (Verdict, string) {
	if row.AllOrNot {
		o.spoiled = true
		return Failed, err.Error()
	}
	reason := fmt.Sprintf("%s %v (%s)", b.Source.Kind, err, b.Source)
	o.Blocked = &Refusal{b.Source, reason}
	return Blocked, reason
}

// steer takes over what a reply decides about the course of things, and names it.
func (o *Outcome) steer(r *Reply) (did []string) {
	if q := r.Request; q != nil {
		if q.AppendSystem != nil {
			o.System = append(o.System, *q.AppendSystem)
			did = append(did, "appended system prompt")
		}
		if q.Skip {
			o.Skip = true
			did = append(did, "skipped model call")
		}
	}
	if r.Response != nil && r.Response.Skip {
		o.Drop = true
		did = append(did, "dropped response")
	}
	if e := r.Error; e != nil && (e.Retry || e.Skip) {
		o.Retry, o.Skip = o.Retry || e.Retry, o.Skip || e.Skip
		did = append(did, "recovered error")
	}
	if r.Compaction != nil && r.Compaction.Skip {
		o.Skip = true
		did = append(did, "skipped compaction")
	}
	return slices.Clip(did)
}
