package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// bed is a pipeline with hooks on it.
type bed struct {
	*Set
	*lifecycle.Pipeline
	t     *testing.T
	dir   string
	check func(any) error
}

func newBed(t *testing.T, hks config.Hooks, o Options) *bed {
	t.Helper()
	for name, h := range hks {
		h.Name = name
		hks[name] = h
	}
	b := &bed{t: t, dir: t.TempDir(), Pipeline: lifecycle.New(lifecycle.Options{})}
	o.Hooks, o.Workdir = hks, b.dir
	var err error
	if b.Set, err = NewSet(o); err != nil {
		t.Fatal(err)
	}
	b.Bind(lifecycle.Hook, b.Set.Bindings())
	return b
}

func (b *bed) pre(name string, args map[string]any) lifecycle.Outcome {
	return b.at(lifecycle.BeforeToolExecution, &sdk.BeforeToolContext{ToolName: name, Arguments: args})
}

func (b *bed) post(name string, args map[string]any, output string) lifecycle.Outcome {
	return b.at(
		lifecycle.AfterToolExecution,
		&sdk.AfterToolContext{ToolName: name, Arguments: args, ToolResult: output},
	)
}

func (b *bed) at(m lifecycle.Moment, data any) lifecycle.Outcome {
	return b.Dispatch(b.t.Context(), lifecycle.Event{Moment: m, Data: data}, b.check)
}

// read returns what a hook wrote to a file, and removes it.
func (b *bed) read(name string) string {
	b.t.Helper()
	file := filepath.Join(b.dir, name)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		b.t.Fatal(err)
	}
	_ = os.Remove(file)
	return strings.TrimRight(string(text), "\n")
}

// HK-07 HK-17 HK-36 HK-57 HK-97: after a tool.
func TestPost(t *testing.T) {
	b := newBed(t, config.Hooks{
		"z": {Event: "post", Command: "sleep 0.05; echo z >>log; echo first"},
		"a": {Event: "post", Command: "cat >>log; echo no >&2; exit 2", Depends: []string{"z"}},
	}, Options{})
	out := b.post("Write", map[string]any{}, "wrote")
	if strings.Join(out.Feedback, "|") != "[Hook: z]:\nfirst|[Hook: a]:\nno" || out.Blocked != nil {
		t.Errorf("%+v", out)
	}
	if got := out.Data.(*sdk.AfterToolContext).ToolResult; got != "wrote" {
		t.Errorf("the result became %q", got)
	}
	if log := b.read("log"); !strings.HasPrefix(log, "z\n{") || !strings.Contains(log, `"output":"wrote"`) {
		t.Errorf("log %q", log)
	}
	b.at(lifecycle.AfterToolExecution, &sdk.AfterToolContext{ToolName: "Write", ToolError: "disk full"})
	if log := b.read("log"); log != "" {
		t.Errorf("hooks ran after a failed tool: %q", log)
	}
}

// HK-35 HK-37 HK-42 HK-49: before a tool; the trace names each hook.
func TestPre(t *testing.T) {
	b := newBed(t, config.Hooks{
		"warn": {Event: "pre", Command: "echo careful >&2; exit 1"},
		"zap": {
			Event:   "pre",
			Matcher: "^Bash$",
			Command: `grep -q 'rm -rf' && echo '{"deny": true, "reason": "not that"}'; true`,
		},
		"keep": {
			Event:   "pre",
			Matcher: "^Write$",
			Command: "echo ignored; echo 'written by hand' >&2; exit 2",
		},
	}, Options{})
	if out := b.pre(
		"Bash",
		map[string]any{"command": "ls"},
	); out.Blocked != nil ||
		strings.Join(out.Feedback, "") != "[Hook: warn]:\ncareful" {
		t.Errorf("%+v", out)
	}
	out := b.pre("Bash", map[string]any{"command": "rm -rf /"})
	if out.Blocked == nil || out.Blocked.Reason != "not that" || out.Blocked.Source.Name != "zap" ||
		len(out.Feedback) != 0 {
		t.Errorf("%+v", out)
	}
	var trace []string
	for _, r := range b.Records() {
		trace = append(trace, r.Source.Name+" "+string(r.Verdict))
	}
	if got := strings.Join(trace, ", "); got != "warn spoke, zap passed, warn spoke, zap blocked" {
		t.Errorf("trace: %s", got)
	}
	out = b.pre("Write", map[string]any{"path": "a"})
	if out.Blocked == nil || out.Blocked.Reason != "written by hand" || out.Blocked.Source.Name != "keep" {
		t.Errorf("exit code 2: %+v", out)
	}
}

