package conversation

import (
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// talk is a conversation of a line of words, in the middle of a turn or not.
func talk(t testing.TB, words string, running bool) *Conversation {
	t.Helper()
	c := begin()
	c.History.Replace(messages(t, words))
	c.Turn.Begin()
	if running {
		c.Turn.Next()
	}
	return c
}

// What a compaction keeps: the last messages, results with their calls, what the model has
// yet to see, and what the user waits for. S stands for the summary.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name    string
		history string
		running bool
		keep    int
		want    string // Empty: there is nothing to summarise.
	}{
		{"the last two", "u:one a:1 u:two a:2", false, 2, "S u:two a:2"},
		{"none", "u:one a:1 u:two a:2", false, 0, "S"},
		{"too short", "u:one a:1", false, 2, ""},
		{"all", "u:one a:1", false, 0, "S"},
		{"nothing was said", "", false, 0, ""},
		{"notices are worth nothing", "d:note d:note", false, 0, ""},
		{"notices do not count", "u:one a:1 u:two s:psst a:2 d:note", false, 2, "S u:two a:2"},
		{"what the model has yet to see does", "u:one a:1 u:two a:2 d:note s:psst", false, 2, "S a:2 s:psst"},
		{"notices go", "u:one a:1 u:two d:note a:2", false, 2, "S u:two a:2"},
		{"pairs stay together", "u:one a:+x+y t:x t:y a:1", false, 2, "S a:+x+y t:x t:y a:1"},
		{"unseen results stay", "u:one a:1 u:two a:+x+y e:x t:y", true, 2, "S u:two a:+x+y e:x t:y"},
		{"the request of the turn stays", "u:one a:1 u:two a:+x t:x a:+y t:y", true, 2, "S u:two a:+y t:y"},
		{"also if nothing else does", "u:one a:1 u:two a:+x t:x", true, 0, "S u:two"},
		{"and if the turn was broken off", "u:one a:1 u:two a:+x t:x", false, 0, "S u:two"},
		{"and if nothing came of it", "u:one a:1 u:two", false, 0, "S u:two"},
		{"an answered one is not waited for", "u:one a:1 u:two a:+x t:x a:2", false, 0, "S"},
		{"only the request", "u:one", true, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conv := talk(t, c.history, c.running)
			p := conv.Plan(c.keep)
			if p.Empty() {
				if c.want != "" {
					t.Fatalf("nothing to compact, want %s", c.want)
				}
				return
			}
			result := p.Result("sum", "")
			if !isSummary(&result[0]) {
				t.Errorf("the summary is %q", result[0].Content)
			}
			result[0].Content = ""
			if got := strings.Replace(line(result), "u:", "S", 1); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			// It can be summarised again, and the summary alone is not worth it.
			conv.History.Replace(p.Result("sum", ""))
			if again := conv.Plan(len(result)); !again.Empty() {
				t.Errorf("the summary would be summarised: %s", again.Transcript(-1))
			}
		})
	}
}

// A summary of one short message is longer than it.
func TestPlanShorter(t *testing.T) {
	long := "u:" + strings.Repeat("x", 5000)
	for _, c := range []struct {
		history string
		keep    int
		want    int // Messages that are left; 0 if it does not pay.
	}{
		{"u:one a:1", 4, 0},
		{"u:one a:1 u:two a:2", 4, 3},
		{"u:one a:1 u:two a:2 u:three a:3", 4, 5},
		{long + " a:1", 4, 2},
		{"u:one a:1", 0, 1},
		{"", 0, 0},
	} {
		p := talk(t, c.history, false).PlanShorter(c.keep)
		if got := 0; p.Empty() != (c.want == 0) {
			t.Errorf("%.40s, keep %d: empty %v", c.history, c.keep, p.Empty())
		} else if !p.Empty() {
			if got = len(p.Result("sum", "")); got != c.want {
				t.Errorf("%.40s, keep %d: %d messages left, want %d", c.history, c.keep, got, c.want)
			}
		}
	}
}

