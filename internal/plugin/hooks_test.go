package plugin_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/lifecycle/lifecycletest"
	"github.com/idelchi/aura/internal/plugin"
	"github.com/idelchi/aura/sdk"
)

// signatures of all hooks: context type and result type.
var signatures = map[lifecycle.Moment][2]string{
	lifecycle.BeforeChat: {
		"BeforeChatContext",
		"sdk.Result",
	},
	lifecycle.AfterResponse: {"AfterResponseContext", "sdk.Result"},
	lifecycle.BeforeToolExecution: {
		"BeforeToolContext",
		"sdk.BeforeToolResult",
	},
	lifecycle.AfterToolExecution: {"AfterToolContext", "sdk.Result"},
	lifecycle.OnError: {
		"OnErrorContext",
		"sdk.Result",
	},
	lifecycle.BeforeCompaction: {"BeforeCompactionContext", "sdk.Result"},
	lifecycle.AfterCompaction: {
		"AfterCompactionContext",
		"sdk.Result",
	},
	lifecycle.OnAgentSwitch: {"OnAgentSwitchContext", "sdk.Result"},
	lifecycle.TransformMessages: {
		"TransformContext",
		"[]sdk.Message",
	},
	lifecycle.SessionStart: {"SessionStartContext", "sdk.Result"},
	lifecycle.UserMessage: {
		"UserMessageContext",
		"sdk.UserMessageResult",
	},
	lifecycle.SessionEnd:  {"SessionEndContext", "sdk.Result"},
	lifecycle.StreamChunk: {"StreamChunkContext", ""},
}

// data is an event for every moment.
func data(m lifecycle.Moment) any {
	switch m {
	case lifecycle.BeforeChat:
		return &sdk.BeforeChatContext{}
	case lifecycle.AfterResponse:
		return &sdk.AfterResponseContext{Response: "text"}
	case lifecycle.BeforeToolExecution:
		return &sdk.BeforeToolContext{ToolName: "Bash", Arguments: map[string]any{"command": "ls"}}
	case lifecycle.AfterToolExecution:
		return &sdk.AfterToolContext{ToolName: "Bash", ToolResult: "out"}
	case lifecycle.OnError:
		return &sdk.OnErrorContext{Error: "503"}
	case lifecycle.BeforeCompaction:
		return &sdk.BeforeCompactionContext{}
	case lifecycle.AfterCompaction:
		return &sdk.AfterCompactionContext{}
	case lifecycle.OnAgentSwitch:
		return &sdk.OnAgentSwitchContext{}
	case lifecycle.TransformMessages:
		return &sdk.TransformContext{Messages: []sdk.Message{{ID: "m0001", Role: "system"}}}
	case lifecycle.SessionStart:
		return &sdk.SessionStartContext{}
	case lifecycle.UserMessage:
		return &sdk.UserMessageContext{Text: "hi"}
	case lifecycle.StreamChunk:
		return &sdk.StreamChunkContext{Text: "t"}
	default:
		return &sdk.SessionEndContext{}
	}
}

// hook is the source of the function of a moment; body is its statements, before
// which c is the context and r the zero result.
func hook(m lifecycle.Moment, body string) string {
	row, _ := lifecycle.Describe(m)
	sig := signatures[m]
	if sig[1] == "" {
		return fmt.Sprintf(
			"func %s(ctx context.Context, c sdk.%s) error {\n%s\n\treturn nil\n}\n\n",
			row.Function,
			sig[0],
			body,
		)
	}
	return fmt.Sprintf(
		"func %s(ctx context.Context, c sdk.%s) (%s, error) {\n\tvar r %s\n%s\n\treturn r, nil\n}\n\n",
		row.Function,
		sig[0],
		sig[1],
		sig[1],
		body,
	)
}

