//go:build unix

package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const greetPlugin = `package greet

import (
	"context"
	"github.com/idelchi/aura/sdk"
)

func Command() sdk.CommandSchema {
	return sdk.CommandSchema{Name: "greet", Description: "Greets somebody", Hints: []string{"name", "tone"}}
}

func ExecuteCommand(_ context.Context, args string, _ sdk.Context) (sdk.CommandResult, error) {
	return sdk.CommandResult{Output: "Greetings, " + args}, nil
}

func BeforeChat(_ context.Context, _ sdk.BeforeChatContext) (sdk.Result, error) { panic("boom") }
`

// PC-10 HO-53: the menu of commands, hints and panics of plugins as ghost text, help with search, files.
func TestMenus(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider:                          scripted,
		"turns.yaml":                      "turns: [{text: hello}]\n",
		"src/alpha.go":                    "",
		"src/beta.go":                     "",
		".aura/plugins/greet/plugin.yaml": "name: greet\n",
		".aura/plugins/greet/go.mod":      "module greet\n\ngo 1.26\n",
		".aura/plugins/greet/main.go":     greetPlugin,
	}, setup{})
	s.idle("say something")
	s.types("/g")
	s.shows("/greet", "Greets somebody")
	s.types("\x7f") // Backspace: all commands.
	s.shows("/info")
	s.golden("menu")
	s.types("gre\t")
	s.shows("/greet [name] [tone]")
	s.types("Ann ")
	s.shows("/greet Ann [tone]")
	s.types("\r")
	s.idle("Greetings, Ann")
	s.types("look at @bet")
	s.shows("src/beta.go")
	s.types("\t")
	s.shows("look at src/beta.go")
	s.types("\x15") // Ctrl+U.
	s.types("/help\r")
	s.shows("Help: commands and keys")
	s.golden("help")
	s.types("scroll")
	s.shows("PgUp, PgDn, wheel")
	s.types("\x1b")
	s.idle("say something")
	s.types("hi\r")
	s.idle(`plugin "greet": plugin hook "greet/BeforeChat" failed: plugin panic: boom`, "hello")
	s.golden("plugin-panic")
	s.types("\x04")
	s.leaves(0)
}

// PT-96: the keys that switch agent, mode, auto and sandbox.
func TestSwitches(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider: scripted, "turns.yaml": "turns: [{text: hello}]\n",
		".aura/config/agents/alpha.md":  "---\nname: alpha\ndescription: The first\n---\nYou are first.\n",
		".aura/config/agents/review.md": "---\nname: review\ndescription: Reviews\n---\nYou review.\n",
	}, setup{})
	s.idle(" alpha · ")
	s.types("\x1b[Z") // Shift+Tab.
	s.idle("(cycle)")
	s.types("\x1b[Z")
	s.types("\t")
	s.until("a mode", func(text string) bool { return regexp.MustCompile(`(?m)^ \w+:\w+ · `).MatchString(text) })
	s.types("\x01")
	s.idle("· auto ·")
	s.types("\x13")
	s.until("sandbox on", func(text string) bool {
		return strings.Contains(text, "sandbox enforced") || strings.Contains(text, "not enforced")
	})
	s.types("/agent\r")
	s.shows("Agents", "review")
	s.types("rev\r")
	s.idle("agent: review")
	s.types("/mode\r")
	s.shows("Modes", "none")
	s.types("none\r")
	s.idle("mode: none")
	s.types("/model\r")
	s.shows("Models")
	s.types("\x1b")
	s.idle("say something")
	s.types("\x04")
	s.leaves(0)
}

// What handlers did is visible at the call, and /why explains it.
func TestTouched(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider: scripted, "turns.yaml": `
turns:
  - calls: [{name: Write, arguments: {path: change.txt, content: "x\n"}}]
  - calls: [{name: Bash, arguments: {command: git push}}]
  - calls: [{name: Bash, arguments: {command: echo hunter2}}]
  - text: fine
`, ".aura/config/hooks/h.yaml": `
change: {event: pre, files: change.txt, command: 'echo ''{"updated_input": {"content": "changed\n"}}'''}
friday: {event: pre, matcher: Bash, command: 'if grep -q "git push"; then echo "no pushing on Fridays" >&2; exit 2; fi'}
redact: {event: post, matcher: Bash, command: 'echo ''{"updated_output": "[redacted]"}'''}
`}, setup{rows: 30, cols: 80})
	s.idle("say something")
	s.types("go\r")
	s.idle("fine", `rewritten by hook "change"`, `blocked by hook "friday"`, "[redacted]")
	s.golden("touched")
	s.types("/why\r")
	s.idle(`hook "redact" changed the result of Bash`)
	s.types("/trace\r")
	s.idle("before_tool_execution")
	s.types("\x04")
	s.leaves(0)
}

