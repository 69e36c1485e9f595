package plugin_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// small is a plugin as people write them.
const small = `
var calls int

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	calls++
	if calls%1000000 != 0 {
		return sdk.Result{}, nil
	}
	return sdk.Result{Message: fmt.Sprintf("Turn %d | %s", calls, strings.ToUpper(c.Agent)), Role: sdk.RoleUser, Prefix: "[small] ", Eject: true}, nil
}
`

func benchmarkLoad(b *testing.B, count int) {
	dir := b.TempDir()
	for i := range count {
		write(b, dir, fmt.Sprintf("small%d", i), "", "fmt strings", small)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := plugin.Load(context.Background(), plugin.Options{Dirs: []string{dir}})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkLoadOne(b *testing.B)   { benchmarkLoad(b, 1) }
func BenchmarkLoadFifty(b *testing.B) { benchmarkLoad(b, 50) }

// BenchmarkHook is one call with a zero result, without the pipeline.
func BenchmarkHook(b *testing.B) {
	h := one(b, "", "fmt strings", small).Bindings()[0].Handler
	ev := &lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	ctx, cancel := context.WithTimeout(context.Background(), plugin.HookTimeout)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Handle(ctx, ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDispatch is the same through the pipeline, with a deadline.
func BenchmarkDispatch(b *testing.B) {
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, one(b, "", "fmt strings", small).Bindings())
	ev := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	b.ReportAllocs()
	for b.Loop() {
		p.Dispatch(context.Background(), ev, nil)
	}
}
