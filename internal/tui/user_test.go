//go:build unix

package tui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// On a small terminal every line of a call can be seen, what [s] allows is shown, and
// so is every key.
func TestSmallApproval(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("echo line%02d", i))
	}
	s := open(t, map[string]string{
		provider:                       scripted,
		".aura/config/features/f.yaml": "tools: {policy: {confirm: [Bash]}}\n",
		"turns.yaml": "turns:\n  - calls: [{name: Bash, arguments: {command: \"" + strings.Join(
			lines,
			`\n`,
		) + "\"}}]\n  - text: Over.\n",
	}, setup{cols: 40, rows: 12})
	s.shows("say something", "code · script")
	s.types("go\r")
	s.shows("[y] once", "[s] session", "[p] pattern", "[n] deny", "Bash:")
	s.golden("approval-small")
	seen := map[string]bool{}
	note := func(text string) {
		for _, w := range regexp.MustCompile(`line\d\d`).FindAllString(text, -1) {
			seen[w] = true
		}
	}
	for {
		text := s.shows("of 12")
		note(strings.Split(text, "[y]")[0])
		at := regexp.MustCompile(`lines (\d+-\d+) of 12`).FindString(text)
		if strings.HasSuffix(strings.Fields(at)[1], "-12") {
			break
		}
		s.types("\x1b[6~") // PgDn.
		s.lacks(at)
	}
	for _, line := range lines {
		if w := strings.TrimPrefix(line, "echo "); !seen[w] {
			t.Errorf("%s was never shown", w)
		}
	}
	s.types("y")
	s.shows("Over.", "say something")
	s.types("\x04")
	s.leaves(0)
}