// HK-23: changes chain in hook order, are seen by the next hook and checked.
func TestUpdatedInput(t *testing.T) {
	b := newBed(t, config.Hooks{
		"a": {Event: "pre", Command: `echo '{"updated_input": {"command": "pwd"}}'`},
		"b": {
			Event:   "pre",
			Command: `cat >seen; echo '{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"workdir": "/"}}}'`,
		},
	}, Options{})
	out := b.pre("Bash", map[string]any{"command": "ls", "n": 1.0})
	if got := out.Data.(*sdk.BeforeToolContext).Arguments; !reflect.DeepEqual(
		got,
		map[string]any{"command": "pwd", "workdir": "/", "n": 1.0},
	) {
		t.Errorf("arguments %v", got)
	}
	if got := b.read("seen"); !strings.Contains(got, `"command":"pwd"`) {
		t.Errorf("the second hook saw %s", got)
	}
	b.check = func(any) error { return errors.New("not of the schema") }
	if out := b.pre(
		"Bash",
		map[string]any{"command": "ls"},
	); out.Blocked == nil ||
		out.Blocked.Reason != `hook not of the schema (hook "a")` {
		t.Errorf("%+v", out)
	}
}

func TestUpdatedOutput(t *testing.T) {
	b := newBed(t, config.Hooks{
		"a": {Event: "post", Command: `echo '{"updated_output": "redacted", "message": "hid it"}'`},
		"b": {Event: "post", Command: "cat >seen"},
	}, Options{})
	out := b.post("Bash", nil, "secret")
	if got := out.Data.(*sdk.AfterToolContext).ToolResult; got != "redacted" || len(out.Feedback) != 1 {
		t.Errorf("%q, %v", got, out.Feedback)
	}
	if got := b.read("seen"); strings.Contains(got, "secret") || strings.Contains(got, "hid it") {
		t.Errorf("the second hook saw %s", got)
	}
}

// The wishes a hook can have beyond yes and no.
func TestAskAndNotice(t *testing.T) {
	b := newBed(t, config.Hooks{
		"ask": {Event: "pre", Matcher: "A", Command: `echo '{"ask": true, "reason": "is it time?"}'`},
		"tell": {
			Event:   "pre",
			Matcher: "B",
			Command: `echo '{"system_message": "look here", "message": "for the model"}'`,
		},
		"stop": {Event: "pre", Matcher: "C", Command: `echo '{"continue": false, "stopReason": "enough"}'`},
	}, Options{})
	if out := b.pre("A", nil); len(out.Asks) != 1 || out.Asks[0].Reason != "is it time?" || out.Blocked != nil {
		t.Errorf("%+v", out)
	}
	if out := b.pre(
		"B",
		nil,
	); len(out.Notices) != 1 || out.Notices[0].Text != "look here" ||
		strings.Join(out.Feedback, "") != "[Hook: tell]:\nfor the model" {
		t.Errorf("%+v", out)
	}
	if out := b.pre("C", nil); out.Blocked == nil || out.Blocked.Reason != "enough" {
		t.Errorf("%+v", out)
	}
}

// A gate with on_failure: block stays closed whatever happens to it.
func TestClosedGate(t *testing.T) {
	for name, command := range map[string]string{
		"exit code":     "echo oops >&2; exit 1",
		"not found":     "no-such-command-at-all",
		"killed":        "sh -c 'kill -9 $$'",
		"timeout":       "sleep 1000",
		"broken JSON":   `echo '{"deny": tru'`,
		"strange value": `echo '{"deny": "perhaps"}'`,
		"strange word":  `echo '{"decision": "hm"}'`,
		"strange shape": `echo '{"hookSpecificOutput": [1]}'`,
		"flood":         `echo '{'; head -c 2000000 /dev/zero`,
		"no directory":  "cd /no/such/place || exit 9",
	} {
		h := config.Hook{Event: "pre", Command: command, Timeout: 10 * time.Second, OnFailure: "block"}
		if name == "timeout" {
			h.Timeout = 50 * time.Millisecond
		}
		if out := newBed(
			t,
			config.Hooks{"gate": h},
			Options{},
		).pre("Bash", nil); out.Blocked == nil ||
			!strings.Contains(out.Blocked.Reason, "on_failure: block") {
			t.Errorf("%s: %+v", name, out)
		}
		h.OnFailure = ""
		if out := newBed(t, config.Hooks{"gate": h}, Options{}).pre("Bash", nil); out.Blocked != nil {
			t.Errorf("%s: an open gate blocked: %+v", name, out)
		}
	}
	if out := newBed(
		t,
		config.Hooks{"gate": {Event: "pre", Command: "true", OnFailure: "block"}},
		Options{},
	).pre("Bash", nil); out.Blocked != nil {
		t.Errorf("a gate that says nothing lets through: %+v", out)
	}
}

