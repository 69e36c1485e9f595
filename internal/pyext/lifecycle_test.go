package pyext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/lifecycle/lifecycletest"
)

// Python extensions do what every kind of handler must.
func TestLifecycle(t *testing.T) {
	lifecycletest.Run(t, lifecycletest.Maker{
		Kind: lifecycle.Extension,
		Make: func(t *testing.T, behaviours []lifecycletest.Behaviour) []lifecycle.Binding {
			f := files{}
			var timeout = behaviours[0].Timeout
			for _, b := range behaviours {
				f[b.Name] = program(b)
				timeout = min(timeout, b.Timeout)
			}
			return start(t, f, func(o *Options) { o.Timeout = max(timeout, shortest) }).Bindings()
		},
		Without: map[string]string{
			"once":      "a handler counts by itself",
			"condition": "a handler decides by itself",
		},
	})
}

// shortest is a deadline that handlers which do not hang keep on a busy machine.
const shortest = 300 * time.Millisecond

// program is the Python code of a behaviour.
func program(b lifecycletest.Behaviour) string {
	names := map[lifecycle.Moment]string{
		lifecycle.BeforeChat:        "before_chat",
		lifecycle.TransformMessages: "before_turn",
	}
	name := names[b.Moment]
	if name == "" {
		row, _ := lifecycle.Describe(b.Moment)
		name = row.Events[0].Name
	}
	failure := "allow"
	if b.OnFailure != "" {
		failure = string(b.OnFailure)
	}
	var body []string
	add := func(format string, args ...any) { body = append(body, fmt.Sprintf(format, args...)) }
	result := map[string]any{}
	if b.Say != "" {
		result["message"] = b.Say
	}
	if b.Notice != "" {
		result["notice"] = b.Notice
	}
	if b.Retry {
		result["retry"] = true
	}
	if b.Skip {
		result["skip"] = true
	}
	if b.Hang {
		add("import time")
		add("time.sleep(1000)")
	}
	if text := b.Panic + b.Error; text != "" {
		add("raise RuntimeError(%q)", text)
	}
	if b.Block != "" {
		add("return api.block(%q)", b.Block)
	}
	if b.Append != "" {
		add("return event + %q", b.Append)
	}
	data, _ := json.Marshal(result)
	add("import json")
	add("fields = json.loads(%q)", data)
	if b.Arguments != nil {
		args, _ := json.Marshal(b.Arguments)
		add("fields['arguments'] = {**event.arguments, **json.loads(%q)}", args)
	}
	add("return Result(**fields)")
	return fmt.Sprintf(
		"def register(api):\n    @api.on(%q, on_failure=%q)\n    def handle(event, ctx):\n        %s\n",
		name,
		failure,
		strings.Join(body, "\n        "),
	)
}
