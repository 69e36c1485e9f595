package lifecycle_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/lifecycle/lifecycletest"
	"github.com/idelchi/aura/sdk"
)

// The table of cases holds for built-in handlers.
func TestBuiltinHandlers(t *testing.T) { lifecycletest.Run(t, lifecycletest.Builtin()) }

// handler binds a function.
func handler(kind lifecycle.Kind, name string, m lifecycle.Moment, f lifecycle.HandlerFunc) lifecycle.Binding {
	return lifecycle.Binding{Source: lifecycle.Source{Kind: kind, Name: name}, Moment: m, Handler: f}
}

func logger(log *[]string, kind lifecycle.Kind, name string, m lifecycle.Moment) lifecycle.Binding {
	return handler(kind, name, m, func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
		*log = append(*log, name)
		return lifecycle.Reply{}, nil
	})
}

// Plugins, then extensions, then hooks, then guards; after a tool hooks come first.
func TestOrderOfKinds(t *testing.T) {
	for _, c := range []struct {
		moment lifecycle.Moment
		data   any
		want   string
	}{
		{lifecycle.BeforeToolExecution, &sdk.BeforeToolContext{}, "p1 p2 x h g"},
		{lifecycle.AfterToolExecution, &sdk.AfterToolContext{}, "h p1 p2 x g"},
		{lifecycle.BeforeChat, &sdk.BeforeChatContext{}, "p1 p2 x h g"},
	} {
		var log []string
		p := lifecycle.New(lifecycle.Options{})
		// Bound in another order than they run.
		p.Bind(lifecycle.Guard, []lifecycle.Binding{logger(&log, lifecycle.Guard, "g", c.moment)})
		p.Bind(lifecycle.Hook, []lifecycle.Binding{logger(&log, lifecycle.Hook, "h", c.moment)})
		p.Bind(
			lifecycle.Plugin,
			[]lifecycle.Binding{
				logger(&log, lifecycle.Plugin, "p1", c.moment),
				logger(&log, lifecycle.Plugin, "p2", c.moment),
			},
		)
		p.Bind(lifecycle.Extension, []lifecycle.Binding{logger(&log, lifecycle.Extension, "x", c.moment)})
		p.Dispatch(t.Context(), lifecycle.Event{Moment: c.moment, Data: c.data}, nil)
		if got := strings.Join(log, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.moment, got, c.want)
		}
	}
}

// Parts of a reply that the moment does not allow have no effect.
func TestRepliesAreRestricted(t *testing.T) {
	text, everything := "x", lifecycle.Reply{}
	everything.Result = sdk.Result{
		Message:      "m",
		DisableTools: []string{"*"},
		Output:       &text,
		Response:     &sdk.ResponseModification{Skip: true},
		Error:        &sdk.ErrorModification{Retry: true},
		Request: &sdk.RequestModification{
			Skip:         true,
			AppendSystem: &text,
		},
		Compaction: &sdk.CompactionModification{Skip: true},
	}
	everything.Block, everything.Ask, everything.Text = true, "ask", &text
	everything.Arguments = map[string]any{"a": 1}
	everything.Messages = []sdk.Message{{Role: "user"}}
	for moment, data := range map[lifecycle.Moment]any{
		lifecycle.StreamChunk: &sdk.StreamChunkContext{}, lifecycle.SessionEnd: &sdk.SessionEndContext{},
	} {
		p := lifecycle.New(lifecycle.Options{})
		p.Bind(
			lifecycle.Plugin,
			[]lifecycle.Binding{
				handler(
					lifecycle.Plugin,
					"p",
					moment,
					func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
						return everything, nil
					},
				),
			},
		)
		out := p.Dispatch(t.Context(), lifecycle.Event{Moment: moment, Data: data}, nil)
		if want := (lifecycle.Outcome{Data: data}); !reflect.DeepEqual(out, want) {
			t.Errorf("%s: %+v", moment, out)
		}
	}
}