// PL-23 PL-24 PT-01 PT-02 PT-03 PT-04 PT-05 PT-06: every function is bound to its
// moment and called there, with what the event holds.
func TestEveryMoment(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("var calls []string\n\nfunc SomethingElse() {}\n\n")
	for _, row := range lifecycle.Moments() {
		src.WriteString(hook(row.Moment, fmt.Sprintf("\tcalls = append(calls, %q)", row.Function)))
	}
	src.WriteString(`
func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: "calls"} }

func ExecuteCommand(_ context.Context, _ string, _ sdk.Context) (sdk.CommandResult, error) {
	return sdk.CommandResult{Output: strings.Join(calls, " ")}, nil
}
`)
	s := one(t, "", "strings", src.String())
	var want []string
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.Bindings())
	for _, row := range lifecycle.Moments() {
		list := p.Bindings(row.Moment)
		if len(list) != 1 || list[0].Source.Name != "probe" {
			t.Fatalf("%s: %+v", row.Moment, list)
		}
		want = append(want, row.Function)
		out := p.Dispatch(t.Context(), lifecycle.Event{Moment: row.Moment, Data: data(row.Moment)}, nil)
		if len(out.Notices) > 0 {
			t.Errorf("%s: %v", row.Moment, out.Notices)
		}
	}
	// PL-26: state is shared between hooks and command.
	r, err := s.Commands()[0].Run(t.Context(), "", sdk.Context{})
	if err != nil || r.Output != strings.Join(want, " ") {
		t.Errorf("calls: %q, %v", r.Output, err)
	}
	if got := s.Plugins()[0].Hooks; len(got) != len(want) {
		t.Errorf("hooks %v", got)
	}
}

// The table of the pipeline holds for plugins. PT-09 PT-10 PT-12 PT-13 PT-34 PT-39
// PT-45 PT-79 LC-08 LC-10 LC-11
func TestLifecycle(t *testing.T) {
	lifecycletest.Run(
		t,
		lifecycletest.Maker{
			Kind: lifecycle.Plugin,
			Make: func(t *testing.T, list []lifecycletest.Behaviour) []lifecycle.Binding {
				dir := t.TempDir()
				for i, b := range list {
					yaml := fmt.Sprintf("name: %s\nonce: %v\ntimeout: %s\n", b.Name, b.Once, b.Timeout)
					if b.Condition != "" {
						yaml += "condition: " + b.Condition + "\n"
					}
					if b.OnFailure != "" {
						yaml += "on_failure: " + string(b.OnFailure) + "\n"
					}
					write(
						t,
						dir,
						fmt.Sprintf("p%d", i),
						yaml,
						"errors",
						"var _ = errors.New\n\n"+hook(b.Moment, behave(b)),
					)
				}
				return load(t, plugin.Options{Dirs: []string{dir}}).Bindings()
			},
		},
	)
}

// behave writes a behaviour in Go.
func behave(b lifecycletest.Behaviour) string {
	var s strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&s, "\t"+format+"\n", args...) }
	if b.Hang {
		line("for {\n\t}")
	}
	if b.Panic != "" {
		line("panic(%q)", b.Panic)
	}
	line("r.Message, r.Notice = %q, %q", b.Say, b.Notice)
	if b.Block != "" {
		line("r.Block, r.Message = true, %q", b.Block)
	}
	for k, v := range b.Arguments {
		line("c.Arguments[%q] = %q", k, v)
		line("r.Arguments = c.Arguments")
	}
	if b.Append != "" {
		line("text := c.ToolResult + %q\n\tr.Output = &text", b.Append)
	}
	if b.Retry || b.Skip {
		switch b.Moment {
		case lifecycle.OnError:
			line("r.Error = &sdk.ErrorModification{Retry: %v, Skip: %v}", b.Retry, b.Skip)
		case lifecycle.BeforeCompaction:
			line("r.Compaction = &sdk.CompactionModification{Skip: %v}", b.Skip)
		}
	}
	if b.Error != "" {
		line("return r, errors.New(%q)", b.Error)
	}
	return s.String()
}