// The screen stays whole when its size changes, and in a very small one.
func TestResize(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns: [{text: "Words that are broken at the edge of the screen, wherever that may be, and 日本語のとても長い文章もちゃんと折り返されるはずです。"}]
`}, setup{})
	s.idle("say something")
	s.types("hi\r")
	s.idle("Words that")
	s.size(40, 14)
	s.until(
		"narrow",
		func(text string) bool { return strings.Contains(text, "Words that are broken at the edge of\n") },
	)
	s.golden("narrow")
	s.size(6, 3)
	s.until("tiny", func(text string) bool { return !strings.Contains(text, "Words") })
	s.size(120, 30)
	s.idle("Words that are broken at the edge of the screen, wherever that may be")
	s.golden("wide")
	s.types("\x04")
	s.leaves(0)
}

// Five megabytes of output: the last lines are shown, keys still work, all of it can be looked at.
func TestFlood(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - calls: [{name: Bash, arguments: {command: "seq -f 'line number %.0f of very many' 1 160000"}}]
  - text: That was much.
`}, setup{})
	s.idle("say something")
	s.types("go\r")
	s.idle("That was much.", "of very many")
	s.golden("flood")
	s.types("\x0f")
	s.until("opened", func(text string) bool { return strings.Count(text, "line number") > 5 })
	s.types("\x1b[5~\x1b[5~\x1b[5~") // PgUp.
	s.shows("scrolled up")
	s.types("\x1b[6~\x1b[6~\x1b[6~\x1b[6~") // PgDn.
	s.lacks("scrolled up")
	s.types("\x1b[<64;10;5M") // The wheel.
	s.shows("scrolled up")
	s.types("\x1b[<0;10;2M\x1b[<0;10;2m") // A click folds the block again.
	s.until("folded", func(text string) bool { return strings.Count(text, "line number") < 5 })
	s.types("\x06That was\r") // Ctrl+F.
	s.shows("search: That was", "That was much.")
	s.types("\x1b")
	s.lacks("search:")
	s.types("still here")
	s.shows("❯ still here")
	s.types("\x03")
	s.shows("say something")
	s.types("\x04")
	s.leaves(0)
}

// Editing: several lines, history, a folded paste, the external editor.
func TestEditing(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider: scripted, "editor.sh": "#!/bin/sh\nprintf ' and more' >> \"$1\"\n",
		"turns.yaml": `
turns:
  - {when: "one\ntwo", text: Both lines.}
  - {when: "row 12", text: The paste came.}
  - {when: "draft and more", text: Edited.}
`}, setup{env: []string{"EDITOR=sh ./editor.sh"}})
	s.idle("say something")
	s.types("one\\\rtwo\r")
	s.idle("Both lines.")
	s.types("\x1b[A") // Up.
	s.shows("❯ one\n  two")
	s.types("\x1b[A\x1b[B\x1b[B\x03")
	s.shows("say something")
	var rows []string
	for i := range 12 {
		rows = append(rows, fmt.Sprintf("row %d", i+1))
	}
	s.types("\x1b[200~" + strings.Join(rows, "\r") + "\x1b[201~")
	s.shows("[paste 1: 12 lines]")
	s.types("\r")
	s.idle("The paste came.")
	s.types("draft")
	s.shows("❯ draft")
	s.types("\x18\x05") // Ctrl+X Ctrl+E.
	s.shows("draft and more")
	s.types("\r")
	s.idle("Edited.")
	s.types("\x1bc") // Alt+C.
	s.shows("copied the last answer")
	s.types("\x12pas") // Ctrl+R.
	s.shows("What you typed before", "nothing matches")
	s.types("\x1b")
	s.idle("say something")
	s.types("\x04")
	s.leaves(0)
	if !strings.Contains(s.raw.String(), "\x1b]52;c;RWRpdGVkLg==") {
		t.Error("nothing was copied")
	}
	if history, err := os.ReadFile(
		filepath.Join(s.dir, "home/.aura/history"),
	); err != nil ||
		!strings.Contains(string(history), `one\ntwo`) {
		t.Errorf("history %q, %v", history, err)
	}
}

