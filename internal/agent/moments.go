package agent

import (
	"context"
	"sync"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/sdk"
)

// emit runs the handlers of the moment that data is of, with a snapshot of now in it.
// Where nobody is bound it costs nothing, and data comes back as it is.
func emit[C any](ctx context.Context, a *Agent, data *C, check func(*C) error) lifecycle.Emission[C] {
	ev := lifecycle.EventOf(data)
	if !a.opts.Pipeline.Has(ev.Moment) {
		return lifecycle.Emission[C]{Data: data}
	}
	a.ResolveModel(ctx)
	*ev.Context() = a.Snapshot()
	return lifecycle.Emit(ctx, a.opts.Pipeline, data, check)
}

// announce is emit outside of tools: what the handlers say to the user and to the model
// is told at once.
func announce[C any](ctx context.Context, a *Agent, data *C) lifecycle.Emission[C] {
	out := emit(ctx, a, data, nil)
	a.tell(out.Outcome)
	a.say(out.Said)
	return out
}

// tell shows the notices of an outcome, keeps them in the conversation, and takes away
// the tools it disables.
func (a *Agent) tell(out lifecycle.Outcome) {
	a.feed.notices(out.Notices)
	a.keep(out.Notices)
	a.conv.Offer.Disable(out.DisableTools...)
}

// keep puts notices into the conversation, where no model sees them.
func (a *Agent) keep(notices []lifecycle.Notice) {
	for _, n := range notices {
		a.append(message.Message{
			Message: sdk.Message{Role: message.Assistant, Content: n.Text, Type: message.DisplayOnly},
			Source:  n.Source.String(),
		})
	}
}

// say injects the messages of handlers into the conversation.
func (a *Agent) say(said []lifecycle.Said) {
	for _, s := range said {
		a.feed.send(Event{Kind: Injected, Source: s.Source.String(), Text: s.Text})
		a.append(message.Message{
			Message: sdk.Message{Role: string(s.Role), Content: s.Text, Type: sdk.TypeSynthetic},
			Eject:   s.Eject, Source: s.Source.String(),
		})
	}
}

// outbox is what handlers say while tools run: it enters the conversation after the
// results of the tools. It may be used by several goroutines.
type outbox struct {
	mu      sync.Mutex
	said    []lifecycle.Said
	notices []lifecycle.Notice // They have been shown already.
}

// add puts something into the outbox.
func (o *outbox) add(said []lifecycle.Said, notices []lifecycle.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said, o.notices = append(o.said, said...), append(o.notices, notices...)
}

// take empties the outbox.
func (o *outbox) take() (said []lifecycle.Said, notices []lifecycle.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	said, notices = o.said, o.notices
	o.said, o.notices = nil, nil
	return said, notices
}

// feed hands events to the observer, one at a time. It may be used by several goroutines.
type feed struct {
	mu      sync.Mutex
	observe func(Event) // nil: nobody watches.
}

func (f *feed) send(e Event) {
	if f.observe == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observe(e)
}

// notices shows what handlers say to the user.
func (f *feed) notices(list []lifecycle.Notice) {
	for _, n := range list {
		f.send(Event{Kind: Noticed, Source: n.Source.String(), Text: n.Text})
	}
}

// retries is a context in which faces hear of requests that are sent again.
func (f *feed) retries(ctx context.Context) context.Context {
	return provider.OnRetry(ctx, func(e *provider.Error, wait time.Duration) {
		why := *e
		why.RetryAfter = 0 // The event says how long.
		f.send(Event{Kind: Retrying, Text: why.Error(), Duration: wait})
	})
}
