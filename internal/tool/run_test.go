package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/foreign"
	"github.com/idelchi/aura/internal/tool"
)

// However a tool ends, Run returns, and the text is what the model reads.
func TestRun(t *testing.T) {
	gone := errors.New("gone")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	off := foreign.NewGuard(`plugin "p"`, nil)
	off.SwitchOff("it is broken")
	waits := func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{Text: "half"}, ctx.Err()
	}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		timeout time.Duration
		guard   *foreign.Guard
		execute func(context.Context, tool.Call) (tool.Result, error)
		text    string
		err     string
	}{
		{name: "answers", text: "fine", execute: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "fine"}, nil
		}},
		{name: "fails", text: "half", err: "broke", execute: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "half"}, errors.New("broke")
		}},
		{name: "panics", err: "tool T panicked: boom", execute: func(context.Context, tool.Call) (tool.Result, error) {
			panic("boom")
		}},
		{name: "panics in time", timeout: time.Minute, err: "tool T panicked: boom",
			execute: func(context.Context, tool.Call) (tool.Result, error) { panic("boom") }},
		{name: "late", timeout: time.Millisecond, err: "timed out after 1ms", execute: waits},
		{name: "cancelled", ctx: cancelled, timeout: time.Minute, err: "cancelled by the user", execute: waits},
		{name: "cancelled without a deadline", ctx: cancelled, text: "half", err: "context canceled", execute: waits},
		{name: "off", guard: off, execute: waits,
			err: `plugin "p" is switched off: it is broken; /reload starts it again`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			x := tool.Tool{Name: "T", Execute: c.execute, Timeout: c.timeout, Guard: c.guard}
			r, err := x.Run(ctx, tool.Call{})
			if r.Text != c.text || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("%q, %v; want %q, %q", r.Text, err, c.text, c.err)
			}
			if e, ok := errors.AsType[*tool.PanicError](err); strings.Contains(c.err, "panicked") != ok ||
				ok && !strings.Contains(e.Stack, "run_test.go") {
				t.Errorf("panic %+v", e)
			}
			if c.err == tool.Cancelled && !errors.Is(err, gone) {
				t.Error("the cause is lost")
			}
		})
	}
}