// A notice overrides the message of the same reply.
func TestNoticeOverridesMessage(t *testing.T) {
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(
		lifecycle.Plugin,
		[]lifecycle.Binding{
			handler(
				lifecycle.Plugin,
				"p",
				lifecycle.BeforeChat,
				func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
					return lifecycle.Reply{Result: sdk.Result{Message: "m", Notice: "n"}}, nil
				},
			),
		},
	)
	out := p.Dispatch(t.Context(), lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}, nil)
	if len(out.Said) != 0 || len(out.Notices) != 1 {
		t.Errorf("%+v", out)
	}
}

// A change that the check refuses blocks, and is not seen by later handlers.
func TestInvalidChangeBlocks(t *testing.T) {
	p := lifecycle.New(lifecycle.Options{})
	reached := false
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{
		handler(
			lifecycle.Plugin,
			"a",
			lifecycle.BeforeToolExecution,
			func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
				return lifecycle.Reply{Arguments: map[string]any{"zzz": 1}, Result: sdk.Result{Message: "m"}}, nil
			},
		),
		handler(
			lifecycle.Plugin,
			"b",
			lifecycle.BeforeToolExecution,
			func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
				reached = true
				return lifecycle.Reply{}, nil
			},
		),
	})
	data := &sdk.BeforeToolContext{Arguments: map[string]any{"command": "ls"}}
	out := p.Dispatch(
		t.Context(),
		lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: data},
		func(any) error { return errors.New("unknown parameter") },
	)
	if out.Blocked == nil || out.Blocked.Reason != `plugin unknown parameter (plugin "a")` || reached ||
		len(out.Said) != 0 ||
		out.Data != any(data) {
		t.Errorf("%+v, reached %v", out, reached)
	}
}

// At an all-or-nothing moment one failure discards what others changed.
func TestTransformFallsBack(t *testing.T) {
	change := func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
		return lifecycle.Reply{Messages: []sdk.Message{{Role: "system"}, {Role: "user"}}}, nil
	}
	fail := func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
		return lifecycle.Reply{}, errors.New("no")
	}
	ev := lifecycle.Event{
		Moment: lifecycle.TransformMessages,
		Data:   &sdk.TransformContext{Messages: []sdk.Message{{Role: "system"}}},
	}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{handler("", "a", lifecycle.TransformMessages, change)})
	if out := p.Dispatch(t.Context(), ev, nil); len(out.Data.(*sdk.TransformContext).Messages) != 2 {
		t.Errorf("change was lost: %+v", out)
	}
	p.Bind(
		lifecycle.Plugin,
		[]lifecycle.Binding{
			handler("", "a", lifecycle.TransformMessages, change),
			handler("", "b", lifecycle.TransformMessages, fail),
		},
	)
	if out := p.Dispatch(t.Context(), ev, nil); out.Data != nil {
		t.Errorf("no fallback after a failure: %+v", out)
	}
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{handler("", "a", lifecycle.TransformMessages, change)})
	if out := p.Dispatch(t.Context(), ev, func(any) error { return errors.New("invalid") }); out.Data != nil {
		t.Errorf("no fallback after an invalid change: %+v", out)
	}
}

// Once holds when several goroutines dispatch, and across Bind.
func TestOnceUnderConcurrency(t *testing.T) {
	var calls atomic.Int32
	b := handler(
		lifecycle.Plugin,
		"p",
		lifecycle.AfterToolExecution,
		func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
			calls.Add(1)
			return lifecycle.Reply{}, nil
		},
	)
	b.Once = true
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{b})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			p.Dispatch(t.Context(), lifecycle.Event{Moment: b.Moment, Data: &sdk.AfterToolContext{}}, nil)
		})
	}
	wg.Wait()
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{b}) // As /reload does.
	p.Dispatch(t.Context(), lifecycle.Event{Moment: b.Moment, Data: &sdk.AfterToolContext{}}, nil)
	if n := calls.Load(); n != 1 || !p.Fired(b.Source, b.Moment) {
		t.Errorf("fired %d times", n)
	}
}

