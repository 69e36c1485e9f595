package plain

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// typed feeds bytes to a decoder and a line and shows the line with | as cursor.
func typed(l *line, input string) (string, outcome) {
	var d decoder
	last := edited
	for _, k := range d.feed([]byte(input)) {
		if last = l.apply(k); last == submitted || last == ended || last == interrupted {
			break
		}
	}
	return string(l.text[:l.pos]) + "|" + string(l.text[l.pos:]), last
}

func TestLineEditing(t *testing.T) {
	const up, down, right, left = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
	tests := []struct {
		name, in, want string
		out            outcome
	}{
		{"insert", "abc", "abc|", edited},
		{"left and insert", "ac" + left + "b", "ab|c", edited},
		{"application cursor keys", "ac\x1bODb\x1bOC", "abc|", edited},
		{"control keys", "bc\x01a\x05d\x02\x02\x06", "abc|d", edited},
		{"home and end", "b\x1b[Ha\x1b[Fc\x1b[1~\x1b[4~", "abc|", edited},
		{"word left by Alt", "one two-three\x1bb\x1bb", "one |two-three", edited},
		{"word moves by Ctrl+arrow", "one two\x1b[1;5D\x1b[1;5D\x1b[1;3C", "one| two", edited},
		{"shift+arrow is an arrow", "one\x1b[1;2D", "on|e", edited},
		{"backspace", "abc\x7f\x08", "a|", edited},
		{"delete", "abc\x01\x1b[3~\x04", "|c", edited},
		{"kill to end and yank", "one two\x1bb\x0b\x01\x19", "two|one ", edited},
		{"kill to start", "one two\x1bb\x15", "|two", edited},
		{"kill word by blanks", "rm a/b-c\x17x", "rm x|", edited},
		{"kills in a row stay together", "a b c\x17\x17\x19", "a b c|", edited},
		{"kill word right", "one two\x01\x1bd", "| two", edited},
		{"marks stay with their letter", "ae\u0301" + left + "x", "ax|e\u0301", edited},
		{"backspace takes the mark", "ae\u0301\x7f", "a|", edited},
		{"enter", "hi\r", "hi|", submitted},
		{"backslash continues", "a\\\rb\r", "a\nb|", submitted},
		{"two backslashes do not", "a\\\\\r", "a\\\\|", submitted},
		{"Alt+Enter and Ctrl+J", "a\x1b\rb\nc", "a\nb\nc|", edited},
		{"Shift+Enter where terminals tell", "a\x1b[13;2ub\x1b[27;2;13~c", "a\nb\nc|", edited},
		{"home is of the line", "ab\ncd\x01x", "ab\nx|cd", edited},
		{"up and down between lines", "abc\nd" + up + "x" + down + "y", "axbc\ndy|", edited},
		{"kill joins lines", "a\nb" + up + "\x05\x0b", "a|b", edited},
		{"paste never submits", "\x1b[200~a\r\nb\rc\nd\x1b[201~", "a\nb\nc\nd|", edited},
		{"paste has no control characters", "\x1b[200~a\x07\x1b[31mb\tc\x1b[201~!", "a[31mb\tc!|", edited},
		{"lost end of paste", "\x1b[200~a\x03b", "b|", edited},
		{"Ctrl+D", "\x04", "|", ended},
		{"Ctrl+D deletes", "ab\x01\x04", "|b", edited},
		{"Ctrl+C clears", "ab\x03", "|", edited},
		{"Ctrl+C on nothing", "\x03", "|", interrupted},
		{"Ctrl+L", "ab\x0c", "ab|", cleared},
		{"unknown keys do nothing", "a\x1b[15~\x1bx\x1b[[A\x1b[<0;1;1M\x00\x1d\x1b[Zb", "ab|", edited},
		{"wide", "日本" + left + "x", "日x|本", edited},
		{"broken UTF-8", "a\xff\xe6\x97b", "ab|", edited},
		{"history", up + up, "git push|", edited},
		{"history by prefix, draft kept", "go" + up + up, "go build|", edited},
		{"back to the draft", "go" + up + up + down + down, "go|", edited},
		{"edited entry is the new draft", up + "x" + down, "go testx|", edited},
		{"search", "\x12bui", "go |build", edited},
		{"search again", "\x12go\x12", "|go build", edited},
		{"search accepted by a move", "\x12pus\x05!", "git push!|", edited},
		{"search submitted", "\x12pus\r", "git |push", submitted},
		{"search cancelled", "dr\x12pus\x07", "dr|", edited},
		{"search cancelled by Ctrl+C", "dr\x12pus\x03", "dr|", edited},
		{"search without match keeps the last", "\x12buix", "go |build", edited},
		{"completion of one", "/he\t", "/help |", edited},
		{"completion of a common part", "/a\t", "/a|", edited},
		{"completion of a common part", "/ag\t", "/agent|", edited},
		{"completion is listed", "/agent\t\t", "/agent|", listed},
		{"completion in the middle", "x /he y" + left + left + "\t", "x /help | y", edited},
		{"nothing to complete", "zzz\t", "zzz|", edited},
	}
	complete := func(text string, pos int) []string {
		word := text[strings.LastIndex(text[:pos], " ")+1 : pos]
		return slices.DeleteFunc(
			[]string{"/help", "/agent", "/agents", "/auto"},
			func(c string) bool { return !strings.HasPrefix(c, word) },
		)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLine("", []string{"go build", "git push", "go test"}, complete)
			if got, out := typed(l, tt.in); got != tt.want || out != tt.out {
				t.Errorf("%q gives %q, outcome %d; want %q, %d", tt.in, got, out, tt.want, tt.out)
			}
		})
	}
}

