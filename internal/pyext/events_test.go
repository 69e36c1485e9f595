package pyext

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// recorder is an extension that writes down every event with its fields.
const recorder = `
def register(api):
    seen = []
    def watch(name, *fields):
        @api.on(name)
        def handler(event, ctx):
            seen.append([name, event.type] + [getattr(event, f) for f in fields])
    watch("session_start", "action", "resumed")
    watch("user_message", "content")
    watch("before_chat", "iteration")
    watch("before_turn", "iteration")
    watch("stream_chunk", "text", "reasoning_text", "finished")
    watch("after_turn", "content", "stop_reason", "tool_calls")
    watch("assistant_message", "content", "stop_reason")
    watch("tool_call", "tool_name", "tool_call_id", "arguments")
    watch("tool_result", "output", "tool_name", "tool_call_id", "is_error", "duration_ms", "arguments")
    watch("error", "message", "recoverable", "error_type", "status_code")
    watch("before_compaction", "forced", "tokens_used", "keep_last")
    watch("after_compaction", "success", "pre_messages")
    watch("agent_switch", "previous_agent", "new_agent", "reason")
    watch("session_end", "action", "reason")
    @api.command("seen")
    def show(args, ctx):
        import json
        out = "\n".join(json.dumps(s) for s in seen)
        seen.clear()
        return out
    @api.on("user_message")
    def meta(event, ctx):
        assert len(event.id) == 16 and event.timestamp > 1e9 and event.data == {"content": "hi"}
        assert event.upper() == "HI" and event == "hi" and isinstance(event, str)
        import copy, pickle
        for same in (copy.copy(event), copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
            assert same == "hi" and same.content == "hi" and same.type == "user_message" and same.id == event.id
    @api.on("tool_call")
    def copies(event, ctx):
        import copy
        name, same = event.id, copy.deepcopy(event)
        assert same.arguments == event.arguments and same.arguments is not event.arguments and same.id == name
        assert not hasattr(event, "nonsense")
`

// Every event has the fields that the guide and its program promise.
// AX-39 AX-40 AX-41 AX-42 AX-43 AX-44 AX-49
func TestEvents(t *testing.T) {
	t.Parallel()
	w := start(t, files{"recorder": recorder})
	for _, c := range []struct {
		data any
		want string
	}{
		{&sdk.SessionStartContext{Resumed: true}, `["session_start", "session_start", "started", true]`},
		{&sdk.UserMessageContext{Text: "hi"}, `["user_message", "user_message", "hi"]`},
		{&sdk.BeforeChatContext{Context: sdk.Context{Iteration: 2}}, `["before_chat", "before_chat", 2]`},
		{&sdk.TransformContext{Context: sdk.Context{Iteration: 3}}, `["before_turn", "before_turn", 3]`},
		{&sdk.StreamChunkContext{Text: "a", Thinking: "b"}, `["stream_chunk", "stream_chunk", "a", "b", false]`},
		{&sdk.StreamChunkContext{Finished: true}, `["stream_chunk", "stream_chunk", "", "", true]`},
		{&sdk.AfterResponseContext{Response: "x\u2028é"}, `["after_turn", "after_turn", "x\u2028\u00e9", "end_turn", []]` + "\n" + `["assistant_message", "assistant_message", "x\u2028\u00e9", "end_turn"]`},
		{&sdk.AfterResponseContext{Calls: []sdk.ToolCall{{Name: "Bash"}}}, `["after_turn", "after_turn", "", "tool_use", [{"name": "Bash", "arguments": {}}]]`},
		{&sdk.BeforeToolContext{ToolName: "Bash", ToolCallID: "c", Arguments: map[string]any{"n": 1.5, "l": []any{true, nil}}}, `["tool_call", "tool_call", "Bash", "c", {"l": [true, null], "n": 1.5}]`},
		{&sdk.AfterToolContext{ToolName: "Bash", ToolCallID: "c", ToolResult: "out", ToolDuration: 1500 * time.Microsecond}, `["tool_result", "tool_result", "out", "Bash", "c", false, 1.5, {}]`},
		{&sdk.AfterToolContext{ToolName: "Bash", ToolCallID: "d", ToolError: "exit 1"}, `["tool_result", "tool_result", "Error: exit 1", "Bash", "d", true, 0, {}]`},
		{&sdk.AfterToolContext{ToolName: "Bash", ToolCallID: "d", ToolResult: "some", ToolError: "exit 1"}, `["tool_result", "tool_result", "some\n\nError: exit 1", "Bash", "d", true, 0, {}]`},
		{&sdk.OnErrorContext{Error: "503", Retryable: true, ErrorType: "server", StatusCode: 503}, `["error", "error", "503", true, "server", 503]`},
		{&sdk.BeforeCompactionContext{Forced: true, TokensUsed: 9, KeepLast: 10}, `["before_compaction", "before_compaction", true, 9, 10]`},
		{&sdk.AfterCompactionContext{Success: true, PreMessages: 4}, `["after_compaction", "after_compaction", true, 4]`},
		{&sdk.OnAgentSwitchContext{PreviousAgent: "a", NewAgent: "b", Reason: "user"}, `["agent_switch", "agent_switch", "a", "b", "user"]`},
		{&sdk.SessionEndContext{Reason: "exit"}, `["session_end", "session_end", "ended", "exit"]`},
	} {
		if out := w.moment(t, c.data); len(out.Notices) != 0 {
			t.Errorf("%T: %v", c.data, out.Notices)
		}
		if got, _ := w.command(t.Context(), t, "seen", "", sdk.Context{}); got != c.want {
			t.Errorf("%T\n got %s\nwant %s", c.data, got, c.want)
		}
	}
	// Every row of the table is an event that can be subscribed to, and only those.
	for _, name := range eventNames() {
		if !strings.Contains(recorder, `"`+name+`"`) {
			t.Errorf("event %s is not tested", name)
		}
	}
}

