package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"one two three", 8, "one two|three"},
		{"one  two", 20, "one  two"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"日本語", 4, "日本|語"},
		{"a\n\nb", 4, "a||b"},
		{"  lead", 10, "  lead"},
		{"", 5, ""},
		{"é́x", 1, "é́|x"},
	} {
		if got := strings.Join(wrapText(c.text, none, c.limit), "|"); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
	lines := wrap([]span{{"bold ", bold}, {"and red text", red}}, 8)
	if got := ansi.Strip(strings.Join(lines, "|")); got != "bold and|red text" {
		t.Errorf("spans: %q", got)
	}
}

// A tab in a paragraph takes the cells that are drawn for it.
func TestTabInParagraph(t *testing.T) {
	lines := (&painter{}).markdown("one\ttwo three", "", 12)
	if got := ansi.Strip(strings.Join(lines, "|")); got != "one    two|three" {
		t.Errorf("%q", got)
	}
}

func TestLongText(t *testing.T) {
	var l longText
	for _, s := range []string{"on", "e\ntwo\x1b[3", "1m\nthree", "\r\nfour\n"} {
		l.add(s)
	}
	var got []string
	for i := range l.count() {
		got = append(got, l.line(i))
	}
	if want := []string{"one", "two", "three", "four"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var big longText
	for i := range 400_000 {
		big.add(fmt.Sprintf("line %d of a text that is far too long to be kept\n", i))
	}
	if n := big.count(); len(big.data) > maxText || big.dropped+n != 400_000 ||
		big.line(n-1) != "line 399999 of a text that is far too long to be kept" {
		t.Errorf("%d bytes, %d lines and %d dropped, the last is %q", len(big.data), n, big.dropped, big.line(n-1))
	}
}
