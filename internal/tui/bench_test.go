package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/agent"
	"github.com/idelchi/aura/internal/render"
	"github.com/idelchi/aura/internal/width"
)

// bare is an interface without a session and without a terminal.
func bare(width, height int) *model {
	m := newModel(New(Options{In: strings.NewReader(""), Env: []string{}}), "")
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.state = state{agent: "code", model: "m", usage: usage{window: 100}}
	return m
}

// feedEvents shows events as a session reports them.
func feedEvents(m *model, list ...agent.Event) {
	items := make([]item, len(list))
	for i, e := range list {
		items[i] = item{event: e}
	}
	m.Update(batch{items: items})
}

// fill fills the transcript: n turns with an answer and a call each, and one call
// with size bytes of output.
func fill(m *model, n, size int) {
	for i := range n {
		id := fmt.Sprint(i)
		feedEvents(
			m,
			agent.Event{Kind: agent.TurnStarted, Text: "question " + id},
			agent.Event{Kind: agent.ToolStarted, Tool: "Bash", CallID: id, Args: map[string]any{"command": "make"}},
			agent.Event{Kind: agent.ToolFinished, Tool: "Bash", CallID: id, Text: strings.Repeat("output\n", 20)},
			agent.Event{
				Kind: agent.TextDelta,
				Text: "An **answer** with\n\n- a list\n- of things\n\n```python\nprint('and code')\n```\n",
			},
			agent.Event{Kind: agent.Answered},
			agent.Event{Kind: agent.TurnEnded},
		)
	}
	feedEvents(
		m,
		agent.Event{Kind: agent.ToolStarted, Tool: "Bash", CallID: "big", Args: map[string]any{"command": "flood"}},
	)
	line := strings.Repeat("x", 59) + "\n"
	for range size / len(line) / 100 {
		feedEvents(m, agent.Event{Kind: agent.ToolOutput, Tool: "Bash", CallID: "big", Text: strings.Repeat(line, 100)})
	}
}

// press is one key and the frame after it.
func press(m *model, k tea.Key) int {
	m.Update(tea.KeyPressMsg(k))
	return len(m.View().Content)
}

// BenchmarkKey is the time from a key to its frame, with 2000 messages of history
// and 5 MB of output. A frame of a screen lasts 16 ms.
func BenchmarkKey(b *testing.B) {
	letter := tea.Key{Code: 'x', Text: "x"}
	back := tea.Key{Code: tea.KeyBackspace}
	up, down := tea.Key{Code: tea.KeyPgUp}, tea.Key{Code: tea.KeyPgDown}
	open := tea.Key{Code: 'o', Mod: tea.ModCtrl}
	for _, c := range []struct {
		name string
		keys []tea.Key
	}{
		{"letter", []tea.Key{letter, back}}, {"scroll", []tea.Key{up, down}}, {"open", []tea.Key{open, open}},
		{"scroll-open", []tea.Key{open, up, up, up, down, down, down, open}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := bare(120, 40)
			fill(m, 1000, 5<<20)
			m.View()
			b.ResetTimer()
			for i := range b.N {
				press(m, c.keys[i%len(c.keys)])
			}
		})
	}
}

// BenchmarkResize is the time to draw everything visible anew.
func BenchmarkResize(b *testing.B) {
	m := bare(120, 40)
	fill(m, 1000, 5<<20)
	for i := range b.N {
		m.Update(tea.WindowSizeMsg{Width: 80 + i%40, Height: 40})
		m.View()
	}
}

// BenchmarkStream is the time of 2 MB of an answer in pieces of 16 bytes, with a frame
// after every 4 KB.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("Words of an answer, with `code` and **more**.\n\n", 45000)
	for range b.N {
		m := bare(120, 40)
		for at := 0; at < len(text); {
			var f feed = newFeed()
			for range 256 {
				end := min(at+16, len(text))
				f.push(item{event: agent.Event{Kind: agent.TextDelta, Text: text[at:end]}})
				if at = end; at == len(text) {
					break
				}
			}
			m.Update(f.take())
			m.View()
		}
	}
	b.SetBytes(int64(len(text)))
}

// BenchmarkCode is the frame of a code block that grows.
func BenchmarkCode(b *testing.B) {
	m := bare(120, 40)
	feedEvents(m, agent.Event{Kind: agent.TextDelta, Text: "```python\n"})
	for range b.N {
		feedEvents(m, agent.Event{Kind: agent.TextDelta, Text: "    value = compute('x', 42)  # a comment\n"})
		m.View()
	}
}

