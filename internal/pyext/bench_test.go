package pyext

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

func payload(size int) lifecycle.Event {
	return lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{
		ToolName: "Write", ToolCallID: "c1", Arguments: map[string]any{"content": strings.Repeat("x", size)},
	}}
}

// One subscribed event there and back.
func BenchmarkRoundTrip(b *testing.B) {
	for _, bench := range []struct{ name, code string }{
		{"sync", "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx): return None\n"},
		{"async", "def register(api):\n    @api.on('tool_call')\n    async def f(event, ctx): return None\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := start(b, files{"x": bench.code})
			ev := payload(4096)
			w.pipeline.Dispatch(b.Context(), ev, nil)
			for b.Loop() {
				w.pipeline.Dispatch(b.Context(), ev, nil)
			}
		})
	}
}

// From nothing to a loaded extension, beside the cheapest thing Python can do.
func BenchmarkStart(b *testing.B) {
	in := interpreter(b)
	real, err := in.Resolve(testCache)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("python pass", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(real.Path, "-I", "-S", "-c", "pass").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	found := start(
		b,
		files{"x": "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx): return None\n"},
	).found
	b.Run("ready", func(b *testing.B) {
		for b.Loop() {
			h := New(Options{Interpreter: real, Cache: testCache}, found)
			h.Start()
			if err := h.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			h.Close()
			b.StartTimer()
		}
	})
}

// A stream with somebody who listens.
func BenchmarkStream(b *testing.B) {
	w := start(b, files{"x": "def register(api):\n    @api.on('stream_chunk')\n    def f(event, ctx): return None\n"})
	ev := lifecycle.Event{Moment: lifecycle.StreamChunk, Data: &sdk.StreamChunkContext{Text: "some words "}}
	for b.Loop() {
		w.pipeline.Dispatch(b.Context(), ev, nil)
	}
}

// What looking for extensions costs when there are none.
func BenchmarkDiscover(b *testing.B) {
	dir := b.TempDir()
	in := interpreter(b)
	for b.Loop() {
		in.facts = nil
		Discover(FindDirs([]string{dir}, dir, dir, nil), in.Installed(testCache))
	}
}
