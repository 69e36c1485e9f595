package pyext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// places are files with which an extension and a test tell each other how far they are.
type places struct{ dir string }

func (p places) at(name string) string { return filepath.Join(p.dir, name) }

// python defines touch(name) and there(name) for an extension.
func (p places) python() string {
	return fmt.Sprintf(
		"import asyncio, os, threading, time\ndef touch(name): open(os.path.join(%q, name), 'w').close()\n"+
			"def there(name): return os.path.exists(os.path.join(%[1]q, name))\n",
		p.dir,
	)
}

func (p places) exists(name string) bool {
	_, err := os.Stat(p.at(name))
	return err == nil
}

// begin runs a tool until it is cancelled.
func (w *world) begin(ctx context.Context, t testing.TB, name string) chan error {
	t.Helper()
	x := w.tool(t, name)
	done := make(chan error, 1)
	go func() {
		_, err := x.Execute(ctx, tool.Call{ID: name})
		done <- err
	}()
	return done
}

// sent is how many calls there were.
func (p *process) sent() int64 {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	return p.queue.next
}

// waiting reports whether Python has not answered a call.
func (p *process) waiting(id int64) bool {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	return p.queue.calls[id] != nil
}

// AX-30: tools, handlers and commands learn that they were cancelled, sync or async; a
// function that does not care is replaced together with its process.
func TestCancellation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, body string }{
		{"sync", "def", "while not ctx.signal.is_set(): time.sleep(0.01)"},
		{"async", "async def", "while not ctx.signal.is_set(): await asyncio.sleep(0.01)"},
		{"async wait", "async def", "await ctx.signal.wait()"},
		{"async without looking", "async def", "await asyncio.sleep(1000)"},
		{"deaf", "def", "time.sleep(1000)"},
	} {
		for _, what := range []string{"tool", "event", "command"} {
			t.Run(c.name+" "+what, func(t *testing.T) {
				t.Parallel()
				f := places{t.TempDir()}
				w := start(t, files{"a": f.python() + fmt.Sprintf(`
def register(api):
    %s long(ctx):
        touch("started")
        try:
            %s
            if ctx.signal.is_set(): touch("set")
        finally:
            touch("stopped")
    @api.tool(name="long", description="", input_schema={"type": "object"})
    def tool(ctx): return long(ctx)
    @api.on("tool_call")
    def handler(event, ctx): return long(ctx)
    @api.command("long")
    def command(args, ctx): return long(ctx)
    @api.command("alive")
    def alive(args, ctx): return f"yes, {ctx.signal.is_set()}"
`, c.head, c.body)}, func(o *Options) {
					if c.name == "deaf" {
						o.patience = 100 * time.Millisecond
					}
				})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					switch what {
					case "tool":
						done <- <-w.begin(ctx, t, "long")
					case "event":
						w.pipeline.Dispatch(
							ctx,
							lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: bash("ls")},
							nil,
						)
						done <- ctx.Err()
					case "command":
						_, err := w.command(ctx, t, "long", "", sdk.Context{})
						done <- err
					}
				}()
				awaitFile(t, f.at("started"))
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if c.name != "deaf" {
					awaitFile(t, f.at("stopped"))
				}
				// The extension is in service afterwards, and nothing of it is left.
				if got, err := w.command(
					t.Context(),
					t,
					"alive",
					"",
					sdk.Context{},
				); got != "yes, False" ||
					err != nil {
					t.Errorf("%q, %v", got, err)
				}
				if looks := strings.Contains(c.body, "signal"); f.exists("set") != looks {
					t.Errorf("signal set: %v, want %v", f.exists("set"), looks)
				}
				if got := w.said(); got != "" {
					t.Errorf("said: %s", got)
				}
			})
		}
	}
}

// A call that was cancelled while it waited for another one never runs.
func TestCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	w := start(t, files{"a": f.python() + `
def register(api):
    @api.tool(name="first", description="", input_schema={"type": "object"})
    def first(ctx):
        touch("started")
        while not ctx.signal.is_set(): time.sleep(0.001)
    @api.tool(name="second", description="", input_schema={"type": "object"})
    def second(): touch("deployed")
    @api.command("alive")
    def alive(args, ctx): return "yes"
`})
	p, err := w.current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := w.begin(ctx, t, "first")
	awaitFile(t, f.at("started"))
	soon, never := context.WithCancel(t.Context())
	second := w.begin(soon, t, "second")
	for p.sent() < 2 {
		time.Sleep(time.Millisecond)
	}
	never()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for range 5000 { // Python takes note while the first one runs.
		if !p.waiting(2) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-first
	if got, err := w.command(t.Context(), t, "alive", "", sdk.Context{}); got != "yes" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if f.exists("deployed") {
		t.Error("it ran")
	}
}

