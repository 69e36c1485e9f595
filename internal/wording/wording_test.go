package wording_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/wording"
)

func TestHeadTail(t *testing.T) {
	for _, tt := range []struct {
		s          string
		n          int
		head, tail string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "bcd"},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"aéb", 2, "a", "b"},
		{"a€b", 3, "a", "b"},
		{"é€", 4, "é", "€"},
		{"😀", 3, "", ""},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80"}, // No UTF-8.
	} {
		if got := wording.Head(tt.s, tt.n); got != tt.head {
			t.Errorf("Head(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.head)
		}
		if got := wording.Tail(tt.s, tt.n); got != tt.tail {
			t.Errorf("Tail(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.tail)
		}
	}
	long := strings.Repeat("aé€😀", 10)
	for n := range len(long) {
		head, tail := wording.Head(long, n), wording.Tail(long, n)
		if !utf8.ValidString(head+tail) || len(head) > n || len(tail) > n || len(head) < n-3 || len(tail) < n-3 {
			t.Errorf("%d: %q, %q", n, head, tail)
		}
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s          string
		n          int
		clip, line string
	}{
		{"", 3, "", ""},
		{"éé", 2, "éé", "éé"},
		{"ééé", 2, "é…", "é…"},
		{"ab cd", 4, "ab …", "ab…"},
		{" a\n\tb ", 4, " a\n…", "a b"},
		{"ab…", 3, "ab…", "ab…"},
		{"abc", 0, "…", "…"},
	} {
		if got := wording.Clip(tt.s, tt.n); got != tt.clip {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.clip)
		}
		if got := wording.Line(tt.s, tt.n); got != tt.line {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.line)
		}
	}
	if got := wording.Short(strings.Repeat("é", 61)); got != strings.Repeat("é", 60)+"..." {
		t.Errorf("Short: %q", got)
	}
	if got := wording.FirstLine("\n  one \r\ntwo"); got != "one" {
		t.Errorf("FirstLine: %q", got)
	}
	if got := wording.Count(1, "hook") + ", " + wording.Count(0, "hook"); got != "1 hook, 0 hooks" {
		t.Errorf("Count: %q", got)
	}
}

func TestHint(t *testing.T) {
	list := []string{"mode", "model"}
	for name, want := range map[string]string{
		"mdoe": ` (did you mean "mode"?)`, "zzz": " (keys: mode, model)",
	} {
		if got := wording.Hint(name, "keys", list); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := wording.Hint("x", "keys", nil) + wording.Hint("zzz", "keys", make([]string, 21)); got != "" {
		t.Errorf("got %q", got)
	}
}
