package plain

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

// story is a run in which everything happens.
func story() []agent.Event {
	return []agent.Event{
		{Kind: agent.TurnStarted, Text: "fix it"},
		{Kind: agent.Injected, Source: `hook "go:fmt"`, Text: "run gofmt"},
		{Kind: agent.ThoughtDelta, Text: "\nLet me "},
		{Kind: agent.ThoughtDelta, Text: "think.\nFirst"},
		{Kind: agent.TextDelta, Text: "I will run "},
		{Kind: agent.TextDelta, Text: "the tests.\n\n"},
		{Kind: agent.Answered, Text: "I will run the tests.\n\n"},
		{Kind: agent.ToolStarted, Tool: "Read", CallID: "1", Args: map[string]any{"path": "main.go", "count": 3}},
		{Kind: agent.ToolFinished, Tool: "Read", CallID: "1", Text: "package main", Duration: 12 * time.Millisecond},
		{Kind: agent.ToolStarted, Tool: "Bash", CallID: "2", Args: map[string]any{"command": "go test ./...\ngo vet"}},
		{Kind: agent.ToolOutput, Tool: "Bash", CallID: "2", Text: "ok  a\nok"},
		{Kind: agent.ToolOutput, Tool: "Bash", CallID: "2", Text: "  b\n\x1b[31mred\x1b[0m\n4\n5\n6\n7\nend"},
		{
			Kind:     agent.ToolFinished,
			Tool:     "Bash",
			CallID:   "2",
			Text:     "ok  a\n…\n\nError: exit status 1",
			Failed:   true,
			Duration: 1234 * time.Millisecond,
		},
		{Kind: agent.Noticed, Source: `plugin "x"`, Text: "watch out\nsecond line"},
		{
			Kind:   agent.ToolFinished,
			Tool:   "Bash",
			CallID: "3",
			Args:   map[string]any{"command": "rm -rf /"},
			Text:   "denied by the user: no",
			Failed: true,
		},
		{
			Kind:   agent.ToolStarted,
			Tool:   "Task",
			CallID: "4",
			Args:   map[string]any{"description": "review", "prompt": "look"},
		},
		{Kind: agent.TurnStarted, Agent: "review", Text: "look"},
		{Kind: agent.TextDelta, Agent: "review", Text: "never on stdout"},
		{Kind: agent.ThoughtDelta, Agent: "review", Text: "hidden"},
		{Kind: agent.ToolStarted, Agent: "review", Tool: "Read", CallID: "1", Args: map[string]any{"path": "a.go"}},
		{Kind: agent.ToolFinished, Agent: "review", Tool: "Read", CallID: "1", Duration: time.Second},
		{Kind: agent.Answered, Agent: "review", Text: "never on stdout\nbut here"},
		{Kind: agent.TurnEnded, Agent: "review", Duration: time.Second},
		{Kind: agent.ToolFinished, Tool: "Task", CallID: "4", Text: "fine", Duration: 65 * time.Second},
		{Kind: agent.ToolStarted, Tool: "Glob", CallID: "5", Args: map[string]any{"pattern": "*.go"}},
		{Kind: agent.ToolStarted, Tool: "Todo", CallID: "6", Args: map[string]any{"items": []any{"a", 1}, "all": true}},
		{Kind: agent.ToolFinished, Tool: "Glob", CallID: "5", Duration: time.Millisecond},
		{Kind: agent.ToolFinished, Tool: "Todo", CallID: "6", Duration: time.Millisecond},
		{Kind: agent.Compacted, Text: "compacted 20 messages into 3"},
		{Kind: agent.TextDelta, Text: "The answ"},
		{Kind: agent.Restarted, Text: "retry 1 of 3"},
		{Kind: agent.Switched, Text: "backup", Source: "failover"},
		{Kind: agent.TextDelta, Text: "The answer\n"},
		{Kind: agent.Noticed, Source: `extension "y"`, Text: "in the middle"},
		{Kind: agent.TextDelta, Text: "\nis <42> & \x1b[2J\x1b]0;title\x07so on.\n"},
		{Kind: agent.Answered, Text: "The answer\n\nis…"},
		{Kind: agent.TurnEnded, Duration: 2500 * time.Millisecond, Usage: &provider.Usage{Input: 1200, Output: 34}},
	}
}

func tell(p Output, events []agent.Event) {
	for _, e := range events {
		p.Observe(e)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs. got:\n%s\nwant:\n%s", name, got, want)
	}
}

// HO-53: notices are shown, apart from the answer. HO-45: thinking only when verbose.
func TestText(t *testing.T) {
	for _, tt := range []struct {
		name            string
		verbose, colour bool
		terminal        bool
	}{
		{name: "pipes"},
		{name: "pipes_verbose", verbose: true},
		{name: "terminal", terminal: true},
		{name: "terminal_colour", terminal: true, colour: true},
		{name: "terminal_colour_verbose", terminal: true, colour: true, verbose: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := func(name string) string {
				if name == "FORCE_COLOR" && tt.colour {
					return "1"
				}
				return ""
			}
			o := PrinterOptions{Env: env, Verbose: tt.verbose, Terminal: func(io.Writer) bool { return tt.terminal }}
			var out, err bytes.Buffer
			o.Out, o.Err = &out, &err
			if tt.terminal { // Both streams on one screen.
				o.Out = &err
			}
			p := NewPrinter(o)
			tell(p, story())
			if e := p.Finish(Outcome{Err: errors.New("maximum steps exceeded")}); e != nil {
				t.Error(e)
			}
			text := err.String()
			if !tt.terminal {
				text = "--- stdout\n" + out.String() + "--- stderr\n" + err.String()
			}
			golden(t, tt.name, text)
			if !tt.colour && strings.Contains(err.String(), "\x1b") {
				t.Error("escape codes without colours")
			}
			for _, hidden := range []string{"think.", "gofmt"} {
				if strings.Contains(text, hidden) != tt.verbose {
					t.Errorf("%q shown: %v", hidden, !tt.verbose)
				}
			}
			if strings.Contains(text, "\x1b[2J") == tt.terminal {
				t.Error("the answer must be verbatim on a pipe and harmless on a terminal")
			}
		})
	}
}