// A crash, a timeout and a missing command are shown to the user by name; a
// silent hook keeps even that to the log.
func TestFaults(t *testing.T) {
	for _, silent := range []bool{false, true} {
		for _, command := range []string{"no-such-command-at-all", "sh -c 'kill -9 $$'", "sleep 1000"} {
			b := newBed(
				t,
				config.Hooks{"h": {Event: "pre", Command: command, Silent: silent, Timeout: 200 * time.Millisecond}},
				Options{},
			)
			out := b.pre("Bash", nil)
			if silent != (len(out.Notices) == 0) || silent != (len(out.Feedback) == 0) || out.Blocked != nil {
				t.Errorf("%s, silent %v: %+v", command, silent, out)
			}
			if r := b.Records(); len(r) != 1 || r[0].Verdict == lifecycle.Passed {
				t.Errorf("%s: trace %v", command, r)
			}
		}
	}
}

// What a hook floods is cut; the rest of its words and the tool's result stay.
func TestFlood(t *testing.T) {
	b := newBed(
		t,
		config.Hooks{"h": {Event: "post", Command: `echo begin; yes | head -c 3000000; echo end; echo "éé"`}},
		Options{},
	)
	out := b.post("Bash", nil, "result")
	text := strings.Join(out.Feedback, "")
	if len(text) > 13<<10 || !strings.Contains(text, "begin") || !strings.Contains(text, "bytes left out") ||
		out.Data.(*sdk.AfterToolContext).ToolResult != "result" {
		t.Errorf("%d bytes: %.100s", len(text), text)
	}
}

// HK-66..HK-74: filters of agents and modes, looked up for the agent of the call.
func TestFilters(t *testing.T) {
	agents := map[string]tool.Filter{
		"only-go": {Enabled: []string{"GO:*"}},
		"no-go":   {Disabled: []string{"go:*"}},
		"both":    {Enabled: []string{"go:*"}, Disabled: []string{"*lint"}},
		"first":   {Disabled: []string{"go:format"}},
		"free":    {Enabled: []string{}},
	}
	modes := map[string]tool.Filter{"quiet": {Disabled: []string{"z:say"}}, "all": {Enabled: []string{"*"}}}
	b := newBed(t, config.Hooks{
		"go:format": {Event: "pre", Command: "echo format >>log"},
		"go:fix":    {Event: "pre", Command: "echo fix >>log", Depends: []string{"go:format"}},
		"go:lint":   {Event: "pre", Command: "echo lint >>log", Depends: []string{"go:fix"}},
		"z:Say":     {Event: "pre", Command: "echo say >>log"},
	}, Options{Filters: func(agent, mode string) []tool.Filter { return []tool.Filter{agents[agent], modes[mode]} }})
	for _, tt := range []struct{ agent, mode, want string }{
		{"", "", "format fix lint say"}, {"only-go", "", "format fix lint"}, {"no-go", "", "say"},
		{"no-go", "all", "say"},
		{"both", "", "format fix"}, {"first", "", "say"}, {"", "quiet", "format fix lint"},
		{"free", "", "format fix lint say"}, {"", "", "format fix lint say"},
	} {
		b.at(
			lifecycle.BeforeToolExecution,
			&sdk.BeforeToolContext{Context: sdk.Context{Agent: tt.agent, Mode: tt.mode}, ToolName: "Bash"},
		)
		if got := strings.ReplaceAll(b.read("log"), "\n", " "); got != tt.want {
			t.Errorf("agent %q mode %q: %s, want %s", tt.agent, tt.mode, got, tt.want)
		}
	}
}

