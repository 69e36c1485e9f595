package pyext

import (
	"os"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// AX-25: whatever a listener raises stays with it, and who ends the process is blamed for
// it, not who told the bus.
func TestBusFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, body, said string }{
		{"raises", "def", "raise ValueError('v')", "listener: error: event x: ValueError: v"},
		{"exits", "def", "raise SystemExit(3)", "listener: error: event x: SystemExit: 3"},
		{"async exits", "async def", "raise SystemExit(3)", "listener: error: event x: SystemExit: 3"},
		{"async waits and exits", "async def", "await asyncio.sleep(0); raise SystemExit(3)", "listener: error: event x: SystemExit: 3"},
		{"dies", "def", "os._exit(7)", "listener: it ended the Python process (exit status 7)"},
		{"async dies", "async def", "os._exit(7)", "listener: it ended the Python process (exit status 7)"},
		{"async waits and dies", "async def", "await asyncio.sleep(0); os._exit(7)", "listener: it ended the " +
			"Python process (exit status 7)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t, files{
				"listener": "import asyncio, os\ndef register(api):\n    @api.events.on('x')\n    " + c.head + " f(payload): " + c.body + "\n",
				"teller": `
def register(api):
    @api.command("emit")
    async def emit(args, ctx):
        await api.events.emit_async("x", args)
        return "told"
`,
			})
			for range 2 { // The second time nobody who died is there to listen.
				got, err := w.command(t.Context(), t, "emit", "", sdk.Context{})
				if died := strings.Contains(c.body, "_exit"); err != nil && !died || err == nil && got != "told" {
					t.Errorf("%q, %v", got, err)
				}
			}
			w.wants(t, c.said)
			if strings.Contains(w.said(), "teller:") {
				t.Errorf("said %s", w.said())
			}
		})
	}
}