// Where what is summarised is a small part of the window, it makes no room.
func TestPlanMakesRoom(t *testing.T) {
	p := talk(t, "u:"+strings.Repeat("x", 3984)+" a:1", false).Plan(1) // 1000 tokens.
	for limit, want := range map[int]bool{100: true, 20000: true, 20001: false} {
		if p.MakesRoom(limit) != want {
			t.Errorf("limit %d: %v", limit, !want)
		}
	}
	if none := talk(t, "u:one", false).Plan(1); none.MakesRoom(0) {
		t.Error("nothing makes room")
	}
}

func TestTranscript(t *testing.T) {
	c := talk(t, "u:one a:look+x t:x d:note s:psst u:go", true)
	msgs := c.History.Messages()
	msgs[1].ToolCalls[0].Arguments = map[string]any{"path": "a/very/long/one"}
	msgs[2].Content, msgs[2].ToolName = strings.Repeat("ä", 10), "Read"
	msgs[5].Content, msgs[5].Tokens = strings.Repeat("y", 3000), 0
	c.History.Replace(append(msgs, messages(t, "a:on+z t:z")...))
	p := c.Plan(0)
	want := "[user] one\n[assistant] look\n[assistant calls T] {\"path\":\"a […]\n[result of Read] ää […]\n" +
		"[assistant] psst\n[user] " + strings.Repeat("y", 2000) + " […]\n[assistant] on\n[assistant calls T] {}\n" +
		"[result of ] z\n"
	if got := p.Transcript(5); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := p.Transcript(-1); !strings.Contains(got, "a/very/long/one") || !strings.Contains(got, msgs[2].Content) {
		t.Errorf("without a limit:\n%s", got)
	}
	text := p.Result("sum", "1. [ ] milk")[0].Content
	want = summaryTag + "sum\n</summary>\n\nTodos:\n1. [ ] milk\n\nThe next message is what the user"
	if !strings.HasPrefix(text, want) {
		t.Errorf("summary:\n%s", text)
	}
	if tokens, waiting := p.Request(); !waiting || tokens != 3016/4 {
		t.Errorf("request of %d tokens, %v", tokens, waiting)
	}
}

func TestThreshold(t *testing.T) {
	for _, c := range []struct {
		t        Threshold
		estimate int
		window   int
		want     bool
	}{
		{Threshold{Percent: 80}, 80, 100, false},
		{Threshold{Percent: 80}, 81, 100, true},
		{Threshold{Percent: 80}, 81, 0, false},
		{Threshold{}, 1000, 100, false},
		{Threshold{Percent: 80, Tokens: 50}, 50, 10, false},
		{Threshold{Percent: 80, Tokens: 50}, 51, 1000, true},
		{Threshold{Tokens: 50}, 51, 0, true},
	} {
		if got := c.t.Exceeded(sdk.TokenState{Estimate: c.estimate, Max: c.window}); got != c.want {
			t.Errorf("%+v with %d of %d: %v", c.t, c.estimate, c.window, got)
		}
	}
	if a, b := (Threshold{Percent: 1}).Limit(7), (Threshold{Tokens: 3}).Limit(7); a != 7 || b != 3 {
		t.Errorf("limits %d, %d", a, b)
	}
}

func TestUndo(t *testing.T) {
	summary := messages(t, "u:x a:1")
	summary[0].Content = summaryTag + "sum"
	for _, c := range []struct {
		history []message.Message
		text    string
		left    string
	}{
		{messages(t, "u:one a:1 u:two a:+x t:x d:note j:psst a:2"), "two", "u:one a:1"},
		{messages(t, "s:hello u:one"), "one", "s:hello"},
		{messages(t, "s:hello"), "", "s:hello"},
		{summary, "", line(summary)},
	} {
		h := historyOf(c.history)
		text, ok := h.Undo()
		if got := line(h.Messages()); text != c.text || ok != (c.text != "") || got != c.left {
			t.Errorf("%s: %q, %s; want %q, %s", line(c.history), text, got, c.text, c.left)
		}
	}
}

func TestUnanswered(t *testing.T) {
	for words, want := range map[string]string{
		"u:one a:1":               "",
		"u:one a:+x+y":            "x y",
		"u:one a:+x+y t:x":        "y",
		"u:one a:+x t:x":          "",
		"a:+x a:+y t:y":           "", // Only the latest: before it nothing can be lost.
		"u:one a:+x+y t:y d:note": "x",
	} {
		var ids []string
		for _, c := range historyOf(messages(t, words)).Unanswered() {
			ids = append(ids, c.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}