func TestDecoderSplitsAnywhere(t *testing.T) {
	const input = "日\x1b[1;5Dx\x1b[200~p\r\nq\x1b[201~\x1bOA\x1b\r\x1bb\xffz"
	var whole decoder
	want := merge(whole.feed([]byte(input)))
	for cut := range len(input) {
		var d decoder
		got := merge(slices.Concat(d.feed([]byte(input[:cut])), d.feed([]byte(input[cut:]))))
		if !slices.Equal(got, want) {
			t.Errorf("cut at %d: %v, want %v", cut, got, want)
		}
	}
}

// merge joins pieces of one paste.
func merge(keys []key) []key {
	var out []key
	for _, k := range keys {
		if n := len(out); n > 0 && k.kind == keyPaste && out[n-1].kind == keyPaste {
			out[n-1].text += k.text
			continue
		}
		out = append(out, k)
	}
	return out
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{"abc\r", "\x1b[A\x1bOB\x1b[1;5C", "\x1b[200~a\x1b[201~", "\x1b[200~\xe6\x1b[20", "\x1b\x1b\x1b[[", "\x12ab\x12\x07\t\t", "\xff\xc3"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var d decoder
		l := newLine("", []string{"one", "two\nthree"}, func(string, int) []string { return []string{"ab", "ac"} })
		v := &view{}
		cut = min(max(cut, 0), len(data))
		for _, part := range [][]byte{data[:cut], data[cut:]} {
			for _, k := range d.feed(part) {
				l.apply(k)
				if l.pos < 0 || l.pos > len(l.text) {
					t.Fatalf("cursor %d outside of %q", l.pos, string(l.text))
				}
			}
			v.draw("> ", l.text, l.pos, 10, 3)
		}
		if len(d.buf) > maxKeySequence {
			t.Errorf("%d bytes kept back", len(d.buf))
		}
		for _, r := range l.text {
			if r == utf8.RuneError && !strings.ContainsRune(string(data), r) && !d.paste &&
				!strings.Contains(string(data), "\x1b[200~") {
				t.Errorf("invalid character in %q", string(l.text))
			}
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Errorf("control character %q in the line", r)
			}
		}
	})
}

func TestLongPasteIsBounded(t *testing.T) {
	l := newLine("", nil, nil)
	big := key{kind: keyPaste, text: strings.Repeat("x", 1<<20)}
	for range 10 {
		l.apply(big)
	}
	if len(l.text) > maxInput {
		t.Errorf("%d characters kept", len(l.text))
	}
}
