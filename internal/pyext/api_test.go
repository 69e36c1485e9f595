package pyext

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// probe is an extension with a command that evaluates an expression; what is
// defined before is in its reach.
func probe(before string) files {
	return files{"probe": before + `
def register(api):
    @api.command("eval")
    def evaluate(args, ctx):
        return repr(eval(args, globals(), {"api": api, "ctx": ctx}))
`}
}

// eval evaluates a Python expression inside an extension.
func (w *world) eval(t testing.TB, expression string, snapshot sdk.Context) string {
	t.Helper()
	got, err := w.command(t.Context(), t, "eval", expression, snapshot)
	if err != nil {
		return "error: " + err.Error()
	}
	return got
}

// What extensions import, and what the context is.
// AX-05 AX-06 AX-07 AX-20 AX-26 AX-27 AX-28 AX-29 AX-31 AX-32 AX-86 AX-92
func TestAPI(t *testing.T) {
	t.Parallel()
	w := start(t, probe(`
import asyncio, dataclasses, logging
from agent.extensions.api import ExtensionAPI, ExtensionContext, BlockResult, Result, Message
from agent.tools.schema import SideEffect, ToolSpec
from agent.transports.companion_state import CompanionEngine, xp_fraction
from agent.extensions.contrib import companion
def attempt(f, *args):
    try: return f(*args)
    except Exception as e: return type(e).__name__
`))
	w.history = []message.Message{
		{Message: sdk.Message{Role: "user", Content: "hi", Type: "normal"}},
		{Message: sdk.Message{Role: "assistant", Content: "note", Type: message.DisplayOnly}},
		{
			Message: sdk.Message{
				Role:      "assistant",
				ToolCalls: []sdk.MessageToolCall{{ID: "c1", Name: "Bash", Arguments: map[string]any{"command": "ls"}}},
				Type:      "normal",
			},
		},
		{
			Message: sdk.Message{Role: "tool", ToolName: "Bash", ToolCallID: "c1", Content: "bad", Type: "normal"},
			Failed:  true,
		},
	}
	snap := sdk.Context{
		SessionID:    "s1",
		SessionTitle: "title",
		Stats:        sdk.Stats{Iterations: 7, TokensIn: 10, TokensOut: 3},
		Provider:     "local",
		MaxSteps:     50,
		ModelInfo: sdk.ModelInfo{
			Name: "m",
		},
		Agent:       "coder",
		Vars:        map[string]string{"K": "v"},
		Workdir:     "/w",
		PatchCounts: map[string]int{"a": 1},
	}
	for _, c := range []struct{ expression, want string }{
		{"ExtensionAPI.block('x').reason", "'x'"},
		{"api.block('x') == BlockResult('x')", "True"},
		{"[s.name + '=' + s.value for s in SideEffect]", "['NONE=none', 'READ=read', 'WRITE=write', " +
			"'EXECUTE=execute', 'NETWORK=network', 'EXTERNAL=external']"},
		{"isinstance(ctx, ExtensionContext)", "True"},
		{"dataclasses.is_dataclass(ctx), [f.name for f in dataclasses.fields(ctx)]", "(True, ['session', " +
			"'config', 'signal', 'logger'])"},
		{"attempt(setattr, ctx, 'session', 1)", "'FrozenInstanceError'"},
		{"attempt(setattr, ctx, 'signal', 1)", "'FrozenInstanceError'"},
		{"attempt(delattr, ctx, 'logger')", "'FrozenInstanceError'"},
		{"ctx.logger.name, isinstance(ctx.logger, logging.Logger)", "('aar.ext.probe', True)"},
		{"isinstance(ctx.signal, asyncio.Event), ctx.signal.is_set()", "(True, False)"},
		{"ctx.session.session_id, ctx.session.step_count, ctx.session.total_input_tokens, " +
			"ctx.session.total_output_tokens", "('s1', 7, 10, 3)"},
		{"ctx.session.metadata['title'], ctx.session.total_tokens, ctx.session.state", "('title', 13, 'running')"},
		{"attempt(setattr, ctx.session, 'step_count', 1)", "'AttributeError'"},
		{"attempt(getattr, ctx.session, 'nonsense')", "'AttributeError'"},
		{"[(m.role, m['content'], m.is_error) for m in ctx.session.messages]", "[('user', 'hi', None), " +
			"('assistant', '', None), ('tool', 'bad', True)]"},
		{"[e.type for e in ctx.session.events]", "['user_message', 'tool_call', 'tool_result']"},
		{"ctx.session.events[1].arguments, ctx.session.events[2].is_error", "({'command': 'ls'}, True)"},
		{"ctx.session.snapshot['patch_counts']", "{'a': 1}"},
		{"ctx.config.model, ctx.config.provider, ctx.config.max_steps, ctx.config.agent, ctx.config.vars, " +
			"ctx.config.workdir", "('m', 'local', 50, 'coder', {'K': 'v'}, '/w')"},
		{"ctx.config.get('nope', 5), attempt(setattr, ctx.config, 'model', 1)", "(5, 'AttributeError')"},
		{"CompanionEngine().mood.value, CompanionEngine().level, CompanionEngine().steps", "('happy', 1, 0)"},
		{"[xp_fraction(s, l) for s, l in ((0, 1), (2, 1), (5, 2), (10, 2), (50, 5), (99, 5))]", "[0.0, 0.4, 0.0, 0.5, 1.0, 1.0]"},
		{"callable(companion.register)", "True"},
		{"attempt(lambda: Result(nonsense=1))", "'TypeError'"},
		{"ExtensionContext(1, 2, 3, 4).signal", "3"},
		{"float('nan')", "nan"},
	} {
		if got := w.eval(t, c.expression, snap); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.expression, got, c.want)
		}
	}
	// The session is live: the next call sees what has changed. AX-28
	snap.Stats.Iterations = 8
	if got := w.eval(t, "ctx.session.step_count", snap); got != "8" {
		t.Errorf("step_count %s", got)
	}
}