// A call that was cancelled and asks for the history hears that it was; the process
// and what the extensions keep in it survive.
func TestQuestionAfterCancellation(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	w := start(t, files{"a": f.python() + `
def register(api):
    seen = []
    @api.tool(name="long", description="", input_schema={"type": "object"})
    def long(ctx):
        touch("started")
        while not ctx.signal.is_set(): time.sleep(0.01)
        try: ctx.session.messages
        except InterruptedError as e: seen.append(str(e))
    @api.command("seen")
    def show(args, ctx): return seen + [len(ctx.session.messages)]
`})
	ctx, cancel := context.WithCancel(t.Context())
	done := w.begin(ctx, t, "long")
	awaitFile(t, f.at("started"))
	cancel()
	<-done
	if got, err := w.command(
		t.Context(),
		t,
		"seen",
		"",
		sdk.Context{},
	); got != `["the call was cancelled",0]` ||
		err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A coroutine that looks at its signal takes input away that the event loop has been
// promised; the loop must not wait for it then, or everything else stands still.
func TestSignalDoesNotStopTheLoop(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	w := start(t, files{"a": f.python() + `
import select
def register(api):
    @api.events.on("tick")
    async def tick(payload):
        while not there("stopped"): await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        touch("ticked")
    @api.tool(name="long", description="", input_schema={"type": "object"})
    async def long(ctx):
        api.events.emit("tick")
        await asyncio.sleep(0.01)
        touch("started")
        select.select([3], [], [])  # There is something on the wire.
        await asyncio.sleep(0)      # The loop sees it, and lets this go on first.
        if ctx.signal.is_set(): touch("stopped")
`})
	ctx, cancel := context.WithCancel(t.Context())
	done := w.begin(ctx, t, "long")
	awaitFile(t, f.at("started"))
	cancel()
	<-done
	awaitFile(t, f.at("ticked"))
}

// What goes on in the background may clean up when the session ends.
func TestBackgroundCleansUp(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	w := start(t, files{"a": f.python() + `
def register(api):
    @api.events.on("go")
    async def forever(payload):
        touch("started")
        try: await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(0)
            touch("cleaned")
    @api.on("session_start")
    def begin(event, ctx): api.events.emit("go")
`})
	w.moment(t, &sdk.SessionStartContext{})
	awaitFile(t, f.at("started"))
	w.Close()
	if !f.exists("cleaned") {
		t.Error("it was cut off")
	}
}

// Where pipes can be neither asked nor watched a thread reads the wire. It is the same
// for extensions.
func TestFedWire(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	w := start(t, files{"a": f.python() + `
def register(api):
    @api.tool(name="sync", description="", input_schema={"type": "object"})
    def sync(ctx):
        touch("sync")
        while not ctx.signal.is_set(): time.sleep(0.01)
        touch("sync stopped")
    @api.tool(name="async", description="", input_schema={"type": "object"})
    async def coroutine(ctx):
        touch("async")
        while not ctx.signal.is_set(): await asyncio.sleep(0)
        touch("async stopped")
    @api.command("read")
    def read(args, ctx): return len(ctx.session.messages)
    @api.command("read_async")
    async def read_async(args, ctx):
        before = len(ctx.session.messages)
        await asyncio.sleep(0)
        return [before, len(ctx.session.snapshot["patch_counts"])]
`}, func(o *Options) {
		o.boot = "import sys; sys.path.insert(0, sys.argv[1]); from agent import _wire; _wire.Wire = " +
			"_wire.FedWire; from agent._host import main; main()"
	})
	w.history = append(w.history, callMessage(1), callMessage(2))
	check := func(name, want string) {
		t.Helper()
		if got, err := w.command(
			t.Context(),
			t,
			name,
			"",
			sdk.Context{PatchCounts: map[string]int{"a": 1}},
		); got != want ||
			err != nil {
			t.Errorf("/%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"sync", "async", "sync", "async"} {
		check("read", "2")
		ctx, cancel := context.WithCancel(t.Context())
		done := w.begin(ctx, t, name)
		awaitFile(t, f.at(name))
		cancel()
		<-done
		awaitFile(t, f.at(name+" stopped"))
		for range 3 {
			check("read_async", "[2,1]")
		}
		for _, file := range []string{name, name + " stopped"} {
			_ = os.Remove(f.at(file))
		}
	}
}
