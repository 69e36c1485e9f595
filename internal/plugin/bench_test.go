package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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

// BenchmarkLongHook is one call in a session of 2000 turns, by what the plugin looks at.
func BenchmarkLongHook(b *testing.B) {
	c := context4K(b)
	for range 2000 {
		c.Turns = append(c.Turns, c.Turns[0])
	}
	for range 200 {
		c.ToolHistory = append(c.ToolHistory, c.ToolHistory[0])
	}
	ev := &lifecycle.Event{Moment: lifecycle.BeforeChat, Data: c}
	for _, look := range []struct{ name, imports, at string }{
		{"nothing", "", ""}, {"turns", "", "_ = c.Turns"}, {"calls", "", "_ = c.ToolHistory"},
		{"everything", "reflect", "_ = reflect.TypeOf(c)"},
	} {
		b.Run(look.name, func(b *testing.B) {
			source := strings.Replace(small, "calls++", "calls++\n"+look.at, 1)
			h := one(b, "", "fmt strings "+look.imports, source).Bindings()[0].Handler
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Handle(context.Background(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
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

// context4K is a snapshot that takes 4 KB as JSON.
func context4K(b *testing.B) *sdk.BeforeChatContext {
	c := &sdk.BeforeChatContext{Context: sdk.Context{
		Iteration: 3,
		Agent:     "Coder",
		Mode:      "edit",
		Workdir:   "/home/someone/project",
		SessionID: "20260101-120000-abcdef",
		Provider:  "local",
		ModelInfo: sdk.ModelInfo{
			Name:           "llama3:8b",
			Family:         "llama",
			ParameterCount: 8e9,
			ContextLength:  8192,
			Capabilities:   []string{"tools", "vision"},
		},
		Stats: sdk.Stats{
			StartTime: time.Unix(1e9, 5),
			Turns:     4,
			TopTools:  []sdk.ToolCount{{Name: "Bash", Count: 3}, {Name: "Read", Count: 2}},
		},
		PatchCounts: map[string]int{
			"main.go": 2,
		},
		AvailableTools: []string{"Bash", "Read", "Write", "Glob", "Grep"},
		Vars:           map[string]string{"a": "b"},
		SystemPrompt:   strings.Repeat("You are a careful assistant. ", 44),
		PluginConfig:   map[string]any{"max": 3},
	}}
	for i := range 6 {
		c.ToolHistory = append(
			c.ToolHistory,
			sdk.ToolCall{
				Name:     "Bash",
				Args:     map[string]any{"command": "go test ./...", "n": float64(i)},
				ArgsJSON: `{"command":"go test ./...","n":1}`,
				Result:   "ok  \tpackage\t0.01s",
			},
		)
		c.Turns = append(c.Turns, sdk.Turn{Role: "user", Content: strings.Repeat("please do something ", 4)})
	}
	text, err := json.Marshal(c)
	if err != nil || len(text) < 4000 || len(text) > 4400 {
		b.Fatalf("%d bytes, %v", len(text), err)
	}
	return c
}

// BenchmarkNative is one call into a process with a context of 4 KB, without the
// pipeline.
func BenchmarkNative(b *testing.B) {
	all := strings.Replace(
		small,
		"calls++",
		"calls += 1 + min(0, len(c.Turns)+len(c.ToolHistory)+len(c.SystemPrompt))",
		1,
	) // Looks at everything.
	h := one(b, "engine: native", "fmt strings", all).Bindings()[0].Handler
	ev := &lifecycle.Event{Moment: lifecycle.BeforeChat, Data: context4K(b)}
	ctx, cancel := context.WithTimeout(context.Background(), plugin.HookTimeout)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Handle(ctx, ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoadNative is loading one plugin whose executable is there.
func BenchmarkLoadNative(b *testing.B) {
	dir := b.TempDir()
	write(b, dir, "small", "engine: native", "fmt strings", small)
	load(b, plugin.Options{Dirs: []string{dir}})
	for b.Loop() {
		s, err := plugin.Load(
			context.Background(),
			plugin.Options{Dirs: []string{dir}, Native: plugin.Native{Cache: builds}},
		)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