// Texts are piped from handler to handler, within and across extensions; None
// changes nothing. AX-34 AX-39 AX-41 AX-45 AX-46
func TestPipedEvents(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"a": `
def register(api):
    @api.on("user_message")
    def upper(event, ctx): return event.upper()
    @api.on("tool_result")
    async def upper_result(event, ctx): return event.output.upper()
`,
		"b": `
def register(api):
    @api.on("user_message")
    def nothing(event, ctx): return None
    @api.on("user_message")
    def wrong(event, ctx): return 42
    @api.on("tool_result")
    def same(event, ctx): return event
`,
		"c": `
def register(api):
    @api.on("user_message")
    async def append(event, ctx): return event + "!"
    @api.on("user_message")
    async def content(event, ctx): return event.content + "?"
    @api.on("tool_result")
    def append_result(event, ctx): return event + "/" + event.tool_name
`,
	})
	out := w.moment(t, &sdk.UserMessageContext{Text: "hello"})
	if got := out.Data.(*sdk.UserMessageContext).Text; got != "HELLO!?" {
		t.Errorf("user message %q", got)
	}
	for _, c := range []struct{ result, err, want string }{
		{"out", "", "OUT/Bash"}, {"", "boom", "ERROR: BOOM/Bash"}, {"part", "boom", "PART\n\nERROR: BOOM/Bash"},
	} {
		out := w.moment(
			t,
			&sdk.AfterToolContext{ToolName: "Bash", ToolCallID: "c" + c.result, ToolResult: c.result, ToolError: c.err},
		)
		if got := out.Data.(*sdk.AfterToolContext).ToolResult; got != c.want {
			t.Errorf("%+v: output %q", c, got)
		}
	}
}

// The first block wins; later handlers are not asked. A message can be blocked too.
// AX-40 AX-47 AX-48
func TestBlock(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"a": "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx): return api.block('first')\n" +
			"    @api.on('user_message')\n    def g(event, ctx): return api.block('not that word')\n",
		"b": "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx):\n" +
			"        ctx.logger.info('asked')\n        return api.block('second')\n",
	})
	if out := w.moment(t, bash("ls")); out.Blocked == nil || out.Blocked.Reason != "Blocked by extension: first" {
		t.Errorf("%+v", out.Blocked)
	}
	if out := w.moment(
		t,
		&sdk.UserMessageContext{Text: "hi"},
	); out.Blocked == nil ||
		out.Blocked.Reason != "not that word" {
		t.Errorf("%+v", out.Blocked)
	}
	if got := w.said(); got != "" {
		t.Errorf("a later handler was asked: %s", got)
	}
}

