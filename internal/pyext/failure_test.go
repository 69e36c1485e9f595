package pyext

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

func callMessage(i int) message.Message {
	return message.Message{
		Message: sdk.Message{
			Role:      "assistant",
			Type:      "normal",
			ToolCalls: []sdk.MessageToolCall{{ID: strconv.Itoa(i), Name: "Bash"}},
		},
	}
}

const good = `
def register(api):
    @api.on("tool_call")
    def f(event, ctx): return Result(message="good is here")
    @api.command("good")
    def c(args, ctx): return "good"
`

// An extension that cannot be loaded is named; the others run. AX-71 AX-77
func TestLoadErrors(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"syntax":           "def register(api:\n",
		"missing":          "import no_such_module_anywhere\ndef register(api): pass\n",
		"noregister":       "x = 1\n",
		"pack/__init__.py": "y = 2\n",
		"raises": "def register(api):\n    api.command('left_over')(lambda a, c: 'x')\n" +
			"    raise RuntimeError('at once')\n",
		"exits":    "import sys\nsys.exit(4)\n",
		"encoding": "# -*- coding: nonsense -*-\n",
		"binary":   "\x00\x01\x02",
		"good":     good,
	})
	for _, want := range []string{
		"syntax: it could not be loaded: SyntaxError:", "syntax.py, line 1", "missing: it could not be loaded: " +
			"ModuleNotFoundError: No module named 'no_such_module_anywhere'",
		"noregister: it could not be loaded: it has no register(api) function", "pack: it could not be loaded: " +
			"it has no register(api) function",
		"raises: it could not be loaded: RuntimeError: at once", "exits: it could not be loaded: SystemExit: 4", "encoding: it could not be loaded: ", "binary: it could not be loaded: ",
	} {
		w.wants(t, want)
	}
	if n := len(w.Commands()); n != 1 {
		t.Errorf("%d commands", n)
	}
	if out := w.moment(t, bash("ls")); len(out.Said) != 1 {
		t.Errorf("%+v", out)
	}
}

// An extension that ends the process, or hangs, while it is loaded is named and
// left out; the others run.
func TestLoadDeath(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"dies":  "import os\nos._exit(7)\n",
		"hangs": "import time\ntime.sleep(1000)\n",
		"kill":  "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
		"good":  good,
	}, func(o *Options) { o.loading = time.Second })
	w.wants(t, "dies: it ended the Python process (exit status 7); it is switched off until /reload")
	w.wants(t, "hangs: loading took more than 1s; it is switched off until /reload")
	w.wants(t, "kill: it ended the Python process (signal: segmentation fault")
	if got, err := w.command(t.Context(), t, "good", "", sdk.Context{}); got != "good" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, l := range w.Extensions() {
		if (l.Error == "") != (l.Name == "good") {
			t.Errorf("%s: %q", l.Name, l.Error)
		}
	}
}