// PT-41: the words of a refusal. PT-24: a notice takes their place.
func TestBlockReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"r.Block = true", "Execution blocked by plugin"},
		{`r.Block, r.Message, r.Prefix = true, "not today", "[p] "`, "Execution blocked by plugin: [p] not today"},
		{`r.Block, r.Message, r.Notice = true, "not today", "for the user"`, "Execution blocked by plugin"},
	} {
		out := dispatch(
			t,
			one(t, "", "", hook(lifecycle.BeforeToolExecution, "\t"+c.body)),
			lifecycle.BeforeToolExecution,
			data(lifecycle.BeforeToolExecution),
		)
		if out.Blocked == nil || out.Blocked.Reason != c.want || len(out.Said) != 0 {
			t.Errorf("%s: %+v", c.body, out)
		}
	}
	s := one(
		t,
		"",
		"",
		hook(
			lifecycle.UserMessage,
			"\tif c.Text == \"no\" {\n\t\tr.Block, r.Message = true, \"because\"\n\t}\n"+
				"\ttext := c.Text + \"!\"\n\tr.Text = &text",
		),
	)
	out := dispatch(t, s, lifecycle.UserMessage, &sdk.UserMessageContext{Text: "no"})
	if out.Blocked == nil || out.Blocked.Reason != "because" {
		t.Errorf("user message: %+v", out)
	}
	out = dispatch(t, s, lifecycle.UserMessage, &sdk.UserMessageContext{Text: "yes"})
	if got := out.Data.(*sdk.UserMessageContext).Text; got != "yes!" {
		t.Errorf("text %q", got)
	}
}

// PT-08 PT-17 PT-18 PT-19 PT-22 PT-24: the common parts of a result reach the
// pipeline.
func TestResult(t *testing.T) {
	t.Parallel()
	s := one(t, "", "", hook(lifecycle.BeforeChat, `
	if c.Iteration == 0 {
		return r, nil
	}
	text := "more"
	r = sdk.Result{Message: "m", Role: sdk.RoleUser, Prefix: "[p] ", Eject: true, DisableTools: []string{"*"}, Request: &sdk.RequestModification{AppendSystem: &text}}`))
	if out := dispatch(
		t,
		s,
		lifecycle.BeforeChat,
		&sdk.BeforeChatContext{},
	); len(
		out.Said,
	)+len(
		out.DisableTools,
	)+len(
		out.System,
	) != 0 {
		t.Errorf("zero result: %+v", out)
	}
	out := dispatch(t, s, lifecycle.BeforeChat, &sdk.BeforeChatContext{Context: sdk.Context{Iteration: 1}})
	if len(out.Said) != 1 || out.Said[0].Text != "[p] m" || out.Said[0].Role != sdk.RoleUser || !out.Said[0].Eject {
		t.Errorf("said %+v", out.Said)
	}
	if !slices.Equal(out.DisableTools, []string{"*"}) || !slices.Equal(out.System, []string{"more"}) {
		t.Errorf("%+v", out)
	}
	s = one(t, "", "", hook(lifecycle.BeforeChat, `	r.Message = "m"`))
	out = dispatch(t, s, lifecycle.BeforeChat, &sdk.BeforeChatContext{})
	if len(out.Said) != 1 || out.Said[0].Text != "m" || out.Said[0].Role != sdk.RoleAssistant || out.Said[0].Eject {
		t.Errorf("defaults: %+v", out.Said)
	}
}

// PT-102 PT-103 PT-104: transforms chain; no messages at all are invalid, not
// unchanged.
func TestTransform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	body := func(suffix string) string {
		return hook(
			lifecycle.TransformMessages,
			"\tfor _, m := range c.Messages {\n\t\tm.Content += \""+suffix+"\"\n\t\tr = append(r, m)\n\t}",
		)
	}
	write(t, dir, "b-x", "", "", body("b"))
	write(t, dir, "a-x", "", "", body("a"))
	s := load(t, plugin.Options{Dirs: []string{dir}})
	original := &sdk.TransformContext{Messages: []sdk.Message{{ID: "m0001", Role: "system", Content: "x"}}}
	out := dispatch(t, s, lifecycle.TransformMessages, original)
	if got := out.Data.(*sdk.TransformContext).Messages[0].Content; got != "xab" {
		t.Errorf("content %q", got)
	}
	if original.Messages[0].Content != "x" {
		t.Error("the original was changed")
	}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, one(t, "", "", hook(lifecycle.TransformMessages, "")).Bindings())
	out = p.Dispatch(
		t.Context(),
		lifecycle.Event{Moment: lifecycle.TransformMessages, Data: original},
		func(data any) error {
			if len(data.(*sdk.TransformContext).Messages) == 0 {
				return fmt.Errorf("no messages")
			}
			return nil
		},
	)
	if out.Data != nil {
		t.Errorf("nil was taken for an answer: %+v", out.Data)
	}
}

