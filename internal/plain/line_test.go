package plain

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/idelchi/aura/internal/line"
)

// typed feeds bytes to a decoder and a line and shows the line with | as cursor.
func typed(l *line.Editor, input string) (string, line.Outcome) {
	var d decoder
	last := line.Edited
	for _, k := range d.feed([]byte(input)) {
		if last = l.Apply(k); last == line.Submitted || last == line.Ended || last == line.Interrupted {
			break
		}
	}
	return l.Before() + "|" + l.After(), last
}

func TestLineEditing(t *testing.T) {
	const up, down, right, left = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
	tests := []struct {
		name, in, want string
		out            line.Outcome
	}{
		{"insert", "abc", "abc|", line.Edited},
		{"left and insert", "ac" + left + "b", "ab|c", line.Edited},
		{"application cursor keys", "ac\x1bODb\x1bOC", "abc|", line.Edited},
		{"control keys", "bc\x01a\x05d\x02\x02\x06", "abc|d", line.Edited},
		{"home and end", "b\x1b[Ha\x1b[Fc\x1b[1~\x1b[4~", "abc|", line.Edited},
		{"word left by Alt", "one two-three\x1bb\x1bb", "one |two-three", line.Edited},
		{"word moves by Ctrl+arrow", "one two\x1b[1;5D\x1b[1;5D\x1b[1;3C", "one| two", line.Edited},
		{"shift+arrow is an arrow", "one\x1b[1;2D", "on|e", line.Edited},
		{"backspace", "abc\x7f\x08", "a|", line.Edited},
		{"delete", "abc\x01\x1b[3~\x04", "|c", line.Edited},
		{"kill to end and yank", "one two\x1bb\x0b\x01\x19", "two|one ", line.Edited},
		{"kill to start", "one two\x1bb\x15", "|two", line.Edited},
		{"kill word by blanks", "rm a/b-c\x17x", "rm x|", line.Edited},
		{"kills in a row stay together", "a b c\x17\x17\x19", "a b c|", line.Edited},
		{"kill word right", "one two\x01\x1bd", "| two", line.Edited},
		{"marks stay with their letter", "ae\u0301" + left + "x", "ax|e\u0301", line.Edited},
		{"backspace takes the mark", "ae\u0301\x7f", "a|", line.Edited},
		{"enter", "hi\r", "hi|", line.Submitted},
		{"backslash continues", "a\\\rb\r", "a\nb|", line.Submitted},
		{"two backslashes do not", "a\\\\\r", "a\\\\|", line.Submitted},
		{"Alt+Enter and Ctrl+J", "a\x1b\rb\nc", "a\nb\nc|", line.Edited},
		{"Shift+Enter where terminals tell", "a\x1b[13;2ub\x1b[27;2;13~c", "a\nb\nc|", line.Edited},
		{"home is of the line", "ab\ncd\x01x", "ab\nx|cd", line.Edited},
		{"up and down between lines", "abc\nd" + up + "x" + down + "y", "axbc\ndy|", line.Edited},
		{"kill joins lines", "a\nb" + up + "\x05\x0b", "a|b", line.Edited},
		{"paste never submits", "\x1b[200~a\r\nb\rc\nd\x1b[201~", "a\nb\nc\nd|", line.Edited},
		{"paste has no control characters", "\x1b[200~a\x07\x1b[31mb\tc\x1b[201~!", "a[31mb\tc!|", line.Edited},
		{"lost end of paste", "\x1b[200~a\x03b", "b|", line.Edited},
		{"Ctrl+D", "\x04", "|", line.Ended},
		{"Ctrl+D deletes", "ab\x01\x04", "|b", line.Edited},
		{"Ctrl+C clears", "ab\x03", "|", line.Edited},
		{"Ctrl+C on nothing", "\x03", "|", line.Interrupted},
		{"Ctrl+L", "ab\x0c", "ab|", line.Cleared},
		{"unknown keys do nothing", "a\x1b[15~\x1bx\x1b[[A\x1b[<0;1;1M\x00\x1d\x1b[Zb", "ab|", line.Edited},
		{"wide", "日本" + left + "x", "日x|本", line.Edited},
		{"broken UTF-8", "a\xff\xe6\x97b", "ab|", line.Edited},
		{"history", up + up, "git push|", line.Edited},
		{"history by prefix, draft kept", "go" + up + up, "go build|", line.Edited},
		{"back to the draft", "go" + up + up + down + down, "go|", line.Edited},
		{"edited entry is the new draft", up + "x" + down, "go testx|", line.Edited},
		{"search", "\x12bui", "go |build", line.Edited},
		{"search again", "\x12go\x12", "|go build", line.Edited},
		{"search accepted by a move", "\x12pus\x05!", "git push!|", line.Edited},
		{"search submitted", "\x12pus\r", "git |push", line.Submitted},
		{"search cancelled", "dr\x12pus\x07", "dr|", line.Edited},
		{"search cancelled by Ctrl+C", "dr\x12pus\x03", "dr|", line.Edited},
		{"search without match keeps the last", "\x12buix", "go |build", line.Edited},
		{"completion of one", "/he\t", "/help |", line.Edited},
		{"completion of a common part", "/a\t", "/a|", line.Edited},
		{"completion of a common part", "/ag\t", "/agent|", line.Edited},
		{"completion is listed", "/agent\t\t", "/agent|", line.Listed},
		{"completion in the middle", "x /he y" + left + left + "\t", "x /help | y", line.Edited},
		{"nothing to complete", "zzz\t", "zzz|", line.Edited},
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
			past := func() []string { return []string{"go build", "git push", "go test"} }
			l := line.New(line.Options{History: past, Complete: complete})
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

// Keys have the names that the full-screen face gives them: what they do is in one table for both.
func TestKeyNames(t *testing.T) {
	inputs := []string{
		"a", "A", "é", "日", " ", "\t", "\r", "\n", "\x7f", "\x08", "\x00", "\x1c", "\x1d", "\x1e", "\x1f",
		"\x1b\r", "\x1b\n", "\x1b\x7f", "\x1b\x08", "\x1bb", "\x1bB", "\x1bf", "\x1bd", "\x1bx", "\x1b1",
		"\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD", "\x1bOH", "\x1bOF", "\x1bOM", "\x1bOa", "\x1bOb", "\x1bOc", "\x1bOd",
		"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[Z", "\x1b[a", "\x1b[b", "\x1b[c", "\x1b[d",
		"\x1b[1~", "\x1b[7~", "\x1b[4~", "\x1b[8~", "\x1b[3~", "\x1b[5~", "\x1b[6~",
		"\x1b[3;5~", "\x1b[3;2~", "\x1b[3;3~",
		"\x1b[13u", "\x1b[13;2u", "\x1b[13;3u", "\x1b[13;5u", "\x1b[127;5u",
		"\x1b[27;2;13~", "\x1b[27;5;13~", "\x1b[27;5;127~",
	}
	for c := byte(1); c < 0x1b; c++ {
		inputs = append(inputs, string(rune(c)))
	}
	for _, final := range "ABCDHF" {
		for _, mod := range "23456789" {
			inputs = append(inputs, "\x1b[1;"+string(mod)+string(final))
		}
	}
	for _, input := range inputs {
		var d decoder
		var theirs uv.EventDecoder
		_, event := theirs.Decode([]byte(input))
		press, ok := event.(uv.KeyPressEvent)
		if !ok {
			t.Fatalf("%q is %v", input, event)
		}
		want := []line.Key{{Name: press.String(), Text: press.Text}}
		if got := d.feed([]byte(input)); !slices.Equal(got, want) {
			t.Errorf("%q is %+v, want %+v", input, got, want)
		}
	}
}

// merge joins pieces of one paste.
func merge(keys []line.Key) []line.Key {
	var out []line.Key
	for _, k := range keys {
		if n := len(out); n > 0 && k.Pasted && out[n-1].Pasted {
			out[n-1].Text += k.Text
			continue
		}
		out = append(out, k)
	}
	return out
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		"abc\r", "\x1b[A\x1bOB\x1b[1;5C", "\x1b[200~a\x1b[201~", "\x1b[200~\xe6\x1b[20", "\x1b\x1b\x1b[[",
		"\x12ab\x12\x07\t\t", "\xff\xc3",
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var d decoder
		l := line.New(line.Options{
			History:  func() []string { return []string{"one", "two\nthree"} },
			Complete: func(string, int) []string { return []string{"ab", "ac"} },
		})
		v := &view{}
		cut = min(max(cut, 0), len(data))
		for _, part := range [][]byte{data[:cut], data[cut:]} {
			for _, k := range d.feed(part) {
				l.Apply(k)
				if l.Before()+l.After() != l.Value() {
					t.Fatalf("cursor behind %q outside of %q", l.Before(), l.Value())
				}
			}
			v.draw("> ", l, 10, 3)
		}
		if len(d.buf) > maxKeySequence {
			t.Errorf("%d bytes kept back", len(d.buf))
		}
		for _, r := range l.Value() {
			if r == utf8.RuneError && !strings.ContainsRune(string(data), r) && !d.paste &&
				!strings.Contains(string(data), "\x1b[200~") {
				t.Errorf("invalid character in %q", l.Value())
			}
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Errorf("control character %q in the line", r)
			}
		}
	})
}

func TestLongPasteIsBounded(t *testing.T) {
	l := line.New(line.Options{})
	big := line.Key{Text: strings.Repeat("x", 1<<20), Pasted: true}
	for range 10 {
		l.Apply(big)
	}
	if len(l.Value()) > 4<<20 {
		t.Errorf("%d characters kept", len(l.Value()))
	}
}