// hostile handlers, and what must become of them while another one goes on.
func TestHostileHandlers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		verdict    lifecycle.Verdict
		notice     string // Of the dispatch.
		said       string // Of the host.
		off        bool
	}{
		{"raises", "raise ValueError('bad')", lifecycle.Failed, "ValueError: bad", "", false},
		{"sys.exit", "import sys; sys.exit(3)", lifecycle.Failed, "SystemExit: 3", "", false},
		{"recursion", "f = lambda: f(); f()", lifecycle.Failed, "RecursionError", "", false},
		{"memory", "x = 'a' * (1 << 60)", lifecycle.Failed, "MemoryError", "", false},
		{"huge text", "raise ValueError('x' * 10_000_000)", lifecycle.Failed, "xxx...", "", false},
		{"exits", "import os; os._exit(3)", lifecycle.Failed, "it ended the Python process (exit status 3)", "bad: it ended the Python process (exit status 3); it is switched off until /reload", true},
		{"segfault", "import ctypes; ctypes.string_at(0)", lifecycle.Failed, "it ended the Python process " +
			"(signal: segmentation fault", "bad: it ended", true},
		{"hangs", "import time; time.sleep(1000)", lifecycle.TimedOut, "timed out after 400ms", "bad: timed out after 400ms; it is switched off until /reload", true},
		{"spins", "\n        while True: pass", lifecycle.TimedOut, "timed out", "bad: timed out", true},
		{"ignores signals", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); " +
			"time.sleep(1000)", lifecycle.TimedOut, "timed out", "bad: timed out", true},
		{"writes to the wire", "import os; os.write(4, b'{nonsense\\n')", lifecycle.Failed, "it wrote to the wire: malformed line", "bad: it wrote to the wire", true},
		{"endless line", "import os\n        while True: os.write(4, b'x' * 65536)", lifecycle.Failed, "it wrote to the wire: a line of more than", "bad: it wrote to the wire", true},
		{"closes the wire", "import os; os.close(4)", lifecycle.Failed, "", "", true},
		{"huge answer", "return Result(message='x' * (30 << 20))", lifecycle.Failed, "the answer has", "", false},
		{"cycle", "d = {}; d['d'] = d; return Result(arguments=d)", lifecycle.Changed, "", "", false},
		{"not json", "return Result(arguments={'o': object(), 'n': float('inf'), 's': {1}})", lifecycle.Changed, "", "", false},
		{"surrogate", "return Result(message='\\ud800')", lifecycle.Spoke, "", "", false},
		{"prints", "print('x' * 1000000); import sys; sys.stderr.write('y' * 100000)", lifecycle.Passed, "", "", false},
		{"floods with dots", "[ctx.logger.info('... line %d', i) for i in range(5000)]", lifecycle.Passed, "", "bad: warning: ... 4800 more lines left out", false},
		{"floods", "[ctx.logger.info('line %d', i) for i in range(5000)]", lifecycle.Passed, "", "bad: warning: ... 4800 more lines left out", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			timeout := 20 * time.Second
			if c.verdict == lifecycle.TimedOut {
				timeout = 400 * time.Millisecond
			}
			w := start(
				t,
				files{
					"bad":  "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx):\n        " + c.body + "\n",
					"good": good,
				},
				func(o *Options) {
					o.Timeout = timeout
				},
			)
			out := w.moment(t, bash("ls"))
			records := w.pipeline.Records()
			if records[0].Verdict != c.verdict {
				t.Errorf("verdict %s (%s), want %s", records[0].Verdict, records[0].Detail, c.verdict)
			}
			var notices []string
			for _, n := range out.Notices {
				notices = append(notices, n.Text)
			}
			if text := strings.Join(notices, "\n"); !strings.Contains(text, c.notice) {
				t.Errorf("notices %.300q, want %q", text, c.notice)
			}
			if len(out.Said) == 0 || out.Said[len(out.Said)-1].Text != "good is here" {
				t.Errorf("the other extension did not run: %+v", out.Said)
			}
			w.wants(t, c.said)
			if n := strings.Count(w.said(), "\n"); n > 200 {
				t.Errorf("%d lines", n)
			}
			// The next event finds the extension in service, or not at all.
			w.moment(t, bash("ls"))
			if n := len(w.pipeline.Records()); (n == 3) != c.off {
				t.Errorf("%d records after two dispatches, off %v", n, c.off)
			}
		})
	}
}

// A gate with on_failure="block" stays closed when it fails, and after it was
// switched off.
func TestClosedGate(t *testing.T) {
	t.Parallel()
	w := start(
		t,
		files{
			"gate": "import os\ndef register(api):\n    @api.on('tool_call', on_failure='block')\n" +
				"    def f(event, ctx): os._exit(1)\n",
		},
	)
	for range 2 {
		if out := w.moment(
			t,
			bash("ls"),
		); out.Blocked == nil ||
			!strings.Contains(out.Blocked.Reason, "on_failure: block") {
			t.Errorf("%+v", out)
		}
	}
}