// Nothing that is drawn is wider than the screen or of another height, whatever its
// size and whatever is shown.
func TestFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {1, 1}, {3, 2}, {10, 5}, {39, 7}, {200, 60}} {
		m := bare(size[0], size[1])
		fill(m, 3, 10_000)
		feedEvents(
			m,
			agent.Event{Kind: agent.ThoughtDelta, Text: "日本語 thinking"},
			agent.Event{
				Kind: agent.TextDelta,
				Text: "| a | b |\n|---|---|\n| 日本語日本語日本語 | " + strings.Repeat(
					"wide ",
					40,
				) + "|\n\n> - quoted\n>   1. list\n\n~~~\ncode\x1b[31m\n~~~\n",
			},
			agent.Event{Kind: agent.Noticed, Source: "plugin", Text: strings.Repeat("notice ", 50)},
			agent.Event{Kind: agent.Injected, Agent: "sub", Text: "for a sub-agent"},
		)
		checks := map[string]func(){
			"transcript": func() {},
			"input":      func() { m.input.Insert(strings.Repeat("typed 日本 ", 30)) },
			"menu":       func() { m.input.Set("/"); m.lists.commands = nil; m.complete() },
			"help":       m.help,
			"approval": func() {
				m.pick = nil
				m.asks = []*question{
					newApproval(
						agent.Approval{Tool: "Bash", Agent: "a"},
						[]render.Line{{Text: strings.Repeat("long ", 60)}, {Text: "+more", Kind: render.Added}},
						"Bash:x",
					),
				}
			},
			"search": func() { m.asks = nil; m.find = &finder{field: oneLine()} },
		}
		for _, name := range []string{"transcript", "input", "menu", "help", "approval", "search"} {
			checks[name]()
			rows := strings.Split(m.View().Content, "\n")
			if len(rows) != size[1] {
				t.Errorf("%v, %s: %d rows", size, name, len(rows))
			}
			for _, row := range rows {
				if w := width.OfStyled(row); w > size[0] && size[0] >= 39 {
					t.Errorf("%v, %s: row of %d cells: %q", size, name, w, row)
				}
			}
		}
	}
}

// The answer is cut into pieces that draw the same as the whole.
func TestPieces(t *testing.T) {
	code := "```go\n" + strings.Repeat("x := 1\n", 200) + "```\n"
	src := "# Title\n\nText\nmore text\n\n- a\n\n- b\n\n" + code + "\nAfter.\n\n1. one\n2. two\n"
	whole := &answer{painter: &painter{}}
	whole.add(src)
	small := &answer{painter: &painter{}}
	for i := range len(src) {
		small.add(src[i : i+1])
	}
	if whole.text() != src || small.text() != src {
		t.Fatal("text was lost")
	}
	if len(whole.pieces) < 6 || len(whole.pieces) != len(small.pieces) {
		t.Errorf("%d and %d pieces", len(whole.pieces), len(small.pieces))
	}
	var rows []string
	for i := range whole.parts() {
		rows = append(rows, whole.draw(i, 80)...)
	}
	if n := strings.Count(strings.Join(rows, "\n"), ":="); n != 200 {
		t.Errorf("%d lines of code", n)
	}
	if last := rows[len(rows)-1]; !strings.Contains(last, "two") {
		t.Errorf("the end is %q", last)
	}
}

// Hostile text never panics, never hangs, and never gets an escape sequence through.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"# a\n\n```go\nx\n```\n", "| a |\n|---|\n| b |\n", "\x1b[31m\x1b]52;c;eA==\x07", "> > - 1. x\n\n\t\tcode",
		"[a](b) ![c](d) <e> **f", "````\n```\n", "&#27;[31m&#x1b;]52;c;eA==&#7; &#155;", "[a](&#27;) ![b](&#27;)",
		"日本\u202e語",
	} {
		f.Add(s, 40)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, 1), 300)
		a := &answer{painter: &painter{}}
		a.add(s)
		a.add(s)
		for i := range a.parts() {
			for _, row := range a.draw(i, limit) {
				if strings.ContainsAny(row, "\u009b\u009d\u0007\u0008\r") {
					t.Fatalf("control character in %q", row)
				}
				for j := range len(row) {
					if row[j] == 0x1b && (j+1 >= len(row) || row[j+1] != '[' || strings.IndexByte(row[j:], 'm') < 0) {
						t.Fatalf("escape in %q", row)
					}
				}
			}
		}
	})
}
