package script_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/internal/provider"
	"github.com/idelchi/aura/internal/provider/script"
	"github.com/idelchi/aura/sdk"
)

func say(role, text string) message.Message {
	return message.Message{Message: sdk.Message{Role: role, Content: text, Type: sdk.TypeNormal}}
}

func request(msgs ...message.Message) *provider.Request { return &provider.Request{Messages: msgs} }

func mustNew(t *testing.T, src string) *script.Client {
	t.Helper()
	c, err := script.New([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// chat plays one turn and returns the deltas too.
func chat(t *testing.T, c *script.Client, req *provider.Request) (*provider.Response, []provider.Delta, error) {
	t.Helper()
	var deltas []provider.Delta
	resp, err := c.Chat(t.Context(), req, func(d provider.Delta) { deltas = append(deltas, d) })
	return resp, deltas, err
}

// HO-44 HO-61
func TestTurn(t *testing.T) {
	c := mustNew(t, `
turns:
  - thinking: Let me see.
    text: I read two files.
    calls:
      - name: Read
        arguments: {path: main.go, lines: 3, since: 2024-01-02, nested: {1: [true, null]}}
      - name: Read
        raw: '{"path": '
        id: mine
      - name: Done
`)
	resp, deltas, err := chat(t, c, request(say("user", "hi")))
	if err != nil {
		t.Fatal(err)
	}
	want := []provider.Delta{
		{Thinking: "Let "}, {Thinking: "me "}, {Thinking: "see."},
		{Text: "I "}, {Text: "read "}, {Text: "two "}, {Text: "files."},
	}
	if !reflect.DeepEqual(deltas, want) {
		t.Errorf("deltas = %v", deltas)
	}
	m := resp.Message
	if m.Role != "assistant" || m.Type != "normal" || m.Content != "I read two files." || m.Thinking != "Let me see." {
		t.Errorf("message = %+v", m)
	}
	if len(m.Thoughts) != 1 || m.Thoughts[0].Provider != "script" || m.Thoughts[0].Signature != "script:1" {
		t.Errorf("thoughts = %+v", m.Thoughts)
	}
	calls := []sdk.MessageToolCall{
		{ID: "call_1_1", Name: "Read", Arguments: map[string]any{
			"path": "main.go", "lines": 3.0, "since": "2024-01-02", "nested": map[string]any{"1": []any{true, nil}},
		}},
		{ID: "mine", Name: "Read", Arguments: map[string]any{}},
		{ID: "call_1_3", Name: "Done", Arguments: map[string]any{}},
	}
	if !reflect.DeepEqual(m.ToolCalls, calls) {
		t.Errorf("calls = %+v", m.ToolCalls)
	}
	if !reflect.DeepEqual(resp.Malformed, map[string]string{"mine": `{"path": `}) {
		t.Errorf("malformed = %v", resp.Malformed)
	}
	if resp.Stop != "tool_calls" || resp.Usage.Input != 1 || resp.Usage.Output == 0 {
		t.Errorf("stop = %q, usage = %+v", resp.Stop, resp.Usage)
	}
}

func TestSequence(t *testing.T) {
	tests := []struct {
		name, src string
		prompts   []string
		want      []string // Text of the answer, or "error: " and a part of the error.
	}{
		{
			"in order, then an error", "turns: [{text: a}, {text: b}]",
			[]string{"x", "x", "x"},
			[]string{"a", "b", "error: it has 2 turns"},
		},
		{"loop", "loop: true\nturns: [{text: a}, {text: b}]", []string{"", "", ""}, []string{"a", "b", "a"}},
		{"repeat", "turns: [{text: a, repeat: 2}, {text: b}]", []string{"", "", ""}, []string{"a", "a", "b"}},
		{"repeat and loop", "loop: true\nturns: [{text: a, repeat: 2}]", []string{"", "", ""}, []string{"a", "a", "a"}},
		{
			"when is tried first and can be used again",
			"turns: [{text: a}, {text: sum, when: summar}, {text: b}]",
			[]string{"please summarise", "x", "summary", "x", "x"},
			[]string{"sum", "a", "sum", "b", "error: none of its 1 turn with `when` matches"},
		},
		{
			"when with repeat leaves room for the next answer",
			"turns: [{when: go, text: first, repeat: 1}, {when: go, text: then}]",
			[]string{"go", "go", "go"},
			[]string{"first", "then", "then"},
		},
		{"empty answer", `turns: [{text: ""}]`, []string{""}, []string{""}},
		{
			"error by status",
			"turns: [{error: {status: 503}}, {text: b}]",
			[]string{"", ""},
			[]string{"error: provider server error (HTTP 503)", "b"},
		},
		{
			"error by class",
			"turns: [{error: {class: context_exhausted, message: too long}}]",
			[]string{""},
			[]string{"error: context window exceeded: too long"},
		},
		{"cut", "turns: [{text: half, cut: true}]", []string{""}, []string{"error: stream ended"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustNew(t, tt.src)
			for i, prompt := range tt.prompts {
				resp, _, err := chat(t, c, request(say("user", prompt)))
				want, fails := strings.CutPrefix(tt.want[i], "error: ")
				switch {
				case fails && err == nil:
					t.Errorf("call %d: no error, want %q", i, want)
				case fails && !strings.Contains(err.Error(), want):
					t.Errorf("call %d: %v, want %q", i, err, want)
				case !fails && err != nil:
					t.Errorf("call %d: %v", i, err)
				case !fails && resp.Message.Content != want:
					t.Errorf("call %d: %q, want %q", i, resp.Message.Content, want)
				}
			}
		})
	}
}

func TestErrorDetails(t *testing.T) {
	c := mustNew(
		t,
		"turns: [{text: so far, error: {class: rate_limit, status: 429, message: slow down, retry_after: 2s}}, "+
			"{cut: true}]",
	)
	_, deltas, err := chat(t, c, request())
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Class != provider.RateLimit || e.Status != 429 || e.RetryAfter != 2*time.Second ||
		e.Message != "slow down" {
		t.Errorf("error = %#v", err)
	}
	if len(deltas) != 2 {
		t.Errorf("text before the error was not streamed: %v", deltas)
	}
	if _, _, err := chat(t, c, request()); provider.ClassOf(err) != provider.Network {
		t.Errorf("cut = %v", err)
	}
}

func TestRepeatedCallsHaveNewIDs(t *testing.T) {
	c := mustNew(t, "loop: true\nturns: [{calls: [{name: A}, {name: A, id: mine}]}]")
	var ids []string
	for range 2 {
		resp, _, err := chat(t, c, request())
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range resp.Message.ToolCalls {
			ids = append(ids, call.ID)
		}
	}
	if got := strings.Join(ids, " "); got != "call_1_1 mine call_1_1_2 mine" {
		t.Errorf("ids = %s", got)
	}
}

func TestWhenLooksAtThePersonAndAtInjections(t *testing.T) {
	injected := say("user", "a hook says hello")
	injected.Type = sdk.TypeSynthetic
	req := request(say("user", "old"), say("user", "new"), say("assistant", "old"), injected)
	for want, src := range map[string]string{
		"yes":  "turns: [{when: new, text: yes}, {text: no}]",
		"hook": "turns: [{when: a hook, text: hook}, {text: no}]",
		"no":   "turns: [{when: old, text: old}, {text: no}]",
	} {
		resp, _, err := chat(t, mustNew(t, src), req)
		if err != nil || resp.Message.Content != want {
			t.Errorf("%s: %v, %v", src, resp, err)
		}
	}
}

func TestExpect(t *testing.T) {
	req := &provider.Request{
		System:   "be brief",
		Messages: []message.Message{say("user", "fix the bug"), say("assistant", "ok"), say("tool", "package main")},
		Tools:    []provider.Tool{{Name: "Read"}, {Name: "Bash"}},
	}
	req.Messages[0].Images = []message.Image{{MediaType: "image/png"}}
	req.Messages[1].Thoughts = []message.Thought{{Signature: "s"}}
	req.Messages[1].ToolCalls = []sdk.MessageToolCall{{Name: "Read", Arguments: map[string]any{"path": "main.go"}}}

	tests := []struct{ expect, want string }{
		{`contains: [be brief, fix, main.go, package]`, ""},
		{`contains: [absent]`, `contains: the request does not contain "absent"`},
		{`not_contains: [absent]`, ""},
		{`not_contains: [bug]`, `not_contains: the request contains "bug"`},
		{`last: [package]`, ""},
		{`last: [fix]`, `last: the last message does not contain "fix"`},
		{`last_role: tool`, ""},
		{`last_role: user`, "last_role: want user, got tool"},
		{`tools: [Read, Bash]`, ""},
		{`tools: [Edit]`, `tools: "Edit" is not offered, only [Read, Bash]`},
		{`tools: []`, "tools: want none, got Read, Bash"},
		{`not_tools: [Edit]`, ""},
		{`not_tools: [Bash]`, `not_tools: "Bash" is offered`},
		{`messages: 3, images: 1, thoughts: 1`, ""},
		{
			`messages: 0, images: 0, thoughts: 2`,
			"messages: want 0, got 3; images: want 0, got 1; thoughts: want 2, got 1",
		},
	}
	for _, tt := range tests {
		c := mustNew(t, "turns:\n  - {text: ok, expect: {"+tt.expect+"}}\n")
		_, _, err := chat(t, c, req)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.expect, err)
			}
			continue
		}
		if err == nil ||
			!strings.Contains(
				err.Error(),
				"script:2: turn 1: expect: "+tt.want+`; the last of 3 messages is tool: "package main"`,
			) {
			t.Errorf("%s: %v", tt.expect, err)
		}
		if provider.ClassOf(err).Retryable() {
			t.Errorf("%s: a failed expectation must not be retried", tt.expect)
		}
		if _, _, again := chat(t, c, req); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: the script moved on: %v", tt.expect, again)
		}
	}
}