// A coroutine that runs past its deadline is cancelled; nobody else notices.
func TestSlowCoroutine(t *testing.T) {
	t.Parallel()
	w := start(t, files{"slow": `
import asyncio
def register(api):
    @api.on("tool_call")
    async def f(event, ctx):
        if event.arguments["command"] == "slow": await asyncio.sleep(1000)
        return Result(message="quick")
    @api.tool(name="both", description="", input_schema={"type": "object"})
    async def both():
        await asyncio.sleep(0.05)
        return "done"
`, "good": good}, func(o *Options) { o.Timeout = 600 * time.Millisecond })
	out := w.moment(t, bash("slow"))
	if v := w.pipeline.Records()[1].Verdict; v != lifecycle.TimedOut || len(out.Said) != 1 {
		t.Errorf("%s, %+v", v, out)
	}
	if out := w.moment(t, bash("ls")); len(out.Said) != 2 {
		t.Errorf("after the timeout: %+v", out)
	}
	if got := w.said(); got != "" {
		t.Errorf("switched off: %s", got)
	}
	// Coroutines of one response run side by side.
	both := w.tool(t, "both")
	results := make(chan error, 8)
	for range 8 {
		go func() {
			r, err := both.Execute(t.Context(), tool.Call{})
			if r.Text != "done" {
				err = fmt.Errorf("%q, %w", r.Text, err)
			}
			results <- err
		}()
	}
	for range 8 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

// While a slow tool runs, the deadline of a handler that waits for it does not.
func TestWaitingDoesNotCount(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	w := start(t, files{"a": fmt.Sprintf(`
import time
def register(api):
    @api.tool(name="slow", description="", input_schema={"type": "object"})
    def slow():
        open(%q, "w").close()
        time.sleep(0.9)
        return "slow"
    @api.on("tool_call")
    def f(event, ctx): return Result(message="patient")
`, started)}, func(o *Options) { o.Timeout = 600 * time.Millisecond })
	done := make(chan string, 1)
	slow := w.tool(t, "slow")
	go func() {
		r, err := slow.Execute(t.Context(), tool.Call{})
		done <- r.Text + errorText(err)
	}()
	awaitFile(t, started)
	if out := w.moment(t, bash("ls")); len(out.Said) != 1 {
		t.Errorf("%+v\n%s", out, w.said())
	}
	if got := <-done; got != "slow" {
		t.Errorf("tool: %q", got)
	}
}

// awaitFile waits for something that an extension does. Only a test that fails gets
// to the end of its patience.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range 20_000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("never came: " + path)
}

// After a restart the extensions that are left hear of the session first.
func TestRestartReplaysStart(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"bad":       "import os\ndef register(api):\n    @api.command('die')\n    def die(args, ctx): os._exit(1)\n",
		"companion": seed(t, "companion.py"),
	})
	w.moment(t, &sdk.SessionStartContext{})
	w.history = append(w.history, callMessage(1), callMessage(2))
	if _, err := w.command(
		t.Context(),
		t,
		"die",
		"",
		sdk.Context{},
	); err == nil ||
		!strings.Contains(err.Error(), "it ended the Python process") {
		t.Errorf("error %v", err)
	}
	if got, err := w.run(t, "companion_status", nil); got != "mood=happy level=1 xp=40%" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A process that dies of nobody knows what is replaced a few times, then left alone.
func TestUnknownDeath(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
import os, threading
def register(api):
    @api.command("later")
    def later(args, ctx):
        def die():
            while not os.path.exists(args): pass
            os._exit(9)
        threading.Thread(target=die, daemon=True).start()
        return "soon"
`})
	for i := range maxUnknownDeaths {
		file := filepath.Join(t.TempDir(), "go")
		p, err := w.current(t.Context())
		if err != nil {
			t.Fatal(i, err)
		}
		if got, err := w.command(t.Context(), t, "later", file, sdk.Context{}); got != "soon" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		for { // The answer comes a moment before the end of the call.
			if running, _ := p.marked(); running == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		p.wait()
	}
	w.Host.wg.Wait()
	if _, err := w.current(t.Context()); err == nil || !strings.Contains(err.Error(), "ended 3 times") {
		t.Errorf("error %v", err)
	}
	w.wants(t, "the Python process ended: exit status 9")
}