// A coroutine that tells the bus something goes on as the call it was, although a
// listener that is a coroutine ran in between.
func TestBusKeepsTheCall(t *testing.T) {
	t.Parallel()
	for _, path := range pythons(t) {
		w := start(t, files{"a": `
def register(api):
    @api.events.on("x")
    async def listen(payload): pass
    @api.command("go")
    async def go(args, ctx):
        api.events.emit("x")
        await api.events.emit_async("x")
        return len(ctx.session.messages)
`}, with(t, path))
		w.history = append(w.history, callMessage(1), callMessage(2))
		if got, err := w.command(t.Context(), t, "go", "", sdk.Context{}); got != "2" || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

// AX-22: threads may tell the bus something, too.
func TestBusFromThread(t *testing.T) {
	t.Parallel()
	f := places{t.TempDir()}
	w := start(t, files{"a": f.python() + `
def register(api):
    @api.events.on("x")
    async def listen(payload):
        await asyncio.sleep(0.001)
        if threading.current_thread() is threading.main_thread(): touch(payload)
    @api.command("go")
    async def go(args, ctx):
        def later():
            while not there("idle"): time.sleep(0.001)
            time.sleep(0.02)
            api.events.emit("x", "heard")
        threading.Thread(target=later).start()
`})
	if _, err := w.command(t.Context(), t, "go", "", sdk.Context{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.at("idle"), nil, 0o644); err != nil { // Nothing else wakes the loop.
		t.Fatal(err)
	}
	awaitFile(t, f.at("heard"))
}

// Calls that run side by side each read their own messages. AX-37
func TestMessagesOfTheCall(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
import asyncio
def register(api):
    both = asyncio.Event()
    count = 0
    @api.on("before_turn")
    async def look(event, ctx):
        nonlocal count
        count += 1
        if count == 2: both.set()
        await both.wait()
        return [{"role": "user", "content": event.messages[0].content + " " + str(event.iteration)}]
`})
	results := make(chan string, 2)
	for i, text := range []string{"zero", "one"} {
		go func() {
			data := &sdk.TransformContext{
				Context:  sdk.Context{Iteration: i},
				Messages: []sdk.Message{{Role: "user", Content: text}},
			}
			out := w.pipeline.Dispatch(
				t.Context(),
				lifecycle.Event{Moment: lifecycle.TransformMessages, Data: data},
				func(any) error { return nil },
			)
			results <- out.Data.(*sdk.TransformContext).Messages[0].Content
		}()
	}
	for range 2 {
		if got := <-results; got != "zero 0" && got != "one 1" {
			t.Errorf("read %q", got)
		}
	}
}

// Where the history cannot be read an extension is told so; it is never just empty.
func TestHistoryOutOfReach(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
import threading
def register(api):
    @api.on("stream_chunk")
    def chunk(event, ctx): len(ctx.session.messages)
    @api.command("thread")
    def thread(args, ctx):
        out = []
        def look():
            try: out.append(len(ctx.session.messages))
            except RuntimeError as e: out.append(str(e))
        t = threading.Thread(target=look)
        t.start(); t.join()
        return out
`})
	const want = "messages of the session can be read while a handler, tool or command runs, not in " +
		"stream_chunk, in the background or in a thread"
	w.moment(t, &sdk.StreamChunkContext{Text: "x"})
	if got, err := w.command(t.Context(), t, "thread", "", sdk.Context{}); got != `["`+want+`"]` || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	w.wants(t, "a: error: stream_chunk: RuntimeError: "+want)
}

// Functions inside decorators get what they ask for, as if they were alone. AX-26 AX-55
func TestDecoratedFunctions(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
import functools
def plain(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs): return fn(*args, **kwargs)
    return wrapper
def register(api):
    @api.tool(name="t", description="", input_schema={"type": "object"})
    @plain
    @plain
    def t(x, ctx): return x + ctx.logger.name
    @api.tool(name="none", description="", input_schema={"type": "object"})
    @plain
    def none(x): return x
    @api.command("c")
    @plain
    def c(args): return args
    @api.on("user_message")
    @plain
    def e(event): return event.upper()
    @api.command("partial")
    @functools.partial(functools.partial, ctx=None)
    def p(args, ctx): return "never"
`})
	for _, c := range []struct{ name, want string }{{"t", "1aar.ext.a"}, {"none", "1"}} {
		if got, err := w.run(t, c.name, map[string]any{"x": "1"}); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	if got, err := w.command(t.Context(), t, "c", "x", sdk.Context{}); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if out := w.moment(t, &sdk.UserMessageContext{Text: "x"}); out.Data.(*sdk.UserMessageContext).Text != "X" {
		t.Errorf("%+v", out)
	}
}

// What is registered when it is too late, or is no name, is named.
func TestRegistrationErrors(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"late": `
def register(api):
    @api.command("more")
    def more(args, ctx):
        api.command("later")(lambda args, ctx: None)
        api.tool(name="later", description="", input_schema={})(lambda: None)
        api.on("tool_call")(lambda event, ctx: None)
`,
		"tool":    "def register(api):\n    api.tool(name=5, description='', input_schema={})(lambda: None)\n",
		"text":    "def register(api):\n    api.tool(name='x', description=None, input_schema={})(lambda: None)\n",
		"command": "def register(api):\n    api.command(None)(lambda args, ctx: None)\n",
		"handler": "def register(api):\n    api.register_tool(ToolSpec('x'))\n",
		"one": "def register(api):\n    api.tool(name='one', description='', input_schema={}, " +
			"side_effects=SideEffect.NETWORK)(lambda: None)\n",
	})
	if _, err := w.command(t.Context(), t, "more", "", sdk.Context{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"late: warning: command /later was added after register returned; it is left out",
		"late: warning: tool 'later' was added after register returned; it is left out",
		"late: warning: a handler for tool_call was added after register returned; it is left out",
		"tool: it could not be loaded: TypeError: tool 5: its name and description must be strings",
		"text: it could not be loaded: TypeError: tool 'x': its name and description must be strings",
		"command: it could not be loaded: TypeError: command None: its name and description must be strings",
		"handler: it could not be loaded: TypeError: tool 'x': its handler is not a function",
	} {
		w.wants(t, want)
	}
	if e := w.tool(t, "one").SideEffects; len(e) != 1 || e[0] != "network" {
		t.Errorf("side effects %q", e)
	}
}