// AX-02 AX-03: register is called once, sync or async, also under other names.
func TestRegister(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	count := filepath.Join(dir, "count")
	code := `
import asyncio
KEYWORD register(api):
    AWAIT
    with open(` + "r'" + count + `', 'a') as f: f.write(api.name + '\n')
    @api.command(api.name + '_c')
    def c(args, ctx): return args
`
	w := start(t, files{
		"a": strings.NewReplacer("KEYWORD", "def", "AWAIT", "pass").Replace(code),
		"b": strings.NewReplacer("KEYWORD", "async def", "AWAIT", "await asyncio.sleep(0)").Replace(code),
	})
	data, _ := os.ReadFile(count)
	if string(data) != "a\nb\n" {
		t.Errorf("calls of register: %q", data)
	}
	for _, name := range []string{"a_c", "b_c"} {
		if got, err := w.command(t.Context(), t, name, "x  y", sdk.Context{}); got != "x  y" || err != nil {
			t.Errorf("/%s: %q, %v", name, got, err)
		}
	}
}

// AX-11 AX-13 AX-14 AX-15 AX-16 AX-26 AX-54 AX-55 AX-57 AX-58
func TestTools(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"first": `
from agent.tools.schema import SideEffect, ToolSpec
def register(api):
    @api.tool(name="add", description="Add", input_schema={"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"], "additionalProperties": False})
    def add(a, b=5): return a + b
    @api.tool(name="deploy", description="Deploy to production", input_schema={"type": "object", "properties": {}, "additionalProperties": False}, side_effects=[SideEffect.NETWORK], requires_approval=True)
    async def deploy(ctx): return "deployed by " + ctx.logger.name
    def imperative(context: ExtensionContext, **rest): return {"session": context.session.session_id, "rest": rest}
    api.register_tool(ToolSpec(name="spec", description="From a spec", input_schema={"type": "object", "additionalProperties": True}, handler=imperative))
    @api.tool(name="bad", description="", input_schema={"type": "object"})
    def bad(): raise ValueError("no way")
    @api.tool(name="nothing", description="", input_schema={"type": "object"})
    def nothing(): pass
    @api.tool(name="odd", description="", input_schema=["not", "a", "schema"])
    def odd(): pass
    class Thing:
        def method(self, x, ctx): return x * 2
    api.register_tool(ToolSpec("method", "", {"type": "object", "properties": {"x": {"type": "string"}}}, handler=Thing().method))
`,
		"second": "def register(api):\n    @api.tool(name='add', description='mine', input_schema={'type': " +
			"'object'})\n    def add(): return 'never'\n",
	})
	w.wants(t, `second: warning: tool 'add' is already registered by extension 'first'; it is left out`)
	var names []string
	for _, x := range w.Tools() {
		names = append(names, x.Name)
		if x.Source != (tool.Source{Kind: "extension", Name: "first"}) {
			t.Errorf("%s: source %v", x.Name, x.Source)
		}
	}
	w.wants(t, `first: tool "odd" is left out: input_schema: expected a JSON object, got array`)
	if want := []string{"add", "deploy", "spec", "bad", "nothing", "method"}; !reflect.DeepEqual(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
	if d := w.tool(t, "deploy"); !d.Confirm || !reflect.DeepEqual(d.SideEffects, []string{"network"}) {
		t.Errorf("deploy: confirm %v, effects %v", d.Confirm, d.SideEffects)
	}
	if d := w.tool(t, "add"); d.Confirm || len(d.SideEffects) != 0 {
		t.Errorf("add: confirm %v, effects %v", d.Confirm, d.SideEffects)
	}
	if problems := w.tool(t, "add").Schema.Check(map[string]any{"c": 1.0}); len(problems) != 2 {
		t.Errorf("schema: %v", problems)
	}
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"add", map[string]any{"a": 1, "b": 2}, "3"}, {"add", map[string]any{"a": 1}, "6"},
		{"deploy", nil, "deployed by aar.ext.first"}, {"nothing", nil, ""},
		{"spec", map[string]any{"k": []any{1}}, `{"session":"","rest":{"k":[1]}}`}, {"method", map[string]any{"x": "ab"}, "abab"},
	} {
		if got, err := w.run(t, c.name, c.args); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := w.run(t, "bad", nil); err == nil || err.Error() != "Error [exception]: ValueError: no way" {
		t.Errorf("bad: %v", err)
	}
	if !strings.Contains(w.log.String(), "Traceback") {
		t.Error("the traceback is not in the log")
	}
	// inspect shows the side effects as they were given.
	for _, l := range w.Extensions() {
		if l.Name == "first" && !reflect.DeepEqual(l.Tools[0].SideEffects, []string{"none"}) {
			t.Errorf("side effects of add: %v", l.Tools[0].SideEffects)
		}
	}
}