// A session is picked from a list and shown as it was.
func TestResume(t *testing.T) {
	t.Parallel()
	files := map[string]string{provider: scripted, "turns.yaml": `
turns:
  - {when: remember, calls: [{name: Bash, arguments: {command: echo out}}], repeat: 1}
  - {when: remember, text: "It is **remembered**."}
  - {text: New one.}
`}
	s := open(t, files, setup{})
	s.idle("say something")
	s.types("remember\r")
	s.idle("It is remembered.")
	s.types("/fork\r")
	s.idle("forked")
	s.types("/clear\r")
	s.lacks("It is remembered.")
	s.types("/resume\r")
	s.shows("Sessions", "remember")
	s.golden("sessions")
	s.types("\x1b[B\r") // The second one.
	s.idle("It is remembered.", "● Bash echo out", "say something")
	s.types("\x04")
	s.leaves(0)
	again := open(t, nil, setup{dir: s.dir, args: []string{"--continue"}})
	again.idle("It is remembered.", "● Bash echo out", "say something")
	again.types("\x04")
	again.leaves(0)
}

// The handler that runs is named.
func TestHandlerIsNamed(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider: scripted, "turns.yaml": "turns: [{text: hello}]\n",
		".aura/config/hooks/h.yaml": "slow: {event: before_chat, command: 'while [ ! -e go ]; do sleep 0.02; done'}\n",
	}, setup{})
	s.idle("say something")
	s.types("hi\r")
	s.shows(`hook "slow"`)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.idle("hello")
	s.types("\x04")
	s.leaves(0)
}

// What a sub-agent does is shown beside it, indented.
func TestSubagent(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - when: main
    repeat: 1
    calls: [{name: Task, arguments: {description: look, prompt: sub}}]
  - when: sub
    repeat: 1
    calls: [{name: Bash, arguments: {command: echo below}}]
  - when: sub
    repeat: 1
    text: Sub answer.
  - when: main
    text: Main answer.
`}, setup{})
	s.idle("say something")
	s.types("main\r")
	s.idle("Main answer.", "│ ● Bash echo below")
	s.golden("subagent")
	s.types("\x04")
	s.leaves(0)
}

// NO_COLOR, and a terminal with sixteen colours.
func TestColours(t *testing.T) {
	t.Parallel()
	colour := regexp.MustCompile("\x1b\\[[0-9;:]*(3[0-9]|4[0-9]|9[0-7])[0-9;:]*m")
	many := regexp.MustCompile("\x1b\\[[0-9;:]*[34]8[;:][0-9;:]*m")
	for name, env := range map[string][]string{
		"none": {"NO_COLOR=1"}, "sixteen": {"TERM=xterm", "COLORTERM="}, "true": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(
				t,
				map[string]string{
					provider:     scripted,
					"turns.yaml": "turns: [{text: \"# Title\\n\\n```python\\nprint('x')\\n```\"}]\n",
				},
				setup{env: env},
			)
			s.idle("say something")
			s.types("hi\r")
			s.idle("print('x')")
			s.types("\x04")
			s.leaves(0)
			raw := s.raw.String()
			if got := colour.FindString(raw); (got == "") != (name == "none") {
				t.Errorf("colours: %q", got)
			}
			if got := many.FindString(raw); got != "" {
				t.Errorf("more than sixteen colours: %q", got)
			}
		})
	}
}

// What the model streams is shown without delay and at bounded cost, however small
// the pieces.
func TestStream(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": "turns:\n  - chunk: 16\n    text: |\n" +
		strings.Repeat("      A line of an answer that goes on and on.\n\n", 20000) + "      The very end.\n"}, setup{})
	s.idle("say something")
	begin := time.Now()
	s.types("hi\r")
	s.idle("The very end.")
	t.Logf("2 MB in pieces of 16 bytes: %s", time.Since(begin).Round(time.Millisecond))
	s.types("\x04")
	s.leaves(0)
}

// BenchmarkTerminal is the time from a key to the screen of a terminal, at sixty
// frames per second, with 5 MB of output in the transcript.
func BenchmarkTerminal(b *testing.B) {
	s := open(b, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - calls: [{name: Bash, arguments: {command: "seq -f 'line number %.0f of very many' 1 160000"}}]
  - text: That was much.
`}, setup{})
	s.idle("say something")
	s.types("go\r")
	s.idle("That was much.")
	b.ResetTimer()
	for i := range b.N {
		if i%2 == 0 {
			s.types("x")
			s.shows("❯ x")
		} else {
			s.types("\x7f")
			s.shows("say something")
		}
	}
}