// HO-35: the pattern for a command of several lines allows this command and no other, also
// in the next session.
func TestApprovalOfLines(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		provider: scripted, ".aura/config/features/f.yaml": "tools: {policy: {confirm: [Bash]}}\n", "turns.yaml": `
turns:
  - calls: [{name: Bash, arguments: {command: "echo a\n\techo b"}}]
  - calls: [{name: Bash, arguments: {command: "echo a\n\techo b"}}]
  - calls: [{name: Bash, arguments: {command: "echo a echo b"}}]
  - expect: {last: ["denied by the user"]}
    text: Over.
`}
	s := open(t, files, setup{})
	s.idle("say something")
	s.types("go\r")
	s.shows("echo a", "[y] once", "Bash:=echo a⏎  echo b")
	s.types("p")
	s.shows("Bash:=echo a⏎  echo b", "in this project", "[b] back")
	s.types("b")
	s.shows("[y] once")
	s.types("p")
	s.shows("in this project")
	s.types("p")
	s.shows("echo a echo b", "[y] once") // The same command has run twice without a question in between.
	s.types("n")
	s.shows("reason (Enter for none)")
	s.types("\r")
	s.idle("Over.")
	s.types("\x04")
	s.leaves(0)
	rules, err := os.ReadFile(filepath.Join(s.dir, ".aura/config/rules/approvals.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files[".aura/config/rules/approvals.yaml"] = string(rules)
	files["turns.yaml"] = "turns:\n  - calls: [{name: Bash, arguments: {command: \"echo a\\n\\techo b\"}}]\n" +
		"  - {expect: {last: [a, b]}, text: Unasked.}\n"
	s = open(t, files, setup{})
	s.idle("say something")
	s.types("go\r")
	s.idle("Unasked.")
	s.types("\x04")
	s.leaves(0)
}

// Where several options can be chosen, nothing marked is no answer.
func TestNothingMarked(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - calls: [{name: Ask, arguments: {question: "Which?", options: [red, green, blue], multi_select: true}}]
  - expect: {last: [green]}
    text: Chosen.
`}, setup{})
	s.idle("say something")
	s.types("go\r")
	s.shows("1. [ ] red")
	s.types("\r")
	s.shows("nothing is marked")
	s.types("2")
	s.shows("2. [x] green")
	s.types("\r")
	s.idle("Chosen.")
	s.types("\x04")
	s.leaves(0)
}

// Ctrl+A goes to the beginning of the line; with nothing typed it switches auto mode,
// and says so.
func TestAutoKey(t *testing.T) {
	t.Parallel()
	s := open(
		t,
		map[string]string{provider: scripted, "turns.yaml": "turns: [{when: Xabc, text: At the front.}]\n"},
		setup{},
	)
	s.idle("say something")
	s.types("abc\x01X\r")
	text := s.idle("At the front.")
	if strings.Contains(text, "auto") {
		t.Errorf("auto mode was touched:\n%s", text)
	}
	s.types("\x01")
	s.idle("auto mode is on: calls run without your consent", "· auto ·")
	s.types("\x01")
	s.idle("auto mode is off")
	s.types("\x04")
	s.leaves(0)
}

// What was queued for a turn that was cancelled comes back one by one.
func TestQueueComesBack(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{provider: scripted, "turns.yaml": `
turns:
  - {text: "Half of an answer that takes very long", chunk: 5, chunk_delay: 10s}
  - {when: please do x, text: It is done.}
  - {when: last one, text: The very last.}
`}, setup{})
	s.idle("say something")
	s.types("go\r")
	s.shows("Half")
	s.types("/name mine\r")
	s.types("please do x\r")
	s.types("dropped\r")
	s.types("last one\r")
	s.shows("queued: /name mine", "queued: please do x", "queued: dropped")
	s.types("\x1b")
	s.idle("interrupted", "❯ /name mine", "held: please do x")
	s.types("\r")
	s.idle("❯ please do x", "held: dropped")
	s.types("\r")
	s.idle("It is done.", "❯ dropped", "held: last one")
	s.types("\x03") // Drops it.
	s.idle("❯ last one")
	s.lacks("held:")
	s.types("\r")
	s.idle("The very last.", "say something")
	s.types("/info\r")
	s.idle("mine")
	s.types("\x04")
	s.leaves(0)
}

// Leaving tells how to go on, if there is something to go on with.
func TestFarewell(t *testing.T) {
	t.Parallel()
	files := map[string]string{provider: scripted, "turns.yaml": "turns: [{text: hi there}]\n"}
	s := open(t, files, setup{})
	s.idle("say something")
	s.types("hello\r")
	s.idle("hi there")
	s.types("\x04")
	s.leaves(0)
	id := regexp.MustCompile(`aura --resume (\S+)`).FindStringSubmatch(s.raw.String())
	if id == nil {
		t.Fatal("nothing was said about the session")
	}
	again := open(t, nil, setup{dir: s.dir, args: []string{"--resume", id[1]}})
	again.idle("hi there")
	again.types("\x04")
	again.leaves(0)
	empty := open(t, files, setup{})
	empty.idle("say something")
	empty.types("\x04")
	empty.leaves(0)
	if strings.Contains(empty.raw.String(), "--resume") {
		t.Error("an empty session is offered")
	}
}

// A signal ends the interface also while an editor is open: that ends too, its file goes,
// and what was in it is in the history.
func TestSignalWhileEditing(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"term": syscall.SIGTERM, "hangup": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, map[string]string{
				provider:     scripted,
				"turns.yaml": "turns: [{text: hi}]\n",
				"editor.sh":  "printf ' and more' >> \"$1\"\nprintf 'editor''-runs'\nread x\n",
			}, setup{env: []string{"EDITOR=sh ./editor.sh"}})
			s.idle("say something")
			s.types("draft")
			s.shows("❯ draft")
			s.types("\x07") // Ctrl+G.
			s.shows("editor-runs")
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.leaves(128 + int(sig))
			if left, err := filepath.Glob(filepath.Join(s.dir, "aura-*.md")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if history, err := os.ReadFile(
				filepath.Join(s.dir, "home/.aura/history"),
			); err != nil ||
				!strings.Contains(string(history), "draft and more") {
				t.Errorf("history %q, %v", history, err)
			}
		})
	}
}

// A request that is sent again is no secret.
func TestRetryIsShown(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After-Ms", "300")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"slow down"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(
			w,
			"data: {\"choices\":[{\"delta\":{\"content\":\"At last.\"},\"finish_reason\":\"stop\"}]}\n\n"+
				"data: [DONE]\n\n",
		)
	}))
	t.Cleanup(server.Close)
	s := open(
		t,
		map[string]string{provider: "box: {type: openai, url: " + server.URL + ", token: x}\n"},
		setup{args: []string{"--model", "m"}},
	)
	s.idle("say something")
	s.types("hi\r")
	s.idle("retrying in 1s (box: rate limited (HTTP 429): slow down)", "At last.")
	s.types("\x04")
	s.leaves(0)
}

// The size of the context is the same before and after a short turn, and marked as long
// as nobody has counted.
func TestContextFigure(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider: scripted, "turns.yaml": "model: {context_length: 10000}\nturns: [{text: ok}]\n",
	}, setup{})
	figure := regexp.MustCompile(`ctx ~?(\d+)% of`)
	before := figure.FindStringSubmatch(s.idle("say something", "ctx ~"))
	s.types("hi\r")
	s.until(
		"counted",
		func(text string) bool { return strings.Contains(text, "· ↑") && !strings.Contains(text, "ctx ~") },
	)
	after := figure.FindStringSubmatch(s.idle("ok"))
	var a, b int
	if _, err := fmt.Sscan(before[1], &a); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(after[1], &b); err != nil {
		t.Fatal(err)
	}
	if b < a-1 || b > a+1 {
		t.Errorf("before %d%%, after %d%%", a, b)
	}
	s.types("\x04")
	s.leaves(0)
}

// A panic in a goroutine of a plugin is reported, and the interface goes on.
func TestPluginGoroutinePanics(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		provider:                          scripted,
		"turns.yaml":                      "turns: [{text: hello}, {text: again}]\n",
		".aura/plugins/greet/plugin.yaml": "name: greet\n",
		".aura/plugins/greet/go.mod":      "module greet\n\ngo 1.26\n",
		".aura/plugins/greet/main.go": strings.Replace(
			greetPlugin,
			`{ panic("boom") }`,
			`{ go func() { panic("boom") }(); return sdk.Result{}, nil }`,
			1,
		),
	}, setup{})
	s.idle("say something")
	s.types("one\r")
	s.idle("hello", "plugin greet: a goroutine that it started has ended: main.go:")
	s.types("two\r")
	s.idle("again")
	s.types("\x04")
	s.leaves(0)
}

// A session that cannot be resumed is an error, not another session.
func TestNoSuchSession(t *testing.T) {
	t.Parallel()
	s := open(
		t,
		map[string]string{provider: scripted, "turns.yaml": "turns: [{text: x}]\n"},
		setup{args: []string{"--resume", "nowhere"}},
	)
	s.leaves(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw := s.raw.String(); !strings.Contains(raw, `aura: session "nowhere"`) {
		t.Errorf("printed %q", raw)
	}
}