// AX-17 AX-61 AX-64 AX-65
func TestCommands(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"a": `
def register(api):
    @api.command("echo", description="Say it")
    def echo(args, ctx): return args
    @api.command("/slash")
    async def slash(args): return [1, args]
    @api.command("quiet")
    def quiet(args, ctx): return None
    @api.command("bad")
    async def bad(args, ctx): raise KeyError("k")
`,
		"b": "def register(api):\n    @api.command('echo')\n    def echo(args, ctx): return 'never'\n",
	})
	w.wants(t, `b: warning: command /echo is already registered by extension 'a'`)
	for _, c := range []struct{ name, args, want, err string }{
		{"echo", "two  blanks", "two  blanks", ""}, {"slash", "x", `[1,"x"]`, ""}, {"quiet", "", "", ""},
		{"bad", "", "", `/bad: extension "a": KeyError: 'k' (a.py, line 10)`},
	} {
		got, err := w.command(t.Context(), t, c.name, c.args, sdk.Context{})
		if text := errorText(err); got != c.want || text != c.err {
			t.Errorf("/%s: %q, %q", c.name, got, text)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// AX-21 AX-22 AX-23 AX-24 AX-25
func TestBus(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"a": `
def register(api):
    seen = []
    @api.events.on("x")
    def own(payload): seen.append(("own", payload))
    @api.events.on("x")
    async def later(payload): seen.append(("async", payload))
    @api.events.on("x")
    def broken(payload): raise RuntimeError("bus trouble")
    @api.command("emit")
    def emit(args, ctx):
        api.events.emit("x", args)
        return list(seen)
    @api.command("emit_async")
    async def emit_async(args, ctx):
        seen.clear()
        await api.events.emit_async("x", args)
        return list(seen)
    @api.command("seen")
    async def show(args, ctx):
        import asyncio
        await asyncio.sleep(0)
        return list(seen)
`,
		"b": `
def register(api):
    heard = []
    @api.events.on("x")
    def other(payload): heard.append(payload)
    @api.command("heard")
    def show(args, ctx): return heard
`,
	})
	for _, c := range []struct{ name, args, want string }{
		{"emit", "1", `[["own","1"]]`}, {"seen", "", `[["own","1"],["async","1"]]`},
		{"emit_async", "2", `[["own","2"],["async","2"]]`}, {"heard", "", `["1","2"]`},
	} {
		if got, err := w.command(t.Context(), t, c.name, c.args, sdk.Context{}); got != c.want || err != nil {
			t.Errorf("/%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
	w.wants(t, "a: error: event x: RuntimeError: bus trouble")
}

// AX-09: an unknown event is a warning; the decorator returns the function.
func TestOnReturnsFunction(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
def register(api):
    @api.on("no_such_event")
    def f(event, ctx): pass
    @api.on("tool_call")
    def g(event): raise SystemExit(3)
    for decorator in (api.on("no_such_event"), api.on("error"), api.command("x"), api.events.on("y"), api.tool(name="z", description="", input_schema={})):
        assert decorator(len) is len
    @api.tool(name="t", description="", input_schema={"type": "object"})
    def h(): pass
    try: api.on("tool_call", on_failure="maybe")
    except ValueError as e:
        text = str(e)
        api.command("e")(lambda args, ctx: text)
`})
	w.wants(t, "a: warning: there is no event 'no_such_event'; the events are session_start,")
	out := w.moment(t, bash("ls"))
	if len(out.Notices) != 1 ||
		!strings.Contains(out.Notices[0].Text, `extension "a" (tool_call) failed: SystemExit: 3`) {
		t.Errorf("notices %v", out.Notices)
	}
	if got, _ := w.command(t.Context(), t, "e", "", sdk.Context{}); !strings.Contains(got, "'maybe' is not one of") {
		t.Errorf("on_failure: %q", got)
	}
}

// AX-18 AX-19: additions to the prompt, also while the session runs.
func TestPrompts(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
def register(api):
    api.append_system_prompt("one")
    api.append_system_prompt("two")
    @api.command("more")
    def more(args, ctx): api.append_system_prompt(args)
`})
	if _, err := w.command(t.Context(), t, "more", "three", sdk.Context{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.Prompts(), "|"); got != "one|two|three" {
		t.Errorf("prompts %q", got)
	}
}

// AX-33: INFO and above is for the user, DEBUG for the log, and only if wanted.
func TestLogger(t *testing.T) {
	t.Parallel()
	code := files{"a": `
import logging
def register(api):
    @api.command("log")
    def log(args, ctx):
        print("a print")
        ctx.logger.debug("a debug line")
        ctx.logger.info("an %s line", "info")
        ctx.logger.warning("a warning line")
        ctx.logger.error("an error line")
        logging.getLogger("other").warning("of somebody else")
        try: 1 / 0
        except ZeroDivisionError: ctx.logger.exception("with trace")
`}
	for _, debug := range []bool{false, true} {
		w := start(t, code, func(o *Options) { o.Debug = debug })
		if _, err := w.command(context.Background(), t, "log", "", sdk.Context{}); err != nil {
			t.Fatal(err)
		}
		want := "a: an info line\na: warning: a warning line\na: error: an error line\na: error: with trace"
		if got := w.said(); got != want {
			t.Errorf("debug %v: %s", debug, got)
		}
		w.Close()
		log := w.log.String()
		if strings.Contains(log, "a debug line") != debug {
			t.Errorf("debug %v: log\n%s", debug, log)
		}
		for _, text := range []string{"a print", "of somebody else", "ZeroDivisionError"} {
			if !strings.Contains(log, text) {
				t.Errorf("%q is not in the log:\n%s", text, log)
			}
		}
	}
}