func TestAnswerEndsWithOneNewline(t *testing.T) {
	for in, want := range map[string]string{"a": "a\n", "a\n": "a\n", "a\n\n\n": "a\n", "a\n\nb": "a\n\nb\n", "": "", "\n": ""} {
		for size := 1; size <= 3; size++ {
			var out bytes.Buffer
			p := NewPrinter(PrinterOptions{Out: &out, Err: io.Discard})
			for i := 0; i < len(in); i += size {
				p.Observe(agent.Event{Kind: agent.TextDelta, Text: in[i:min(i+size, len(in))]})
			}
			p.Observe(agent.Event{Kind: agent.Answered, Text: in})
			p.Observe(agent.Event{Kind: agent.TurnEnded})
			if err := p.Finish(Outcome{}); err != nil {
				t.Error(err)
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d: %q", in, size, out.String())
			}
		}
	}
}

func TestAnswerWithoutStream(t *testing.T) {
	var out bytes.Buffer
	p := NewPrinter(PrinterOptions{Out: &out, Err: io.Discard})
	p.Observe(agent.Event{Kind: agent.Answered, Text: "whole"})
	if out.String() != "whole\n" {
		t.Errorf("got %q", out.String())
	}
}

// writes counts writes.
type writes struct {
	bytes.Buffer
	n int
}

func (w *writes) Write(b []byte) (int, error) {
	w.n++
	return w.Buffer.Write(b)
}

func TestStreamingIsVisibleAndCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out writes
		p := NewPrinter(PrinterOptions{Out: &out, Err: io.Discard})
		for range 2000 {
			p.Observe(agent.Event{Kind: agent.TextDelta, Text: "x"})
		}
		p.mu.Lock()
		if out.n > 1 {
			t.Errorf("%d writes for a burst", out.n)
		}
		p.mu.Unlock()
		time.Sleep(2 * maxPending) // Of the bubble's clock.
		synctest.Wait()
		p.mu.Lock()
		if out.Len() != 2000 {
			t.Errorf("%d of 2000 pieces are visible", out.Len())
		}
		p.mu.Unlock()
		p.Observe(agent.Event{Kind: agent.TextDelta, Text: "y"})
		if err := p.Finish(Outcome{}); err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(out.String(), "xy\n") {
			t.Errorf("ends with %q", out.String()[out.Len()-3:])
		}
	})
}

func TestPause(t *testing.T) {
	var screen bytes.Buffer
	p := NewPrinter(PrinterOptions{Out: &screen, Err: &screen})
	p.Observe(agent.Event{Kind: agent.ToolStarted, Tool: "Bash", CallID: "1", Args: map[string]any{"command": "ls"}})
	resume := p.Pause()
	inner := p.Pause()
	screen.WriteString("question\n")
	p.Observe(agent.Event{Kind: agent.Noticed, Text: "later"})
	p.Observe(agent.Event{Kind: agent.ToolFinished, Tool: "Bash", CallID: "1", Duration: time.Second})
	inner()
	inner()
	if got := screen.String(); got != "• Bash ls\nquestion\n" {
		t.Errorf("while paused: %q", got)
	}
	resume()
	if got, want := screen.String(), "• Bash ls\nquestion\n! later\n  Bash ls (1.0s)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBrokenOutputIsReported(t *testing.T) {
	for _, format := range Formats() {
		o, err := NewOutput(format, PrinterOptions{Out: brokenPipe{}, Err: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		tell(o, story())
		if err := o.Finish(Outcome{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if _, err := NewOutput(
		"yaml",
		PrinterOptions{},
	); err == nil ||
		!strings.Contains(err.Error(), "text, json, stream-json") {
		t.Errorf("unknown format: %v", err)
	}
}

func BenchmarkDeltas(b *testing.B) {
	p := NewPrinter(PrinterOptions{Out: io.Discard, Err: io.Discard, Terminal: func(io.Writer) bool { return true }})
	for i := range b.N {
		p.Observe(agent.Event{Kind: agent.TextDelta, Text: fmt.Sprint("word ", i)})
	}
	if err := p.Finish(Outcome{}); err != nil {
		b.Error(err)
	}
}

// A request that is sent again is shown where somebody waits.
func TestRetry(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var out, errs bytes.Buffer
		p := NewPrinter(PrinterOptions{
			Out:      &out,
			Err:      &errs,
			Env:      func(string) string { return "" },
			Terminal: func(io.Writer) bool { return terminal },
		})
		p.Observe(
			agent.Event{
				Kind:     agent.Retrying,
				Text:     "box: rate limited (HTTP 429): slow down",
				Duration: 1600 * time.Millisecond,
			},
		)
		want := ""
		if terminal {
			want = "~ retrying in 2s (box: rate limited (HTTP 429): slow down)\n"
		}
		if errs.String() != want || out.Len() > 0 {
			t.Errorf("terminal %v: %q, %q", terminal, errs.String(), out.String())
		}
	}
}