// A plugin changes only its own copy of what it gets.
func TestIsolationOfData(t *testing.T) {
	t.Parallel()
	s := one(t, "config: {list: [1, 2]}", "", hook(lifecycle.BeforeToolExecution, `
	c.Arguments["command"] = "evil"
	c.Turns[0].Content = "evil"
	c.ToolHistory[0].Args["a"] = "evil"
	c.Vars["v"] = "evil"
	c.PatchCounts["f"] = 99
	c.AvailableTools[0] = "evil"
	c.LoadedTools[0] = "evil"
	c.MCPServers[0] = "evil"
	c.ModelInfo.Capabilities[0] = "evil"
	c.Stats.TopTools[0].Name = "evil"
	list := c.PluginConfig["list"].([]any)
	if list[0] != 1 {
		r.Message = "config was changed"
	}
	list[0] = 100`))
	make := func() *sdk.BeforeToolContext {
		return &sdk.BeforeToolContext{Arguments: map[string]any{"command": "ls"}, Context: sdk.Context{
			Turns: []sdk.Turn{
				{Content: "t"},
			},
			ToolHistory: []sdk.ToolCall{{Args: map[string]any{"a": 1}}},
			Vars:        map[string]string{"v": "1"},
			PatchCounts: map[string]int{
				"f": 1,
			},
			AvailableTools: []string{"A"},
			LoadedTools:    []string{"L"},
			MCPServers:     []string{"S"},
			ModelInfo: sdk.ModelInfo{
				Capabilities: []string{"tools"},
			},
			Stats: sdk.Stats{TopTools: []sdk.ToolCount{{Name: "T"}}},
		}}
	}
	d := make()
	for range 2 {
		if out := dispatch(t, s, lifecycle.BeforeToolExecution, d); len(out.Notices)+len(out.Said) > 0 {
			t.Fatalf("%+v", out)
		}
	}
	if want := make(); !reflect.DeepEqual(d, want) {
		t.Errorf("the event was changed: %+v", d)
	}
}

// SD-42 PL-42 CF-11 CF-12 CF-13 CF-14 CF-15 CF-16 CF-17 CF-18: three layers, key by key, and
// whole numbers stay int.
func TestConfigValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	body := `
func show(c map[string]any) string {
	n, isInt := c["max"].(int)
	_, missing := c["nothing"].(string)
	return fmt.Sprintf("%v %v %v %v %v %v %v", n, isInt, missing, c["who"], c["own"], c["verbose"], c["nested"])
}

func Schema() sdk.ToolSchema { return sdk.ToolSchema{Name: name, Parameters: sdk.ToolParameters{Type: "object"}} }

func Execute(_ context.Context, sc sdk.Context, _ map[string]any) (string, error) { return show(sc.PluginConfig), nil }

func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: name} }

func ExecuteCommand(_ context.Context, _ string, sc sdk.Context) (sdk.CommandResult, error) {
	return sdk.CommandResult{Output: show(sc.PluginConfig)}, nil
}
` + speak("show(c.PluginConfig)")
	write(
		t,
		dir,
		"one",
		"config: {max: 1, who: plugin, own: plugin, nested: {a: 1, b: 2}}",
		"fmt",
		"const name = \"One\"\n"+body,
	)
	write(t, dir, "two", "name: second", "fmt", "const name = \"Two\"\n"+body)
	s := load(t, plugin.Options{
		Dirs:   []string{dir},
		Global: map[string]any{"verbose": true, "max": 2, "who": "everybody"},
		Local: map[string]map[string]any{
			"one":    {"max": 3, "nested": map[string]any{"c": 3}},
			"two":    {"max": 9},
			"second": {"who": "local"},
		},
	})
	want := []string{"3 true false everybody plugin true map[c:3]", "2 true false local <nil> true <nil>"}
	if got := said(t, s); got != strings.Join(want, "|") {
		t.Errorf("hooks see %q", got)
	}
	for i := range want {
		r, err := s.Tools()[i].Execute(t.Context(), call(nil))
		if err != nil || r.Text != want[i] {
			t.Errorf("tool %d sees %q, %v", i, r.Text, err)
		}
		c, err := s.Commands()[i].Run(t.Context(), "", sdk.Context{})
		if err != nil || c.Output != want[i] {
			t.Errorf("command %d sees %q, %v", i, c.Output, err)
		}
	}
	if got := said(
		t,
		one(t, "", "fmt", speak(`fmt.Sprint(c.PluginConfig["x"], len(c.PluginConfig))`)),
	); got != "<nil> 0" {
		t.Errorf("without config: %q", got)
	}
}

