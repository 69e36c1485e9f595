package conversation

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/message"
	"github.com/idelchi/aura/sdk"
)

// Estimates are rough until the provider reports; then they follow its counts, within bounds.
func TestTokens(t *testing.T) {
	var x Tokens
	size := func(want int) {
		t.Helper()
		if got := x.Size(strings.Repeat("x", 4000)); got != want {
			t.Errorf("%d tokens, want %d", got, want)
		}
	}
	size(1000)
	x.SetDivisor(2)
	size(2000)
	x.Learn(100, 150)
	size(1500)
	x.SetDivisor(0)
	size(1500)
	x.Learn(100, 0) // No report.
	size(1500)
	x.Learn(0, 70) // Nothing to compare with.
	size(1500)
	x.Learn(1, 1000)
	size(4000)
	x.Learn(1000, 1)
	size(250)
	if x.Last() != 1 {
		t.Errorf("last report %d", x.Last())
	}
	x.Forget()
	size(250)
	if x.Last() != 0 {
		t.Errorf("last report %d after Forget", x.Last())
	}
}

// The middle of a text goes, no character is cut apart, and what is left fits.
func TestCut(t *testing.T) {
	for _, scale := range []int{50, 100, 200} {
		var x Tokens
		x.Learn(100, scale)
		for _, text := range []string{strings.Repeat("x", 40_000), strings.Repeat("ä", 20_000)} {
			for _, limit := range []int{1, 256, 3000} {
				got := x.Cut(text, limit)
				note := strings.Index(got, "[…")
				left := len(got) - len(got[note:strings.Index(got, "a time.]")+len("a time.]")])
				if !utf8.ValidString(got) || x.Real(left/4) > limit+2 ||
					!strings.HasPrefix(text, got[:max(note-2, 0)]) {
					t.Errorf("scale %d, limit %d: %d bytes left", scale, limit, left)
				}
			}
			for _, limit := range []int{0, -1, 20_000} {
				if x.Cut(text, limit) != text {
					t.Errorf("scale %d: cut at %d", scale, limit)
				}
			}
		}
	}
}

func TestCheckInput(t *testing.T) {
	var x Tokens
	text := strings.Repeat("x", 400)
	for _, c := range []struct {
		share, window int
		fits          bool
	}{{0, 100, true}, {50, 0, true}, {50, 200, true}, {50, 199, false}} {
		if err := x.CheckInput(text, c.share, c.window); (err == nil) != c.fits {
			t.Errorf("%d%% of %d: %v", c.share, c.window, err)
		}
	}
}

// The results of one response share what is left of the window.
func TestResultRoom(t *testing.T) {
	text := func(tokens int) string { return strings.Repeat("x", tokens*4) }
	half := ResultLimit{Tokens: 500, Percent: 50}
	for _, c := range []struct {
		name   string
		limit  ResultLimit
		window int
		used   int
		open   int // Calls of the response.
		taken  int // Tokens of results that are finished.
		texts  []int
		nested bool
		want   int
	}{
		{"no limit", ResultLimit{}, 1000, 0, 1, 0, []int{10}, false, 0},
		{"tokens", ResultLimit{Tokens: 7}, 1000, 0, 1, 0, []int{10}, false, 7},
		{"unknown window", half, 0, 0, 1, 0, []int{10}, false, 500},
		{"alone", half, 10000, 1000, 1, 0, []int{9000}, false, 4000},
		{"full already", half, 10000, 6000, 1, 0, []int{9000}, false, minResult},
		{"others are small", half, 10000, 1000, 2, 0, []int{9000, 100}, false, 3900},
		{"others are as large", half, 10000, 1000, 2, 0, []int{9000, 9000}, false, 2000},
		{"one is finished", half, 10000, 1000, 2, 1000, []int{9000}, false, 3000},
		{"others have not run", half, 10000, 1000, 3, 0, []int{9000}, false, 4000 - 2*minResult},
		{"nested", half, 10000, 1000, 3, 0, []int{9000}, true, 4000},
	} {
		conv := begin()
		conv.Turn.ExpectResults(c.open)
		if c.taken > 0 {
			conv.Turn.AddResult(text(c.taken))
		}
		var texts []string
		for _, n := range c.texts {
			texts = append(texts, text(n))
		}
		if got := conv.ResultRoom(c.limit, c.window, c.used, texts, c.nested); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
	}
}

// SD-06: the estimate covers the system prompt, the messages and the tool schemas.
func TestTokenState(t *testing.T) {
	c := begin("Ls", "Done", "Rare")
	c.SetSystem(strings.Repeat("s", 400))
	m := messages(t, "u:hi d:"+strings.Repeat("x", 4000))
	m[0].Images = []message.Image{{}}
	m[0].ToolCalls = []sdk.MessageToolCall{{Name: "T", Arguments: map[string]any{"a": []any{"text", 1.0}}}}
	c.History.Replace(m)
	want := 100 + (2+16+1+2+1+4+2+1+6+1+6)/4 + 800 + 40/4 + 8
	if got := c.TokenState(0, false); got.Estimate != want || got.Percent != 0 {
		t.Errorf("%+v, want %d tokens", got, want)
	}
	if got := c.TokenState(2*want, false); got.Percent != 50 || got.Max != 2*want {
		t.Errorf("%+v", got)
	}
	if got := c.TokenState(1, false); got.Percent != 100 { // More than full is full.
		t.Errorf("%+v", got)
	}
	c.Offer.Load("Rare")
	if got := c.TokenState(0, true); got.Estimate != want+2*18 || c.RoughSize(true) != want+2*18 {
		t.Errorf("with more tools: %+v", got)
	}
}
