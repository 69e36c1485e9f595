//go:build unix

package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// HO-01: a conversation with Markdown, code and thinking.
func TestConversation(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - thinking: "Let me see.\nIt is a greeting."
    text: |
      # Hello

      This is **bold**, *slanted* and ` + "`code`" + `, in a paragraph that is long enough to be broken at the edge of the screen.

      - one
      - two with [a link](https://example.com)
      - [x] ~~three~~ done, ~4 left
      - [ ] open

      1. first
      2. second

      | name | size |
      |------|------|
      | a    | 1 |
      | 日本語 | 22 |

      ` + "```go" + `
      func main() {
      	fmt.Println("hi") // greet
      }
      ` + "```" + `

      > quoted
`}, setup{rows: 40, cols: 80})
	s.idle("say something")
	s.golden("start")
	s.types("howdy 日本\r")
	s.idle("quoted")
	s.golden("answer")
	s.types("\x14") // Ctrl+T.
	s.idle("It is a greeting.")
	s.types("\x04")
	s.leaves(0)
}

// Tool calls: output, a change as a diff, a failure, folding.
func TestTools(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "a.txt": "one\ntwo\nthree\n", "turns.yaml": `
turns:
  - calls: [{name: Read, arguments: {path: a.txt}}]
  - calls: [{name: Edit, arguments: {file_path: a.txt, old_string: two, new_string: "zwei\nzweieinhalb"}}]
  - calls: [{name: Write, arguments: {path: b.txt, content: "new\nfile\n"}}]
  - calls: [{name: Bash, arguments: {command: "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done"}}]
  - calls: [{name: Bash, arguments: {command: "echo oops >&2; exit 3"}}]
  - text: All done.
`}, setup{rows: 44, cols: 80})
	s.idle("say something")
	s.types("go\r")
	s.idle("All done.")
	s.golden("tools")
	s.types("\x0f") // Ctrl+O opens the lowest that is folded.
	s.idle("line 2")
	s.types("\x0f")
	s.lacks("line 2")
	s.types("\x04")
	s.leaves(0)
}

const asking = `
turns:
  - calls: [{name: Bash, arguments: {command: echo yes > allowed}}]
  - calls: [{name: Bash, arguments: {command: echo no > denied}}]
  - expect: {last: ["denied by the user: too risky"]}
    calls: [{name: Bash, arguments: {command: echo pattern > patterned}}]
  - calls: [{name: Write, arguments: {path: a.txt, content: "one\nTWO\nthree\n"}}]
  - calls: [{name: Ask, arguments: {question: "Which colour?", options: [red, green]}}]
  - expect: {last: [green]}
    calls: [{name: Ask, arguments: {question: "And why?"}}]
  - expect: {last: [because]}
    text: All asked.
`

// HO-35: calls that need consent are put to the user, and so are questions of the model.
func TestQuestions(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider:                       scripted,
		".aura/config/features/f.yaml": "tools: {policy: {confirm: [Bash, Write]}, read_before: {write: false}}\n",
		"a.txt":                        "one\ntwo\nthree\n",
		"turns.yaml":                   asking,
	}, setup{})
	s.idle("say something")
	s.types("go\r")
	s.shows("echo yes > allowed", "[y] once")
	s.golden("approval")
	s.types("y")
	s.shows("echo no > denied", "[y] once")
	s.types("n")
	s.shows("reason (Enter for none)")
	s.types("too risky\r")
	s.shows("echo pattern > patterned", "[y] once")
	s.types("p")
	s.shows("allow always: Bash:echo")
	s.types("\r")
	s.shows("in this project")
	s.types("p")
	s.shows("-two", "+TWO", "[y] once")
	s.golden("approval-diff")
	s.types("s")
	s.shows("Which colour?", "1. red")
	s.golden("ask")
	s.types("2")
	s.shows("And why?")
	s.types("because\r")
	s.idle("All asked.")
	s.types("\x04")
	s.leaves(0)
	for name, want := range map[string]bool{"allowed": true, "denied": false, "patterned": true} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rules, err := os.ReadFile(
		filepath.Join(s.dir, ".aura/config/rules/approvals.yaml"),
	); err != nil ||
		!strings.Contains(string(rules), "Bash:echo") {
		t.Errorf("approvals: %s, %v", rules, err)
	}
}

// HO-64: Esc and Ctrl+C cancel a turn in mid-stream; twice in a row Ctrl+C quits.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - {text: "Half of an answer that never comes to its end because it is far too slow for that", chunk: 5, chunk_delay: 300ms}
  - {text: Whole., when: second}
  - calls: [{name: Bash, arguments: {command: "echo begun; sleep 100"}}]
  - {text: After.}
`}, setup{})
	s.idle("say something")
	s.types("first\r")
	s.shows("Half")
	s.types("later\r") // Queued.
	s.shows("queued: later")
	s.types("\x1b")
	s.idle("interrupted", "❯ later") // What was queued comes back.
	s.types("\x03")                  // Clears the input.
	s.shows("say something")
	s.types("second\r")
	s.idle("Whole.")
	s.types("third\r")
	s.shows("begun")
	s.types("\x03")
	s.until("two interruptions", func(text string) bool { return strings.Count(text, "interrupted") == 2 })
	s.idle("say something")
	s.types("\x03")
	s.shows("again to quit")
	s.types("\x03")
	s.leaves(0)
}

// What is queued is sent when the turn has ended.
func TestQueue(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - {when: first, text: "A slow answer with quite some words in it.", chunk: 5, chunk_delay: 50ms}
  - {when: second, text: Second answer.}
`}, setup{})
	s.idle("say something")
	s.types("first\r")
	s.shows("A slow")
	s.types("second\r")
	s.idle("words in it.", "Second answer.")
	s.types("\x04")
	s.leaves(0)
}

// The terminal is as it was after SIGTERM, also in the middle of a turn.
func TestTerminate(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns: [{text: "Half of an answer that takes very long", chunk: 5, chunk_delay: 10s}]
`}, setup{})
	s.idle("say something")
	s.types("go\r")
	s.shows("Half")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.leaves(128 + int(syscall.SIGTERM))
	log, err := filepath.Glob(filepath.Join(s.dir, ".aura/sessions/*.jsonl"))
	if err != nil || len(log) != 1 {
		t.Errorf("sessions: %v, %v", log, err)
	}
}

// The terminal is as it was after a panic, nothing is left behind, and the panic is
// raised again.
func TestPanic(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{"\x1b[24~": "a bug in the interface", "explode\r": "a bug in the session"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := open(
				t,
				map[string]string{provider: scripted, "turns.yaml": "turns: [{text: hi}]\n"},
				setup{child: "crash"},
			)
			s.idle("say something")
			s.types(keys) // F12 is the first.
			s.leaves(1)
			s.mu.Lock()
			defer s.mu.Unlock()
			if !strings.Contains(s.raw.String(), "panic: "+want) {
				t.Error("the panic is not reported")
			}
		})
	}
}

// Nothing is left behind when the interface ends.
func TestNoLeak(t *testing.T) {
	t.Parallel()
	s := open(
		t,
		map[string]string{provider: scripted, "turns.yaml": "turns: [{text: hi there}]\n"},
		setup{child: "crash"},
	)
	s.idle("say something")
	s.types("hello\r")
	s.idle("hi there")
	s.types("\x04")
	s.leaves(0)
}