// The other moments: what a hook reads and may do there.
func TestMoments(t *testing.T) {
	c := sdk.Context{SessionID: "s1", Agent: "Coder"}
	for _, tt := range []struct {
		event, command string
		data           any
		reads          []string
		check          func(lifecycle.Outcome) bool
	}{
		{"session_start", "cat >in; echo welcome", &sdk.SessionStartContext{Context: c, Resumed: true}, []string{`"hook_event":"SessionStart"`, `"cwd":"`, `"session_id":"s1"`, `"resumed":true`, `"agent":"Coder"`},
			func(o lifecycle.Outcome) bool {
				return len(o.Said) == 1 && o.Said[0].Text == "[Hook: h]:\nwelcome" && o.Said[0].Role == sdk.RoleUser
			}},
		{"session_start", "echo broken >&2; exit 1", &sdk.SessionStartContext{Context: c}, nil,
			func(o lifecycle.Outcome) bool { return len(o.Said) == 0 && len(o.Notices) == 1 }},
		{"user_message", "cat >in; echo no >&2; exit 2", &sdk.UserMessageContext{Context: c, Text: "hi"}, []string{`"text":"hi"`},
			func(o lifecycle.Outcome) bool { return o.Blocked != nil && o.Blocked.Reason == "no" }},
		{"user_message", `echo '{"text": "rewritten"}'`, &sdk.UserMessageContext{Context: c, Text: "hi"}, nil,
			func(o lifecycle.Outcome) bool { return o.Data.(*sdk.UserMessageContext).Text == "rewritten" }},
		{"before_chat", `echo '{"message": "m", "request": {"append_system": "be brief"}}'`,
			&sdk.BeforeChatContext{Context: c}, nil,
			func(o lifecycle.Outcome) bool { return o.Said[0].Eject && o.System[0] == "be brief" && !o.Skip }},
		{
			"before_chat", `echo '{"continue": false}'`, &sdk.BeforeChatContext{Context: c}, nil,
			func(o lifecycle.Outcome) bool { return o.Skip && len(o.Notices) == 1 },
		},
		{"after_response", "cat >in; echo ping", &sdk.AfterResponseContext{Context: c, Response: "done"}, []string{`"response":"done"`},
			func(o lifecycle.Outcome) bool { return len(o.Said) == 0 }},
		{"after_response", "echo more >&2; exit 2", &sdk.AfterResponseContext{Context: c, Response: "done"}, nil,
			func(o lifecycle.Outcome) bool { return len(o.Said) == 1 && strings.HasSuffix(o.Said[0].Text, "more") }},
		{"after_response", `echo '{"response": {"content": "stored"}}'`, &sdk.AfterResponseContext{
			Context: c, Response: "done",
		}, nil,
			func(o lifecycle.Outcome) bool { return o.Data.(*sdk.AfterResponseContext).Response == "stored" }},
		{"on_error", `cat >in; echo '{"error": {"retry": true}}'`, &sdk.OnErrorContext{
			Context: c, Error: "503", ErrorType: "server",
		}, []string{`"error":"503"`, `"error_type":"server"`},
			func(o lifecycle.Outcome) bool { return o.Retry }},
		{
			"before_compaction", "exit 2", &sdk.BeforeCompactionContext{Context: c}, nil,
			func(o lifecycle.Outcome) bool { return o.Skip },
		},
		{"after_compaction", "cat >in", &sdk.AfterCompactionContext{Context: c, PreMessages: 9}, []string{`"pre_messages":9`}, func(o lifecycle.Outcome) bool { return true }},
		{"agent_switch", "cat >in", &sdk.OnAgentSwitchContext{Context: c, NewAgent: "B"}, []string{`"new_agent":"B"`, `"hook_event":"OnAgentSwitch"`}, func(o lifecycle.Outcome) bool { return true }},
		{"session_end", "cat >in; echo bye", &sdk.SessionEndContext{Context: c, Reason: "exit"}, []string{`"reason":"exit"`}, func(o lifecycle.Outcome) bool { return len(o.Said) == 0 }},
	} {
		b := newBed(t, config.Hooks{"h": {Event: tt.event, Command: tt.command}}, Options{})
		var moment lifecycle.Moment
		for _, row := range lifecycle.Moments() {
			if row.Hook == tt.event {
				moment = row.Moment
			}
		}
		if out := b.at(moment, tt.data); !tt.check(out) {
			t.Errorf("%s, %s: %+v", tt.event, tt.command, out)
		}
		in := b.read("in")
		if len(tt.reads) > 0 && !json.Valid([]byte(in)) {
			t.Errorf("%s reads %s", tt.event, in)
		}
		for _, want := range tt.reads {
			if !strings.Contains(in, want) {
				t.Errorf("%s reads %s without %s", tt.event, in, want)
			}
		}
	}
}

