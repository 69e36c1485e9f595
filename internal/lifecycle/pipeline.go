package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idelchi/aura/internal/condition"
	"github.com/idelchi/aura/sdk"
)

// lateness is how long a handler may take to notice that its deadline passed
// before it counts as running away.
const lateness = 100 * time.Millisecond

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
	off   map[string]bool // Sources that ran away; cleared by Bind of their kind.

	panics map[string]int // Counted here, since the trace forgets.
}

// New returns a pipeline without handlers.
func New(o Options) *Pipeline {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{
		opts:   o,
		kinds:  map[Kind][]*Binding{},
		fired:  map[string]bool{},
		off:    map[string]bool{},
		panics: map[string]int{},
	}
	p.bound.Store(new(make([][]*Binding, len(table))))
	return p
}

// Bind replaces all handlers of one kind. Within the kind they run in the given
// order. What has fired once stays fired; sources that were switched off are
// on again.
func (p *Pipeline) Bind(kind Kind, bindings []Binding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*Binding, len(bindings))
	for i := range bindings {
		b := bindings[i]
		b.Source.Kind = kind
		list[i] = &b
		delete(p.off, b.Source.key())
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

// SwitchOff takes all handlers of a source out of service until its kind is
// bound again.
func (p *Pipeline) SwitchOff(s Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off[s.key()] = true
}

// Off reports whether a source is switched off.
func (p *Pipeline) Off(s Source) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.off) > 0 && p.off[s.key()] // Nearly always none: no need to make a key.
}

// Records returns the latest trace records, oldest first.
func (p *Pipeline) Records() []Record { return p.trace.all() }

// Dispatch runs the handlers of ev.Moment one after another. check, if not nil,
// judges the data after every change of it; a change that it refuses blocks (or,
// at an all-or-nothing moment, is undone). The outcome is usable whatever the
// handlers did; a cancelled ctx ends the dispatch early.
func (p *Pipeline) Dispatch(ctx context.Context, ev Event, check func(data any) error) Outcome {
	out := Outcome{Data: ev.Data}
	row, _ := Describe(ev.Moment)
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
			rec.Verdict, rec.Detail = out.merge(b, &ev, &reply, check)
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
	if b.OnFailure != Deny && p.Off(b.Source) { // A closed gate stays closed: call reports it.
		return false
	}
	if !b.Condition.Eval(ctx, condition.Env{Context: ev.Context(), Shell: p.opts.Shell}) {
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
func (p *Pipeline) fail(out *Outcome, b *Binding, row Row, err error) {
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
	if p.Off(b.Source) {
		return Reply{}, errors.New("switched off after it overran its deadline; /reload starts it again")
	}
	if b.Timeout <= 0 {
		return p.safely(ctx, b, ev)
	}

	limited, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	type answer struct {
		reply Reply
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := p.safely(limited, b, ev)
		done <- answer{r, err}
	}()

	select {
	case a := <-done:
		if limited.Err() == nil || a.err == nil {
			return a.reply, a.err
		}
		return Reply{}, p.late(ctx, b, false)
	case <-limited.Done():
	}
	// Code that honours its context is back at once; the rest cannot be stopped.
	timer := time.NewTimer(lateness)
	defer timer.Stop()
	select {
	case <-done:
		return Reply{}, p.late(ctx, b, false)
	case <-timer.C:
		p.SwitchOff(b.Source)
		return Reply{}, p.late(ctx, b, true)
	}
}

// late is the error of a handler that did not answer in time.
func (p *Pipeline) late(ctx context.Context, b *Binding, runaway bool) error {
	if ctx.Err() != nil && !runaway {
		return ctx.Err()
	}
	err := fmt.Errorf("timed out after %s", b.Timeout)
	if runaway {
		err = fmt.Errorf("%w and does not stop: %s is switched off until /reload", err, b.Source)
	}
	return &Fault{Verdict: TimedOut, Err: err}
}

// safely runs one handler and turns a panic into an error.
func (p *Pipeline) safely(ctx context.Context, b *Binding, ev *Event) (r Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.opts.Logger.Error("panic", "source", b.Label(), "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			r, err = Reply{}, &Fault{Verdict: Panicked, Err: fmt.Errorf("%s panic: %v", b.Source.Kind, v)}
		}
	}()
	return b.Handler.Handle(ctx, ev)
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

// onTool are the powers of the moments around a tool call.
const onTool = RewriteArgs | RewriteOutput

// restrict drops what the moment does not allow.
func (r *Reply) restrict(may Power) {
	clear := func(p Power, drop func()) {
		if may&p == 0 {
			drop()
		}
	}
	clear(Say, func() { r.Message = "" })
	clear(Notify, func() { r.Notice = "" })
	clear(DisableTools, func() { r.DisableTools = nil })
	clear(RewriteText, func() { r.Text = nil })
	clear(RewriteArgs, func() { r.Arguments, r.Ask = nil, "" })
	clear(onTool, func() { r.Feedback = "" })
	clear(RewriteOutput, func() { r.Output = nil })
	clear(RewriteArray, func() { r.Messages = nil })
	clear(Block, func() { r.Block = false })
	clear(SkipChat, func() { r.Request = nil })
	clear(StoreOther, func() { r.Response = nil })
	clear(RecoverError, func() { r.Error = nil })
	clear(SkipCompaction, func() { r.Compaction = nil })
}

// merge takes a reply into the outcome and updates the event for the handlers
// that follow. It returns what happened, for the trace.
func (o *Outcome) merge(b *Binding, ev *Event, r *Reply, check func(any) error) (Verdict, string) {
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
	next, changed := apply(ev.Data, r)
	if changed {
		if check != nil {
			if err := check(next); err != nil {
				return o.refuse(b, ev.Moment, err)
			}
		}
		ev.Data, o.Data = next, next
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
func (o *Outcome) refuse(b *Binding, m Moment, err error) (Verdict, string) {
	if row, _ := Describe(m); row.AllOrNot {
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
	if e := r.Error; e != nil {
		o.Retry, o.Skip = o.Retry || e.Retry, o.Skip || e.Skip
		did = append(did, "recovered error")
	}
	if r.Compaction != nil && r.Compaction.Skip {
		o.Skip = true
		did = append(did, "skipped compaction")
	}
	return slices.Clip(did)
}
