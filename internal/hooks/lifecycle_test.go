package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/config"
	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/lifecycle/lifecycletest"
	"github.com/idelchi/aura/sdk"
)

// quote makes text one word of a shell script.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// script is the command of a hook that behaves as described.
func script(t *testing.T, b lifecycletest.Behaviour) string {
	t.Helper()
	switch {
	case b.Hang:
		return "sleep 1000"
	case b.Panic != "":
		return "sh -c " + quote("echo "+quote(b.Panic)+" >&2; kill -9 $$")
	case b.Error != "":
		return "echo " + quote(b.Error) + " >&2; exit 1"
	case b.Block != "":
		return "echo " + quote(b.Block) + " >&2; exit 2"
	case b.Append != "":
		return `read -r event; out=${event#*'"output":"'}; out=${out%%'"'*}; echo '{"updated_output": "'"$out"` + quote(
			b.Append,
		) + `'"}'`
	}
	reply := map[string]any{}
	if b.Arguments != nil {
		reply["updated_input"] = b.Arguments
	}
	if b.Say != "" {
		reply["message"] = b.Say
	}
	if b.Notice != "" {
		reply["system_message"] = b.Notice
	}
	if b.Retry || b.Skip && b.Moment == lifecycle.OnError {
		reply["error"] = sdk.ErrorModification{Retry: b.Retry, Skip: b.Skip}
	} else if b.Skip {
		reply["deny"] = true
	}
	text, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	return "echo " + quote(string(text))
}

// Hooks do on the pipeline what every kind of handler does.
func TestLifecycle(t *testing.T) {
	lifecycletest.Run(t, lifecycletest.Maker{
		Kind: lifecycle.Hook,
		Make: func(t *testing.T, behaviours []lifecycletest.Behaviour) []lifecycle.Binding {
			hks := config.Hooks{}
			for _, b := range behaviours {
				row, _ := lifecycle.Describe(b.Moment)
				hks[b.Name] = config.Hook{
					Name:      b.Name,
					Event:     row.Hook,
					Command:   script(t, b),
					Timeout:   b.Timeout,
					OnFailure: string(b.OnFailure),
				}
			}
			s, err := NewSet(Options{Hooks: hks, Workdir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			return s.Bindings()
		},
		Without: map[string]string{
			"once":      "a hook has no key for it",
			"condition": "a hook has no key for it",
			"error":     "what a failed hook writes to standard error is for the model, see TestExitCodes",
		},
	})
}

// 100 hooks of which none is concerned.
func BenchmarkNoMatch(b *testing.B) {
	for _, kind := range []string{"matcher", "files"} {
		b.Run(kind, func(b *testing.B) {
			hks := config.Hooks{}
			for i := range 100 {
				h := config.Hook{Name: fmt.Sprintf("hook%d", i), Event: "pre", Command: "true"}
				if kind == "matcher" {
					h.Matcher = fmt.Sprintf("Tool%d|Other", i)
				} else {
					h.Files = fmt.Sprintf("*.x%d", i)
				}
				hks[h.Name] = h
			}
			s, err := NewSet(Options{Hooks: hks})
			if err != nil {
				b.Fatal(err)
			}
			p := lifecycle.New(lifecycle.Options{})
			p.Bind(lifecycle.Hook, s.Bindings())
			for b.Loop() {
				p.Dispatch(
					b.Context(),
					lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{
						ToolName: "Write", Arguments: map[string]any{"path": "a/b.go"},
					}},
					nil,
				)
			}
		})
	}
}

func BenchmarkBuiltins(b *testing.B) {
	benchmarkHook(b, `if [[ "$AURA_TOOL_NAME" == Bash ]]; then echo ok; fi`)
}

func BenchmarkExternal(b *testing.B) { benchmarkHook(b, "/bin/true") }

func benchmarkHook(b *testing.B, command string) {
	s, err := NewSet(
		Options{Hooks: config.Hooks{"a": {Name: "a", Event: "pre", Command: command}}, Workdir: b.TempDir()},
	)
	if err != nil {
		b.Fatal(err)
	}
	p := lifecycle.New(lifecycle.Options{})
	p.Bind(lifecycle.Hook, s.Bindings())
	for b.Loop() {
		p.Dispatch(b.Context(), lifecycle.Event{Moment: lifecycle.BeforeToolExecution, Data: &sdk.BeforeToolContext{
			ToolName: "Bash", Arguments: map[string]any{"command": "ls"},
		}}, nil)
	}
}
