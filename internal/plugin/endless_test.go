package plugin_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// endless are hooks that never end by themselves.
var endless = []struct{ name, imports, body string }{
	{"loop", "", "\tfor {\n\t}"},
	{"loop after a recovered panic", "", "\tdefer func() {\n\t\trecover()\n\t\tfor {\n\t\t}\n\t}()\n\tpanic(1)"},
	{"deferred loop", "", "\tdefer func() {\n\t\tfor {\n\t\t}\n\t}()\n\tfor {\n\t}"},
	{"callback", "strings", "\tstrings.Map(func(r rune) rune {\n\t\tfor {\n\t\t}\n\t}, strings.Repeat(\"x\", 100000))"},
	{
		"comparison",
		"sort",
		"\tlist := make([]int, 1000)\n\tsort.Slice(list, func(i, j int) bool {\n\t\tfor {\n\t\t}\n\t})",
	},
	{"method", "fmt", "\t_ = fmt.Sprint(loop{}, loop{})"},
	{"goroutine", "", "\tgo func() {\n\t\tfor {\n\t\t}\n\t}()\n\tfor {\n\t}"},
	// These do end, but long after everybody has stopped waiting.
	{"sleep", "time", "\ttime.Sleep(time.Second / 2)"},
	{"channel", "time", "\t<-time.After(time.Second / 2)"},
	{"select", "time", "\tselect {\n\tcase <-time.After(time.Second / 2):\n\t}"},
	{"range", "time", "\tfor range time.Tick(time.Second / 2) {\n\t}"},
}

// Whatever a hook does in order not to end, its caller gets on, the plugin is named
// and switched off, and the others go on.
func TestEndless(t *testing.T) {
	t.Parallel()
	for _, tt := range endless {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(
				t,
				dir,
				"a",
				"timeout: 300ms",
				tt.imports,
				hook(
					lifecycle.BeforeChat,
					tt.body,
				)+"type loop struct{}\n\nfunc (loop) String() string {\n\tfor {\n\t}\n}\n",
			)
			write(t, dir, "b", "", "", speak(`"still here"`))
			s := load(t, plugin.Options{Dirs: []string{dir}})
			p := lifecycle.New(lifecycle.Options{})
			p.Bind(lifecycle.Plugin, s.Bindings())
			ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
			out := p.Dispatch(t.Context(), ev, nil)
			if len(out.Notices) != 1 || !strings.Contains(out.Notices[0].Text, `"a/BeforeChat"`) ||
				!strings.Contains(out.Notices[0].Text, "switched off until /reload") ||
				len(out.Said) != 1 {
				t.Fatalf("%+v", out)
			}
			if _, err := s.Bindings()[0].Handler.Handle(
				t.Context(),
				&ev,
			); err == nil ||
				!strings.Contains(err.Error(), "switched off") {
				t.Errorf("the second time: %v", err)
			}
		})
	}
}

// A hook that looks at its context can end in time for the next one.
func TestPatientHook(t *testing.T) {
	t.Parallel()
	s := one(t, "timeout: 200ms", "", "var calls int\n\n"+hook(lifecycle.BeforeChat, `	calls++
	if calls > 1 {
		return sdk.Result{Message: "quick"}, nil
	}
	for ctx.Err() == nil {
	}
	return sdk.Result{Message: "late"}, nil`))
	h := s.Bindings()[0].Handler
	ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	_, err := h.Handle(t.Context(), &ev)
	if err == nil || err.Error() != "timed out after 200ms" {
		t.Errorf("error %v", err)
	}
	if r, err := h.Handle(t.Context(), &ev); err != nil || r.Message != "quick" {
		t.Errorf("the second time: %q, %v", r.Message, err)
	}
}

// A call that does not get its turn says so, and does no harm to who has it.
func TestWaitingHook(t *testing.T) {
	t.Parallel()
	s := one(t, "timeout: 50ms", "", speak(`"x"`)+toolSource("Probe", "wait(ctx)")+`
func wait(ctx context.Context) string {
	<-ctx.Done()
	return "done"
}

func Parallel() bool { return false }
`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.Tools()[0].Execute(ctx, call(nil))
	}()
	h := s.Bindings()[0].Handler
	ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	for { // Until the tool has its turn.
		_, err := h.Handle(t.Context(), &ev)
		if err == nil {
			continue
		}
		if err.Error() != "another call into the plugin has not finished after 50ms" {
			t.Errorf("error %v", err)
		}
		break
	}
	cancel()
	<-ended
	if r, err := h.Handle(t.Context(), &ev); err != nil || r.Message != "x" {
		t.Errorf("afterwards: %q, %v", r.Message, err)
	}
}

// A user who cancels gets control back, whatever the hook does.
func TestCancelHook(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"polite": "\tfor ctx.Err() == nil {\n\t}\n" +
		"\treturn sdk.Result{}, nil", "endless": "\tfor {\n\t}"} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		write(t, dir, "probe", "", "fmt", hook(lifecycle.BeforeChat, "\tfmt.Println(\"inside\")\n"+body))
		var inside atomic.Bool
		log := slog.New(slog.NewTextHandler(writerFunc(func(line []byte) {
			if strings.Contains(string(line), "inside") {
				inside.Store(true)
				cancel()
			}
		}), &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := load(t, plugin.Options{Dirs: []string{dir}, Logger: log})
		ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
		if _, err := s.Bindings()[0].Handler.Handle(ctx, &ev); !errors.Is(err, context.Canceled) || !inside.Load() {
			t.Errorf("%s: error %v, inside %v", name, err, inside.Load())
		}
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// What a hook keeps of its context has a deadline and ends with the call.
func TestHookContext(t *testing.T) {
	t.Parallel()
	s := one(t, "timeout: 1m", "fmt", "var kept context.Context\n\n"+hook(lifecycle.BeforeChat, `	if kept != nil {
		return sdk.Result{Message: fmt.Sprint(kept.Err())}, nil
	}
	kept = ctx
	_, limited := ctx.Deadline()
	return sdk.Result{Message: fmt.Sprintln(limited, ctx.Err(), ctx.Value("key"))}, nil`))
	for i, want := range []string{"true <nil> value\n", "context canceled"} {
		ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
		//nolint:staticcheck // SA1029: the interpreter shares no key type with us.
		r, err := s.Bindings()[0].Handler.Handle(context.WithValue(t.Context(), "key", "value"), &ev)
		if err != nil || r.Message != want {
			t.Errorf("call %d: %q, %v; want %q", i, r.Message, err, want)
		}
	}
}

// Calls from several goroutines take turns, and a variable of the plugin counts them.
func TestHooksTakeTurns(t *testing.T) {
	t.Parallel()
	const callers, calls = 8, 50
	s := one(
		t,
		"",
		"strconv",
		"var n int\n\n"+speak("next()")+"\nfunc next() string {\n\tn++\n\treturn strconv.Itoa(n)\n}\n",
	)
	h := s.Bindings()[0].Handler
	var seen sync.Map
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls {
				r, err := h.Handle(
					t.Context(),
					&lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}},
				)
				if _, again := seen.LoadOrStore(r.Message, true); err != nil || again {
					t.Errorf("%q, %v", r.Message, err)
				}
			}
		})
	}
	wg.Wait()
	if _, ok := seen.Load(strconv.Itoa(callers * calls)); !ok {
		t.Error("some calls are missing")
	}
}