// env: only what is listed reaches the command. HK-91 without it.
func TestEnv(t *testing.T) {
	env := func() []string {
		return []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "TOKEN=t", "GO_A=a", "GO_B=b", "FILE=x"}
	}
	for _, tt := range []struct {
		list []string
		want string
	}{
		{nil, "t a b /h go unset"}, {[]string{}, "   /h go unset"}, {[]string{"GO_*"}, " a b /h go unset"},
		{[]string{"TOKEN", "FILE"}, "t   /h go unset"},
	} {
		b := newBed(
			t,
			config.Hooks{
				"go": {
					Event:   "pre",
					Env:     tt.list,
					Command: `echo "$TOKEN $GO_A $GO_B $HOME $AURA_HOOK ${FILE-unset}" >log`,
				},
			},
			Options{Env: env},
		)
		b.pre("Bash", nil)
		if got := b.read("log"); got != tt.want {
			t.Errorf("%v: %q", tt.list, got)
		}
	}
}

// The payload is made once for all hooks of a call.
func TestPayloadShared(t *testing.T) {
	b := newBed(
		t,
		config.Hooks{
			"a":     {Event: "pre", Command: "true"},
			"b":     {Event: "pre", Command: "true"},
			"never": {Event: "pre", Matcher: "X", Command: "true"},
		},
		Options{},
	)
	data := &sdk.BeforeToolContext{ToolName: "Y", Arguments: map[string]any{"path": "p"}}
	ev := &lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: data}
	if e := b.event(ev); e.payload != nil {
		t.Error("made before a hook matched")
	}
	b.at(ev.Moment, data)
	first := b.event(ev).payload
	if _, err := b.handle(t.Context(), b.order[1], ev); err != nil || &first[0] != &b.event(ev).payload[0] {
		t.Errorf("made twice: %v", err)
	}
}

