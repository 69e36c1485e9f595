package width_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/idelchi/aura/internal/width"
)

func TestWidths(t *testing.T) {
	for text, want := range map[string]int{
		"":                     0,
		"abc":                  3,
		"日本":                   4,
		"e\u0301":              1,
		"🙂":                    2,
		"\u200b":               0,
		"한글":                   4,
		"\u1112\u1161\u11ab":   4, // One syllable of three letters: they are counted one by one.
		"—":                    1,
		"ﬁ":                    1,
		"Ａ":                    2,
		"✓":                    1,
		"✅":                    2,
		"🇩🇪":                   2,
		"¡±×":                  3, // Ambiguous: narrow.
		"a\tb":                 6,
		"\x00\x07\u0085":       0,
		"bad\xffbyte":          8,
		"\u00ad":               0, // The soft hyphen.
		"\U000f0000":           1,
		"\x1b[31mred\x1b[0m":   3,
		"\x1b]0;title\x07text": 4,
	} {
		if got := width.OfStyled(text); got != want {
			t.Errorf("%q takes %d cells, want %d", text, got, want)
		}
	}
}

// Every character takes the cells that Bubble Tea gives it on its screen: a row that fits here fits there.
// Characters that are newer than the tables of Go are left out, and so are those that such a newer Unicode
// has made marks without a width.
func TestWidthsAreThoseOfTheScreen(t *testing.T) {
	known := []*unicode.RangeTable{
		unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co,
	}
	changed := []rune{0xcf3, 0x1d165, 0x1d166, 0x1d16d, 0x1d16e, 0x1d16f, 0x1d170, 0x1d171, 0x1d172}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == '\t' || !utf8.ValidRune(r) || !unicode.In(r, known...) || slices.Contains(changed, r) {
			continue
		}
		if got, want := width.Rune(r), ansi.StringWidthWc(string(r)); got != want {
			t.Errorf("%U takes %d cells, and %d on the screen", r, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"日本語", 5, "日本…"},
		{"日本語", 6, "日本語"},
		{"日本語", 4, "日…"},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"abcd", 1, "…"},
		{"abcd", 0, ""},
		{"abcd", -1, ""},
		{"", 0, ""},
		{"ae\u0301bc", 3, "ae\u0301…"},
		{"a\tb", 5, "a…"},
		{"ab\xff\xffcd", 4, "ab\xff…"},
	} {
		if got := width.Fit(c.text, c.n); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestPad(t *testing.T) {
	if got := width.Pad("日", 4) + "|" + width.Pad("long", 2); got != "日  |long" {
		t.Errorf("%q", got)
	}
	if got := width.ExpandTabs("a\tb"); width.Of(got) != width.Of("a\tb") || got != "a    b" {
		t.Errorf("%q", got)
	}
}

func parts(text string, lines []width.Line) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = text[l.From:l.To]
	}
	return strings.Join(out, "|")
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"one two three", 8, "one two|three"},
		{"one  two", 20, "one  two"},
		{"one  two", 4, "one|two"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"ab cdefghij kl", 4, "ab|cdef|ghij|kl"},
		{"日本語", 4, "日本|語"},
		{"日本語", 1, "日|本|語"},
		{"a\n\nb", 4, "a||b"},
		{"a \nb ", 4, "a|b"},
		{"a\n", 4, "a"},
		{"a\n\n", 4, "a|"},
		{"  lead", 10, "  lead"},
		{"  leading", 5, "  lea|ding"},
		{"      lead", 5, "lead"},
		{"a\n  b c", 4, "a|  b|c"},
		{"", 5, ""},
		{"   ", 5, ""},
		{"e\u0301\u0301x", 1, "e\u0301\u0301|x"},
		{"a b", 0, "a|b"},
	} {
		if got := parts(c.text, width.Wrap(c.text, c.limit)); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"one two three", 8, "one two |three"},
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"日本語", 3, "日|本|語"},
		{"日本語", 1, "日|本|語"},
		{"a\tb", 4, "a|\t|b"},
		{"ae\u0301b", 2, "ae\u0301|b"},
		{"abc", -1, "a|b|c"},
	} {
		if got := parts(c.text, width.Fold(c.text, c.limit)); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

// Every line fits, unless a character does not fit in any; the lines are in order; and what they leave out
// is nothing when a text is folded, blanks and line ends when it is wrapped. A text that is cut fits too.
func FuzzBreaking(f *testing.F) {
	for _, s := range []string{
		"one two three", "  日本語 wide\n\n text", "e\u0301\u0301x", "\t\t", "bad \xff\xfe bytes", "a\n \n",
		"🇩🇪 \u200b", "\x1b[31mred", "\x02 0000",
	} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(limit, 200)
		if cut := width.Fit(s, limit); width.Of(cut) > max(limit, 0) {
			t.Errorf("%q in %d cells is %q", s, limit, cut)
		}
		check(t, s, limit, width.Wrap(s, limit), " \n")
		check(t, s, limit, width.Fold(s, limit), "")
	})
}

func check(t *testing.T, s string, limit int, lines []width.Line, omitted string) {
	t.Helper()
	at := 0
	for _, l := range lines {
		if l.From < at || l.To < l.From || l.To > len(s) {
			t.Fatalf("%q at %d: line %v behind %d", s, limit, l, at)
		}
		if gone := s[at:l.From]; strings.Trim(gone, omitted) != "" {
			t.Fatalf("%q at %d: %q is lost", s, limit, gone)
		}
		text := s[l.From:l.To]
		if width.Of(text) > max(limit, 1) && !single(text) {
			t.Fatalf("%q at %d: %q has %d cells", s, limit, text, width.Of(text))
		}
		at = l.To
	}
	if gone := s[at:]; strings.Trim(gone, omitted) != "" {
		t.Fatalf("%q at %d: %q is lost at the end", s, limit, gone)
	}
}

// single reports whether only one character of a text takes room.
func single(s string) bool {
	n := 0
	for _, r := range s {
		if width.Rune(r) > 0 {
			n++
		}
	}
	return n == 1
}

func BenchmarkOf(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":    strings.Repeat("word ", 200),
		"cyrillic": strings.Repeat("слово ", 200),
		"cjk":      strings.Repeat("日本語の", 250),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				width.Of(s)
			}
		})
	}
}