// AX-37: before_turn replaces the messages of one request; what one handler returns
// the next one sees. A handler that raises does not undo the others. AX-51
func TestBeforeTurn(t *testing.T) {
	t.Parallel()
	w := start(t, files{
		"a": `
def register(api):
    @api.on("before_turn")
    def drop(event, ctx): return [m for m in event.messages if m.role != "tool"]
    @api.on("before_turn")
    def broken(event, ctx): raise ValueError("not today")
`,
		"b": `
from agent.extensions.api import Message
def register(api):
    @api.on("before_turn")
    async def add(event, ctx):
        assert event.messages is event.messages
        return event.messages + [{"role": "user", "content": "dict"}, Message(role="user", content="message")]
    @api.on("before_turn")
    def look(event, ctx): ctx.logger.info("%d messages, last %s", len(event.messages), event.messages[-1]["content"])
`,
	})
	data := &sdk.TransformContext{Messages: []sdk.Message{
		{
			ID:      "m0001",
			Role:    "system",
			Content: "sys",
		},
		{ID: "m0002", Role: "user", Content: "hi", CreatedAt: time.Now()},
		{ID: "m0003", Role: "tool", Content: "x"},
	}}
	var checked int
	out := w.pipeline.Dispatch(
		t.Context(),
		lifecycle.Event{Moment: lifecycle.TransformMessages, Data: data},
		func(any) error { checked++; return nil },
	)
	var got []string
	for _, m := range out.Data.(*sdk.TransformContext).Messages {
		got = append(got, m.ID+" "+m.Role+" "+m.Content)
	}
	if strings.Join(got, "|") != "m0001 system sys|m0002 user hi| user dict| user message" || checked != 2 {
		t.Errorf("messages %q after %d changes", got, checked)
	}
	w.wants(t, "b: 4 messages, last message")
	if len(out.Notices) != 1 ||
		!strings.Contains(out.Notices[0].Text, `extension "a" (before_turn) failed: ValueError: not today`) {
		t.Errorf("notices %v", out.Notices)
	}
	// A list that is none is an error of that handler only.
	bad := start(
		t,
		files{"a": "def register(api):\n    @api.on('before_turn')\n    def f(event, ctx): return ['text']\n"},
	)
	if out := bad.moment(
		t,
		data,
	); out.Data != any(data) || len(out.Notices) != 1 ||
		!strings.Contains(out.Notices[0].Text, "needs a role") {
		t.Errorf("%+v", out)
	}
	// What the agent does not accept is undone.
	out = w.pipeline.Dispatch(
		t.Context(),
		lifecycle.Event{Moment: lifecycle.TransformMessages, Data: data},
		func(any) error { return errors.New("no") },
	)
	if out.Data != nil {
		t.Errorf("%+v", out.Data)
	}
}

