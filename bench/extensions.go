package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/pyext"
	"github.com/idelchi/aura/sdk"
)

// pythonEvents measures what Python extensions cost: at the start, and per event.
func (b *bed) pythonEvents() error {
	found, err := pyext.FindInterpreter(b.dir, "", os.Getenv)
	if err != nil {
		fmt.Printf("python   %v\n", err)
		return nil
	}
	cache := filepath.Join(b.dir, "cache")
	in, err := found.Resolve(cache)
	if err != nil {
		return err
	}
	none := repeated(200, func() {
		pyext.Discover(pyext.FindDirs([]string{b.dir}, b.dir, b.dir, nil), in.Installed(cache))
	})
	var ready, bare []time.Duration
	for range b.runs {
		h, d, err := b.extension(in, cache, "def f(event, ctx): pass")
		if err != nil {
			return err
		}
		h.Close()
		ready = append(ready, d)
		bare = append(bare, repeated(1, func() { _ = exec.Command(in.Path, "-I", "-S", "-c", "pass").Run() }))
	}
	self := func(d time.Duration) time.Duration { return d }
	x, y := median(ready, self), median(bare, self)
	fmt.Printf("python   no extension: %.2f ms; first extension ready: %s, python3 -I -S -c pass %s: %.2fx\n",
		float64(none)/1e6, ms(x), ms(y), ratio(x, y))
	call := lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{
		ToolName: "Write", Arguments: map[string]any{"content": strings.Repeat("x", 4<<10)},
	}}
	chunk := lifecycle.Event{Moment: lifecycle.StreamChunk, Data: &sdk.StreamChunkContext{Text: "some words "}}
	bareTrip, err := echo(in.Path, 4<<10)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name, code string
		event      lifecycle.Event
	}{
		{"tool_call with 4 KB, sync", "def f(event, ctx): pass", call},
		{"tool_call with 4 KB, async", "async def f(event, ctx): pass", call},
		{"stream_chunk", "def f(event, ctx): pass", chunk},
	} {
		d, err := b.roundTrip(in, cache, m.code, m.event)
		if err != nil {
			return err
		}
		fmt.Printf(
			"python   %s: %.1f µs, %.1fx a bare loop that reads 4 KB of JSON and answers\n",
			m.name,
			float64(d)/1e3,
			ratio(d, bareTrip),
		)
	}
	return b.listened()
}

// echo is the mean time of a line of JSON to a Python process and an answer back, with
// nothing around it.
func echo(python string, size int) (time.Duration, error) {
	cmd := exec.Command(
		python,
		"-I",
		"-S",
		"-c",
		"import json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['id'], flush=True)",
	)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	line := []byte(`{"id":1,"content":"` + strings.Repeat("x", size) + "\"}\n")
	reader := bufio.NewReader(out)
	trip := func() {
		if _, err = in.Write(line); err == nil {
			_, err = reader.ReadSlice('\n')
		}
	}
	repeated(100, trip)
	d := repeated(5000, trip)
	if err != nil {
		return 0, err
	}
	_ = in.Close()
	return d, cmd.Wait()
}

// listened compares streams that an extension listens to with streams that it does
// not listen to.
func (b *bed) listened() error {
	var sides []program
	for _, event := range []string{"stream_chunk", "error"} {
		home := filepath.Join(b.dir, "home-"+event)
		if err := os.CopyFS(home, os.DirFS(filepath.Join(b.dir, "home"))); err != nil {
			return err
		}
		dir := filepath.Join(home, "extensions")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		text := "def register(api):\n    @api.on('" + event + "')\n    def f(event, ctx): pass\n"
		if err := os.WriteFile(filepath.Join(dir, "listener.py"), []byte(text), 0o644); err != nil {
			return err
		}
		p := b.aura("run", "hi")
		p.args[slices.Index(p.args, filepath.Join(b.dir, "home"))] = home
		sides = append(sides, p)
	}
	for _, s := range []struct {
		name  string
		reply func(*answer, int)
	}{{"2000 deltas, 10 per ms", pace(2000, 10, "word ")}, {"20000 deltas at once", say(20_000, "word ")}} {
		b.server.play(s.reply)
		x, y, err := b.compare(min(b.runs, 7), sides[0], sides[1])
		if err != nil {
			return err
		}
		report("python", s.name+" with a listener", "one that listens to something else", x, y)
	}
	return nil
}

// extension starts a host with one extension that listens to two events.
func (b *bed) extension(in pyext.Interpreter, cache, code string) (*pyext.Host, time.Duration, error) {
	file := filepath.Join(b.dir, "bench_extension.py")
	text := "def register(api):\n    @api.on('tool_call')\n    @api.on('stream_chunk')\n    " + code + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, 0, err
	}
	start := time.Now()
	h := pyext.New(
		pyext.Options{Interpreter: in, Cache: cache, Workdir: b.dir},
		[]pyext.Extension{{Name: "bench", Tier: pyext.User, Path: file}},
	)
	h.Start()
	err := h.Wait(context.Background())
	return h, time.Since(start), err
}

// roundTrip is the mean time of one event there and back.
func (b *bed) roundTrip(in pyext.Interpreter, cache, code string, ev lifecycle.Event) (time.Duration, error) {
	h, _, err := b.extension(in, cache, code)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Extension, h.Bindings())
	p.Dispatch(context.Background(), ev, nil)
	return repeated(5000, func() { p.Dispatch(context.Background(), ev, nil) }), nil
}
