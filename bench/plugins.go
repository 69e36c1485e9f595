package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// trivial is a plugin that takes part in every model call and changes nothing.
const trivial = `package trivial

import (
	"context"
	"fmt"
	"strings"

	"github.com/idelchi/aura/sdk"
)

var calls int

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	calls++
	if calls%1000000 != 0 {
		return sdk.Result{}, nil
	}
	return sdk.Result{Message: fmt.Sprintf("%d %s", calls, strings.ToUpper(c.Agent))}, nil
}
`

// busy is what makes it one that takes part in every tool call, too.
const busy = `
func BeforeToolExecution(context.Context, sdk.BeforeToolContext) (sdk.BeforeToolResult, error) {
	return sdk.BeforeToolResult{}, nil
}

func AfterToolExecution(context.Context, sdk.AfterToolContext) (sdk.Result, error) { return sdk.Result{}, nil }
`

// writePlugins puts a number of plugins into a directory.
func writePlugins(dir string, count int, yaml, source string) error {
	for i := range count {
		at := filepath.Join(dir, fmt.Sprintf("p%02d", i))
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		for name, text := range map[string]string{
			"go.mod": "module trivial\n", "plugin.yaml": fmt.Sprintf("name: p%02d\n%s\n", i, yaml), "main.go": source,
		} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// pluginCosts measures what Go plugins cost: at the start, per call, and over a
// conversation.
func (b *bed) pluginCosts() error {
	var parts []string
	for _, c := range []struct {
		engine string
		count  int
	}{{"yaegi", 1}, {"yaegi", 50}, {"native", 1}} {
		wall, heap, err := b.loadPlugins(c.engine, c.count)
		if err != nil {
			return err
		}
		parts = append(
			parts,
			fmt.Sprintf("%d %s: %s, %.2f MB of heap each", c.count, c.engine, ms(wall), heap/1e6/float64(c.count)),
		)
	}
	fmt.Printf("plugins  load %s\n", strings.Join(parts, "; "))
	small := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}}
	large := lifecycle.Event{Moment: lifecycle.BeforeChat, Data: fourKilobytes()}
	for _, engine := range []string{"yaegi", "native"} {
		x, err := b.pluginCall(engine, trivial, small)
		if err != nil {
			return err
		}
		// A plugin that looks at the large fields: others do not get them from a pipe.
		y, err := b.pluginCall(
			engine,
			strings.Replace(
				trivial,
				"calls++",
				"calls += 1 + 0*(len(c.Turns)+len(c.ToolHistory)+len(c.SystemPrompt))",
				1,
			),
			large,
		)
		if err != nil {
			return err
		}
		fmt.Printf(
			"plugins  BeforeChat, %s: %.1f µs; with a context of 4 KB: %.1f µs\n",
			engine,
			float64(x)/1e3,
			float64(y)/1e3,
		)
	}
	return b.pluginConversation()
}

// loadPlugins is the median time of loading plugins, and the heap they need.
func (b *bed) loadPlugins(engine string, count int) (time.Duration, float64, error) {
	dir := filepath.Join(b.dir, "load", engine+strconv.Itoa(count))
	if err := writePlugins(dir, count, "engine: "+engine, trivial); err != nil {
		return 0, 0, err
	}
	var times []time.Duration
	var heap float64
	for range max(b.runs, 3) {
		before := heapSize()
		start := time.Now()
		s, err := plugin.Load(context.Background(), b.pluginOptions(dir))
		if err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(start))
		heap = heapSize() - before
		s.Close()
	}
	return median(times, func(d time.Duration) time.Duration { return d }), heap, nil
}

func (b *bed) pluginOptions(dir string) plugin.Options {
	return plugin.Options{Dirs: []string{dir}, Native: plugin.Native{Cache: filepath.Join(b.dir, "cache", "plugins")}}
}

func heapSize() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// pluginCall is the mean time of one hook, without the pipeline.
func (b *bed) pluginCall(engine, source string, ev lifecycle.Event) (time.Duration, error) {
	dir := filepath.Join(b.dir, "call")
	if err := writePlugins(dir, 1, "engine: "+engine, source); err != nil {
		return 0, err
	}
	s, err := plugin.Load(context.Background(), b.pluginOptions(dir))
	if err != nil {
		return 0, err
	}
	defer s.Close()
	h := s.Bindings()[0].Handler
	call := func() { _, err = h.Handle(context.Background(), &ev) }
	repeated(1000, call)
	return repeated(20_000, call), err
}

// fourKilobytes is a snapshot of that size.
func fourKilobytes() *sdk.BeforeChatContext {
	c := &sdk.BeforeChatContext{Context: sdk.Context{
		Agent:     "Coder",
		Mode:      "edit",
		Workdir:   "/home/someone/project",
		ModelInfo: sdk.ModelInfo{Name: "llama3:8b", Capabilities: []string{"tools"}},
		Stats: sdk.Stats{
			StartTime: time.Now(),
			TopTools:  []sdk.ToolCount{{Name: "Bash", Count: 3}},
		},
		PatchCounts: map[string]int{"main.go": 2},
		AvailableTools: []string{
			"Bash",
			"Read",
			"Write",
			"Glob",
			"Grep",
		},
		SystemPrompt: strings.Repeat("You are a careful assistant. ", 44),
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
	return c
}

// pluginConversation compares a chain of tool calls with ten plugins and without.
func (b *bed) pluginConversation() error {
	const turns = 200
	b.server.play(func(w *answer, turn int) { callTools(turns)(w, (turn-1)%turns+1) }) // Again for each run.
	without := b.aura("--max-steps", strconv.Itoa(turns+1), "run", "read the note")
	for i, c := range []struct{ engine, hooks, source string }{
		{"yaegi", "one hook", trivial}, {"yaegi", "three hooks", trivial + busy}, {"native", "one hook", trivial},
		{"native", "three hooks", trivial + busy},
	} {
		home := filepath.Join(b.dir, "home-plugins"+strconv.Itoa(i))
		if err := os.CopyFS(home, os.DirFS(filepath.Join(b.dir, "home"))); err != nil {
			return err
		}
		if err := writePlugins(filepath.Join(home, "plugins"), 10, "engine: "+c.engine, c.source); err != nil {
			return err
		}
		with := without
		with.args = slices.Clone(without.args)
		with.args[slices.Index(with.args, filepath.Join(b.dir, "home"))] = home
		if _, err := with.run(b.launcher); err != nil { // Builds native plugins.
			return err
		}
		x, y, err := b.compare(min(b.runs, 7), with, without)
		if err != nil {
			return err
		}
		report("plugins", fmt.Sprintf("200 tool turns, ten %s with %s each", c.engine, c.hooks), "none", x, y)
	}
	return nil
}