func TestChunks(t *testing.T) {
	const text = "Grüße,  Wölfe\n und 🐺!"
	for _, chunk := range []string{"0", "1", "3", "1000"} {
		c := mustNew(t, "turns: [{chunk: "+chunk+", text: \"Grüße,  Wölfe\\n und 🐺!\"}]")
		_, deltas, err := chat(t, c, request())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, d := range deltas {
			if !utf8.ValidString(d.Text) || d.Text == "" {
				t.Errorf("chunk %s: piece %q", chunk, d.Text)
			}
			b.WriteString(d.Text)
		}
		if b.String() != text {
			t.Errorf("chunk %s: %q", chunk, b.String())
		}
	}
}

func TestCancel(t *testing.T) {
	c := mustNew(t, "turns: [{text: a b c}, {text: x, delay: 1h}, {text: a b, chunk_delay: 1h}, {text: d}]")
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := c.Chat(ctx, request(), func(provider.Delta) { n++; cancel() })
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("err = %v after %d deltas", err, n)
	}
	ctx, cancel = context.WithCancel(t.Context())
	go cancel()
	if _, err := c.Chat(ctx, request(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("delay: %v", err)
	}
	// A call that was over before it began takes no turn.
	if _, err := c.Chat(ctx, request(), nil); !errors.Is(err, context.Canceled) || c.Unplayed() > 3 {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestConcurrent(t *testing.T) {
	c := mustNew(t, "turns: [{text: a, repeat: 50}, {text: b, repeat: 50}]")
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for range 100 {
		wg.Go(func() {
			resp, err := c.Chat(context.Background(), request(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[resp.Message.Content]++
		})
	}
	wg.Wait()
	if got["a"] != 50 || got["b"] != 50 || c.Unplayed() != 0 {
		t.Errorf("got %v, %d unplayed", got, c.Unplayed())
	}
}

func TestModel(t *testing.T) {
	c := mustNew(t, `
model: {name: "llama3:8b", family: llama, parameter_count: 8000000000, context_length: 8192, capabilities: [vision]}
turns: [{text: a}]
`)
	want := sdk.ModelInfo{
		Name:           "llama3:8b",
		Family:         "llama",
		ParameterCount: 8e9,
		ContextLength:  8192,
		Capabilities:   []string{"vision"},
	}
	if got := c.Model(t.Context(), ""); !reflect.DeepEqual(got, want) {
		t.Errorf("model = %+v", got)
	}
	list, err := c.Models(t.Context())
	if err != nil || !reflect.DeepEqual(list, []sdk.ModelInfo{want}) {
		t.Errorf("models = %+v, %v", list, err)
	}
	if got := c.Model(t.Context(), "other"); got.Name != "other" || got.Family != "llama" {
		t.Errorf("named model = %+v", got)
	}
	if got := mustNew(t, "turns: [{text: a}]").Model(t.Context(), "x"); got.Name != "x" || got.ContextLength == 0 {
		t.Errorf("default model = %+v", got)
	}
}

// HO-61
func TestNoop(t *testing.T) {
	c := script.Noop()
	for range 3 {
		resp, deltas, err := chat(t, c, request(say("user", "anything")))
		if err != nil || resp.Message.Content != "[noop]" || resp.Usage != (provider.Usage{}) || resp.Stop != "stop" {
			t.Fatalf("%+v, %v", resp, err)
		}
		if len(deltas) != 1 || deltas[0].Text != "[noop]" {
			t.Errorf("deltas = %v", deltas)
		}
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string // All of these, one per line of the error.
	}{
		{"empty", "", []string{"script:1: the script is empty"}},
		{"no turns", "model: {}\n", []string{"script:1: turns: at least one turn is needed"}},
		{"turns is text", "turns: hello", []string{"script:1: turns: expected a list of turns"}},
		{"syntax", "turns: [\n", []string{"script:2: while parsing a flow node: did not find expected node content"}},
		{"list", "- text: a", []string{"script:1: expected a mapping with the key turns, got a list"}},
		{"top-level key", "turn: []\n", []string{`script:1: unknown key "turn" (did you mean "turns"?)`}},
		{
			"duplicate",
			"turns:\n  - text: a\n    text: b\n",
			[]string{`script:3: turn 1: mapping key "text" already defined at line 2`},
		},
		{"two documents", "turns: [{text: a}]\n---\nturns: []\n", []string{"expected single document"}},
		{
			"all at once", `
loops: true
turns:
  - txt: a
    delay: soon
  -
  - calls: [{arguments: {}}, {name: A, id: x}, {name: B, id: x}]
    chunk: -1
  - error: {class: ratelimit}
    expect: {last_role: bot}
  - calls: [{name: A, arguments: [1]}, {name: A, arguments: {x: .nan}}, {name: A, arguments: {}, raw: x}]
  - {error: {status: 1}, cut: true}
  - hello
  - {usage: {input: many}}
`, []string{
				`script:2: unknown key "loops" (did you mean "loop"?)`,
				`script:4: turn 1: unknown key "txt" (did you mean "text"?)`,
				`script:5: turn 1: delay: expected a duration such as 500ms or 2s, got "soon"`,
				"script:6: turn 2: is empty",
				"script:7: turn 3: chunk, repeat, delay and chunk_delay cannot be negative",
				"script:7: turn 3: calls[1]: name is missing",
				`script:7: turn 3: calls[3]: id "x" is used twice`,
				`script:9: turn 4: error: class: unknown value "ratelimit" (did you mean "rate_limit"?)`,
				`script:9: turn 4: expect: last_role: unknown value "bot" (known: assistant, tool, user)`,
				"script:11: turn 5: calls[1]: arguments: expected a mapping",
				"script:11: turn 5: calls[2]: arguments: NaN has no form in JSON",
				"script:11: turn 5: calls[3]: arguments and raw exclude each other",
				"script:12: turn 6: cut and error exclude each other",
				"script:12: turn 6: error: status: 1 is not an HTTP status",
				`script:13: turn 7: expected a mapping such as {text: Hello}, got "hello"`,
				`script:14: turn 8: usage: input: expected a whole number, got "many"`,
			},
		},
		{
			"model", "model: {capabilities: [visions], context_length: -1}\nturns: [{text: a}]",
			[]string{"cannot be negative", `unknown value "visions" (did you mean "vision"?)`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := script.New([]byte(tt.src))
			if err == nil || c != nil {
				t.Fatalf("no error, client %v", c)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Errorf("%d mistakes, want %d:\n%v", len(lines), len(tt.want), err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("missing %q in:\n%v", want, err)
				}
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.yaml")
	if err := os.WriteFile(path, []byte("turns:\n  - txt: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := script.Load(path); err == nil || !strings.HasPrefix(err.Error(), path+":2: turn 1: unknown key") {
		t.Errorf("err = %v", err)
	}
	if _, err := script.Load(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("directory: %v", err)
	}
	if _, err := script.Load(path + ".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}

// Every script of the documentation loads.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/script-provider.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, part := range strings.Split(string(page), "```yaml\n") {
		src, _, _ := strings.Cut(part, "```")
		if i == 0 || !strings.HasPrefix(src, "turns:") {
			continue
		}
		n++
		if _, err := script.New([]byte(src)); err != nil {
			t.Errorf("%s\n%v", src, err)
		}
	}
	if n < 4 {
		t.Errorf("only %d scripts found", n)
	}
}

// A script whose aliases grow without bound is refused, not expanded.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString(
		"turns:\n  - calls:\n    - name: A\n      arguments:\n        a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n",
	)
	for i := 1; i < 12; i++ {
		line := fmt.Sprintf("        a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10))
		b.WriteString(line)
	}
	if _, err := script.New([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "alias") {
		t.Errorf("err = %v", err)
	}
}

func FuzzNew(f *testing.F) {
	f.Add("turns: [{text: a}]")
	f.Add("a: &a [1]\nturns: [{calls: [{name: x, arguments: {a: *a, <<: {b: 1}}}]}, *a]")
	f.Add(
		"loop: yes\nturns:\n - {text: ä, chunk: 1, cut: true}\n - when: x\n   repeat: 2\n" +
			"   expect: {tools: [], messages: 1}\n",
	)
	f.Add("turns:\n - &t {text: a, usage: {input: 1}}\n - *t\n -\n")
	f.Fuzz(func(t *testing.T, src string) {
		c, err := script.New([]byte(src))
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without text")
			}
			return
		}
		// Delays in the script must not hold the test.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		for range 3 {
			resp, err := c.Chat(ctx, request(say("user", "x")), func(provider.Delta) { cancel() })
			if err != nil {
				return
			}
			seen := map[string]bool{}
			for _, call := range resp.Message.ToolCalls {
				if call.ID == "" || seen[call.ID] || call.Arguments == nil {
					t.Errorf("call %+v", call)
				}
				seen[call.ID] = true
			}
		}
	})
}