// Panics are counted for as long as the pipeline lives, although the trace forgets.
// VS-12
func TestPanicsAreCounted(t *testing.T) {
	p := lifecycle.New(lifecycle.Options{})
	calls := 0
	bad := handler(
		lifecycle.Plugin,
		"bad",
		lifecycle.BeforeChat,
		func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
			if calls++; calls <= 2 {
				panic("boom")
			}
			return lifecycle.Reply{}, nil
		},
	)
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{bad})
	for range 3000 {
		p.Dispatch(t.Context(), lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}, nil)
	}
	if n := p.Panics(bad.Source, lifecycle.BeforeChat); n != 2 || len(p.Records()) >= calls {
		t.Errorf("%d panics, %d records of %d calls", n, len(p.Records()), calls)
	}
	if n := p.Panics(bad.Source, lifecycle.AfterResponse); n != 0 {
		t.Errorf("%d panics at another moment", n)
	}
}

// A runaway handler is switched off until its kind is bound again.
func TestRunawayIsSwitchedOff(t *testing.T) {
	var calls atomic.Int32
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	b := handler(
		lifecycle.Plugin,
		"p",
		lifecycle.BeforeChat,
		func(context.Context, *lifecycle.Event) (lifecycle.Reply, error) {
			calls.Add(1)
			<-release
			return lifecycle.Reply{}, nil
		},
	)
	b.Timeout = 1
	ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{b})
	out := p.Dispatch(t.Context(), ev, nil)
	if bound := p.Bindings(lifecycle.BeforeChat); !bound[0].Off() || len(out.Notices) != 1 ||
		!strings.Contains(out.Notices[0].Text, `plugin "p" is switched off until /reload`) {
		t.Fatalf("%+v", out)
	}
	p.Dispatch(t.Context(), ev, nil)
	if calls.Load() != 1 {
		t.Error("a switched-off handler was called")
	}
	p.Bind(lifecycle.Plugin, []lifecycle.Binding{b})
	if bound := p.Bindings(lifecycle.BeforeChat); bound[0].Off() {
		t.Error("still off after Bind")
	}
}

// A cancelled dispatch is nobody's failure.
func TestCancellationIsQuiet(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := handler(
		lifecycle.Hook,
		"h",
		lifecycle.BeforeToolExecution,
		func(ctx context.Context, _ *lifecycle.Event) (lifecycle.Reply, error) {
			cancel()
			<-ctx.Done()
			return lifecycle.Reply{}, ctx.Err()
		},
	)
	b.OnFailure = lifecycle.Deny
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Hook, []lifecycle.Binding{b})
	out := p.Dispatch(ctx, lifecycle.Event{Moment: b.Moment, Data: &sdk.BeforeToolContext{}}, nil)
	if len(out.Notices) != 0 || out.Blocked != nil {
		t.Errorf("%+v", out)
	}
}

// Every moment has an event type that Context knows.
func TestEveryMomentHasData(t *testing.T) {
	data := map[lifecycle.Moment]any{
		lifecycle.SessionStart:        &sdk.SessionStartContext{},
		lifecycle.UserMessage:         &sdk.UserMessageContext{},
		lifecycle.BeforeChat:          &sdk.BeforeChatContext{},
		lifecycle.TransformMessages:   &sdk.TransformContext{},
		lifecycle.StreamChunk:         &sdk.StreamChunkContext{},
		lifecycle.AfterResponse:       &sdk.AfterResponseContext{},
		lifecycle.BeforeToolExecution: &sdk.BeforeToolContext{},
		lifecycle.AfterToolExecution:  &sdk.AfterToolContext{},
		lifecycle.OnError:             &sdk.OnErrorContext{},
		lifecycle.BeforeCompaction:    &sdk.BeforeCompactionContext{},
		lifecycle.AfterCompaction:     &sdk.AfterCompactionContext{},
		lifecycle.OnAgentSwitch:       &sdk.OnAgentSwitchContext{},
		lifecycle.SessionEnd:          &sdk.SessionEndContext{},
	}
	for _, row := range lifecycle.Moments() {
		ev := &lifecycle.Event{Moment: row.Moment, Data: data[row.Moment]}
		ev.Context().Agent = "x"
		if got := reflect.ValueOf(ev.Data).Elem().FieldByName("Agent").String(); got != "x" {
			t.Errorf("%s: Context does not know %T", row.Moment, ev.Data)
		}
	}
}