// HK-04 HK-75..HK-81: what prompts and people are told.
func TestListing(t *testing.T) {
	off := true
	b := newBed(t, config.Hooks{
		"go:format": {
			Event:       "post",
			Matcher:     "Patch|Write",
			Files:       "*.go",
			Command:     "gofmt -w $FILE",
			Description: "Formats Go files",
			Silent:      true,
		},
		"go:lint": {
			Event:   "post",
			Command: "a\nb\nc",
			Depends: []string{"go:format"},
			Inherit: []string{"go:format"},
			Timeout: 15 * time.Second,
		},
		"check": {Event: "pre", Matcher: "Bash", Command: "x"},
		"old":   {Event: "pre", Command: "x", Disabled: &off},
		"older": {Event: "pre", Command: "x", Depends: []string{"old"}},
	}, Options{Filters: func(agent, _ string) []tool.Filter {
		return []tool.Filter{map[string]tool.Filter{"MyAgent": {Disabled: []string{"go:*"}}}[agent]}
	}})
	active := b.Active("", "")
	want := []Info{
		{"check", "", "pre", "Bash", "", "x"},
		{"go:format", "Formats Go files", "post", "Patch|Write", "*.go", "gofmt -w $FILE"},
		{"go:lint", "", "post", "", "", "a\nb\nc"},
	}
	if !reflect.DeepEqual(active, want) {
		t.Errorf("active: %v", active)
	}
	if got := Display(
		active,
	); got != "- check (pre)\n- go:format (post): Formats Go files [files: *.go] [tools: Patch|Write]\n"+
		"- go:lint (post)" {
		t.Errorf("display:\n%s", got)
	}
	if Display(nil) != "" || len(b.Active("MyAgent", "")) != 1 {
		t.Errorf("filtered: %v", b.Active("MyAgent", ""))
	}
	const text = `pre:
  check
    matcher:     Bash
    command:     x
    timeout:     10s
post:
  go:format
    description: Formats Go files
    matcher:     Patch|Write
    files:       *.go
    silent:      true
    command:     gofmt -w $FILE
    timeout:     10s
  go:lint
    depends:     go:format
    inherit:     go:format
    command:     a (3 lines)
    timeout:     15s
disabled:
  old (disabled)
    event:       pre
    command:     x
    timeout:     10s
  older (pruned: depends on old)
    event:       pre
    depends:     old
    command:     x
    timeout:     10s`
	if got := b.Listing("", ""); got != text {
		t.Errorf("listing:\n%s", got)
	}
	if got := b.Listing("MyAgent", ""); strings.Contains(got, "go:") || !strings.Contains(got, "check") {
		t.Errorf("listing of MyAgent:\n%s", got)
	}
	// The template of the documentation, as printed.
	tmpl := template.Must(template.New("").Parse(`{{- if .Hooks.Active }}
Hooks that run after your tool calls:
{{ range .Hooks.Active -}}
- {{ .Name }}: {{ .Description }} ({{ .Event }}, files: {{ .Files }})
{{ end -}}
{{- end }}
`))
	var out strings.Builder
	data := struct{ Hooks struct{ Active []Info } }{}
	data.Hooks.Active = active
	if err := tmpl.Execute(&out, data); err != nil || strings.Count(out.String(), "\n- ") != len(active) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Two agents at once.
func TestConcurrent(t *testing.T) {
	b := newBed(t, config.Hooks{"a": {Event: "pre", Command: "read -r x; echo \"got $x\""}}, Options{})
	done := make(chan error)
	for i := range 4 {
		go func() {
			for range 5 {
				word := fmt.Sprintf("word%d", i)
				out := b.Dispatch(
					t.Context(),
					lifecycle.Event{
						Moment: lifecycle.BeforeToolExecution,
						Data:   &sdk.BeforeToolContext{ToolName: "T", Arguments: map[string]any{"w": word}},
					},
					nil,
				)
				if !strings.Contains(strings.Join(out.Feedback, ""), word) {
					done <- fmt.Errorf("%s got %v", word, out.Feedback)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The glob of a hook is filepath.Match on base names, however it is computed.
func FuzzMatcher(f *testing.F) {
	for _, s := range [][2]string{
		{"*.go", "/a/b.go"}, {"*", "/"}, {"*.go", "/a.go/b"}, {"[a-z]*", "/x"}, {"*\\.go", "/x.go"}, {"", "/x"},
		{"*go/x", "/ago/x"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		s, err := NewSet(
			Options{Hooks: config.Hooks{"h": {Name: "h", Event: "pre", Files: glob, Command: "true"}}, Workdir: "/w"},
		)
		if err != nil {
			t.Fatal(err)
		}
		ev := &lifecycle.Event{
			Moment: lifecycle.BeforeToolExecution,
			Data:   &sdk.BeforeToolContext{ToolName: "T", Arguments: map[string]any{"path": path}},
		}
		paths := extract(map[string]any{"path": path}, "/w")
		want := glob == "" || len(s.order[0].MatchedPaths(paths)) > 0
		if got := s.match(s.order[0], ev); got != want {
			t.Errorf("%q %q: %v, want %v", glob, path, got, want)
		}
		for _, p := range paths {
			if !filepath.IsAbs(p) {
				t.Errorf("%q is not absolute", p)
			}
		}
	})
}

// Whatever a hook prints is understood in one way or refused.
func FuzzStdout(f *testing.F) {
	for _, s := range []string{"", "hi", `{"message": "m", "deny": true}`, `{"decision": "block"}`, `{"hookSpecificOutput": {"permissionDecision": "ask", "updatedInput": {"a": [1]}}}`, `{"continue": false}`, `{"deny": {}}`, "{", `{"deny": "TRUE"}`, "42", "null", "[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parse([]byte(s))
		var f map[string]any
		object := strings.HasPrefix(strings.TrimSpace(s), "{") && json.Unmarshal([]byte(s), &f) == nil
		if err != nil && !object {
			t.Fatalf("plain text is an error: %v", err)
		}
		if a.plain == object && strings.TrimSpace(s) != "" && err == nil {
			t.Fatalf("plain %v", a.plain)
		}
		if f["deny"] == true && err == nil && !a.deny {
			t.Fatal("a no got lost")
		}
		_ = cut(s)
	})
}