// What Result can say where the table allows it.
func TestResult(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
def register(api):
    @api.on("before_chat")
    def chat(event, ctx): return Result(append_system="be brief", message="m", role="user", eject=True, disable_tools=["Bash"])
    @api.on("after_turn")
    def after(event, ctx): return Result(response=event.content.replace("SECRET", "***"))
    @api.on("tool_call")
    def call(event, ctx): return Result(arguments={**event.arguments, "x": 1}, ask="sure?")
    @api.on("error")
    def error(event, ctx): return Result(retry=event.recoverable, notice="again")
    @api.on("session_start")
    def nonsense(event, ctx): return Result(disable_tools=3)
`})
	out := w.moment(t, &sdk.BeforeChatContext{})
	if len(out.System) != 1 || out.System[0] != "be brief" || len(out.Said) != 1 || out.Said[0].Role != "user" ||
		!out.Said[0].Eject ||
		out.DisableTools[0] != "Bash" {
		t.Errorf("before_chat: %+v", out)
	}
	if got := w.moment(t, &sdk.AfterResponseContext{Response: "a SECRET"}).Data.(*sdk.AfterResponseContext).Response; got != "a ***" {
		t.Errorf("after_turn: %q", got)
	}
	if out := w.moment(
		t,
		bash("ls"),
	); out.Data.(*sdk.BeforeToolContext).Arguments["x"] != 1.0 || len(out.Asks) != 1 ||
		out.Asks[0].Reason != "sure?" {
		t.Errorf("tool_call: %+v", out)
	}
	if out := w.moment(t, &sdk.OnErrorContext{Retryable: true}); !out.Retry || len(out.Notices) != 1 {
		t.Errorf("error: %+v", out)
	}
	if out := w.moment(
		t,
		&sdk.SessionStartContext{},
	); len(out.Notices) != 1 ||
		!strings.Contains(out.Notices[0].Text, "what it returned cannot be used: disable_tools") {
		t.Errorf("session_start: %+v", out)
	}
}

// Events that nobody subscribed to never cross the pipe.
func TestUnsubscribed(t *testing.T) {
	w := start(t, files{"a": "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx): pass\n"})
	for _, row := range lifecycle.Moments() {
		if got, want := w.pipeline.Has(row.Moment), row.Moment == lifecycle.BeforeToolExecution; got != want {
			t.Errorf("%s: bound %v", row.Moment, got)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moment(t, &sdk.UserMessageContext{Text: "x"})
	w.Host.mu.Lock()
	defer w.Host.mu.Unlock()
	if n := w.proc.sent(); n != 0 {
		t.Errorf("%d frames were sent", n)
	}
}

// Pieces of a stream arrive in order and before what comes after them. AX-43
func TestStream(t *testing.T) {
	t.Parallel()
	w := start(t, files{"a": `
def register(api):
    parts = []
    @api.on("stream_chunk")
    def chunk(event, ctx):
        if event.text == "bad": raise ValueError("chunk trouble")
        parts.append(event.text)
    @api.on("assistant_message")
    def message(event, ctx): ctx.logger.info("%d parts, equal %s", len(parts), "".join(parts) == event.content)
`})
	var whole strings.Builder
	for i := range 10_000 {
		text := string(rune('a' + i%26))
		whole.WriteString(text)
		w.moment(t, &sdk.StreamChunkContext{Text: text})
	}
	w.moment(t, &sdk.StreamChunkContext{Text: "bad"})
	w.moment(t, &sdk.StreamChunkContext{Text: "bad"})
	w.moment(t, &sdk.AfterResponseContext{Response: whole.String()})
	if want := "a: error: stream_chunk: ValueError: chunk trouble (a.py, line 6)\na: 10000 parts, equal True"; w.said() != want {
		t.Errorf("said %q", w.said())
	}
}

// The companion of the guide and the one that ships with the program.
// AX-07 AX-86 AX-87 AX-88 AX-89 AX-90 AX-91
func TestCompanion(t *testing.T) {
	t.Parallel()
	contrib, ok := ContribExtension(testCache, "companion")
	if !ok {
		t.Fatal("no companion")
	}
	for name, w := range map[string]*world{"seed": start(t, files{"companion": seed(t, "companion.py")}), "contrib": load(t, []Extension{contrib})} {
		status := func(want string) {
			t.Helper()
			if got, err := w.run(t, "companion_status", nil); got != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
		status("companion not initialised")
		w.moment(t, &sdk.SessionStartContext{})
		status("mood=happy level=1 xp=0%")
		for range 4 {
			w.moment(t, bash("ls"))
		}
		status("mood=focused level=1 xp=80%")
		w.moment(t, bash("ls"))
		w.wants(t, "companion: Level up! Now level 2")
		status("mood=level_up level=2 xp=0%")
		if name == "contrib" {
			w.moment(t, &sdk.StreamChunkContext{Thinking: "hm"})
			status("mood=thinking level=2 xp=0%")
			w.moment(t, &sdk.StreamChunkContext{Text: "ah"})
			status("mood=excited level=2 xp=0%")
			w.moment(t, &sdk.OnErrorContext{Error: "x"})
			status("mood=stressed level=2 xp=0%")
		}
		for i := range 6 { // A resumed session keeps its steps.
			w.history = append(w.history, callMessage(i))
		}
		w.moment(t, &sdk.SessionStartContext{Resumed: true})
		status("mood=happy level=2 xp=10%")
	}
}

// What a handler returns by mistake is not passed over in silence: a gate that does
// not hold is worse than none.
func TestPuzzle(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"{'block': True}", "False", "'blocked'"} {
		w := start(
			t,
			files{"a": "def register(api):\n    @api.on('tool_call')\n    def f(event, ctx): return " + value + "\n"},
		)
		for range 2 {
			if out := w.moment(t, &sdk.BeforeToolContext{ToolName: "Bash"}); out.Blocked != nil {
				t.Errorf("%s: %+v", value, out.Blocked)
			}
		}
		kind := map[byte]string{'{': "dict", 'F': "bool", '\'': "str"}[value[0]]
		if want := "a: warning: tool_call: a return value of type " + kind + ` means nothing here: return api.block("why") to refuse the call`; w.said() != want {
			t.Errorf("%s: said %q", value, w.said())
		}
	}
}
