package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                             "plain\ttext\n",
		"a\x1b[31;1mb\x1b[0mc":                      "abc",
		"a\x1b]0;title\x07b":                        "ab",
		"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "alink",
		"a\x1bP+q\x1b\\b":                           "ab",
		"a\x1b(Bb\x1b=c\x1b7":                       "abc",
		"a\u009b31mb\u009d0;x\u009cc":               "abc",
		"a\r\nb\rc":                                 "a\nb\nc",
		"a\x08\x7f\x00\x07b":                        "ab",
		"x\u202egnp.exe":                            "xgnp.exe",
		"a\x1b]unfinished\nb":                       "a\nb",
		"a\x1b[12\nb":                               "a\nb",
		"a\x1b\x1b[31mb":                            "ab",
		"日\u00a0é":                                  "日\u00a0é",
		"bad\xffbyte":                               "bad\ufffdbyte",
	} {
		var whole Filter
		if got := whole.Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		var pieces Filter
		got := ""
		for i := range len(in) {
			got += pieces.Clean(in[i : i+1])
		}
		if got != want {
			t.Errorf("%q byte by byte: %q, want %q", in, got, want)
		}
	}
	var f Filter
	if got := f.Clean("\x1b]" + strings.Repeat("x", 2*maxSequence)); len(got) == 0 {
		t.Error("an unfinished sequence swallows everything")
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("a\x1b[31mb\x1b]0;t\x07c\u009b1m\xff\xe6\x97")
	f.Fuzz(func(t *testing.T, s string) {
		var x Filter
		for _, got := range []string{x.Clean(s), x.Clean(s), Visible(s), OneLine(s)} {
			drives := func(r rune) bool {
				return r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0 || reorders(r))
			}
			if i := strings.IndexFunc(got, drives); i >= 0 {
				t.Errorf("%q is left of %q", got[i:], s)
			}
		}
	})
}

func TestColorWithoutTerminal(t *testing.T) {
	for _, tt := range []struct {
		env  string
		want bool
	}{{"", false}, {"FORCE_COLOR", true}, {"CLICOLOR_FORCE", true}, {"NO_COLOR", false}} {
		if got := Color(&bytes.Buffer{}, func(n string) string {
			if n == tt.env {
				return "1"
			}
			return ""
		}); got != tt.want {
			t.Errorf("%q: %v", tt.env, got)
		}
	}
}