// PT-15: once is once, also when several calls come at the same time: the condition
// holds for all of them before any has fired.
func TestOnceUnderConcurrency(t *testing.T) {
	t.Parallel()
	const calls = 8
	s := one(
		t,
		"once: true\ncondition: bash:wait",
		"",
		"var n int\n\n"+hook(lifecycle.AfterToolExecution, "\tn++\n\tr.Message = \"fired\""),
	)
	var arrived sync.WaitGroup
	arrived.Add(calls)
	p := lifecycle.New(lifecycle.Options{Shell: func(context.Context, string) bool {
		arrived.Done()
		arrived.Wait()
		return true
	}})
	p.Bind(lifecycle.Plugin, s.Bindings())
	var mu sync.Mutex
	fired := 0
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			out := p.Dispatch(
				context.Background(),
				lifecycle.Event{Moment: lifecycle.AfterToolExecution, Data: &sdk.AfterToolContext{}},
				nil,
			)
			mu.Lock()
			defer mu.Unlock()
			fired += len(out.Said)
		})
	}
	wg.Wait()
	if fired != 1 {
		t.Errorf("fired %d times", fired)
	}
}

// Calls into one plugin do not overlap: its variables need no locks.
func TestCallsAreSerialised(t *testing.T) {
	t.Parallel()
	s := one(t, "", "runtime", "var n, inside, overlaps int\n\n"+hook(lifecycle.BeforeChat, `
	inside++
	if inside > 1 {
		overlaps++
	}
	for i := 0; i < 20; i++ {
		n++
		runtime.Gosched()
	}
	inside--`)+`
func Command() sdk.CommandSchema { return sdk.CommandSchema{Name: "count"} }

func ExecuteCommand(_ context.Context, _ string, _ sdk.Context) (sdk.CommandResult, error) {
	if overlaps > 0 {
		return sdk.CommandResult{Output: "overlap"}, nil
	}
	if n != 320 {
		return sdk.CommandResult{Output: "lost"}, nil
	}
	return sdk.CommandResult{Output: "fine"}, nil
}
`)
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Plugin, s.Bindings())
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			p.Dispatch(
				context.Background(),
				lifecycle.Event{Moment: lifecycle.BeforeChat, Data: &sdk.BeforeChatContext{}},
				nil,
			)
		})
	}
	wg.Wait()
	if r, err := s.Commands()[0].Run(t.Context(), "", sdk.Context{}); err != nil || r.Output != "fine" {
		t.Errorf("%q, %v", r.Output, err)
	}
}

// The keys on_failure, condition and once of plugin.yaml hold for every
// hook of the plugin. PL-39 PL-40 PT-11
func TestBindingsFollowTheManifest(t *testing.T) {
	t.Parallel()
	s := one(
		t,
		"on_failure: block\ncondition: auto and not turns_gt:5\nonce: true",
		"",
		hook(lifecycle.BeforeChat, "")+hook(lifecycle.OnError, ""),
	)
	for _, b := range s.Bindings() {
		if b.OnFailure != lifecycle.Deny || b.Condition.String() != "auto and not turns_gt:5" || !b.Once {
			t.Errorf("%+v", b)
		}
		if filepath.Base(b.Source.File) != "probe" {
			t.Errorf("file %s", b.Source.File)
		}
	}
}
