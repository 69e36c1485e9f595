package line

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/width"
)

// press hands keys to an editor: characters, and names as in <ctrl+left>. It returns the last outcome.
func press(e *Editor, keys string) Outcome {
	var out Outcome
	for keys != "" {
		name, rest, named := "", "", false
		if keys[0] == '<' {
			name, rest, named = strings.Cut(keys[1:], ">")
		}
		k := Key{Name: name}
		if !named {
			_, size := utf8.DecodeRuneInString(keys)
			name, rest = keys[:size], keys[size:]
			k = Key{Name: name, Text: name}
		}
		out = e.Apply(k)
		keys = rest
	}
	return out
}

// shown is the text with | as cursor.
func shown(e *Editor) string { return e.Before() + "|" + e.After() }

func history() []string { return []string{"go build", "git push", "go test"} }

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name, keys, want string
		out              Outcome
	}{
		{"insert", "abc", "abc|", Edited},
		{"move", "ac<left>b<right>d<home>x<end>y", "xabcdy|", Edited},
		{"move by control keys", "bc<ctrl+a>a<ctrl+e>d<ctrl+b><ctrl+b><ctrl+f>", "abc|d", Edited},
		{"not beyond the ends", "a<left><left><left>b<right><right><right>", "ba|", Edited},
		{"shift does not select", "one<shift+left>", "on|e", Edited},
		{"words", "one two-three<alt+b><ctrl+left>", "one |two-three", Edited},
		{"words to the right", "one two<home><alt+f><ctrl+right><alt+right>", "one two|", Edited},
		{"words of other scripts", "größe straße<alt+b><alt+b>", "|größe straße", Edited},
		{"a mark belongs to the word", "ne\u0301e x<alt+b><alt+b>", "|ne\u0301e x", Edited},
		{"backspace", "abc<backspace><ctrl+h>", "a|", Edited},
		{"delete", "abc<home><delete><ctrl+d>", "|c", Edited},
		{"marks stay with their letter", "ae\u0301<left>x", "ax|e\u0301", Edited},
		{"backspace takes the mark", "ae\u0301<backspace>", "a|", Edited},
		{"delete takes the mark", "e\u0301b<home><delete>", "|b", Edited},
		{"wide", "日本<left>x", "日x|本", Edited},

		{"kill to the end and yank", "one two<alt+b><ctrl+k><home><ctrl+y>", "two|one ", Edited},
		{"kill to the beginning", "one two<alt+b><ctrl+u>", "|two", Edited},
		{"kill a word up to a blank", "rm a/b-c<ctrl+w>x", "rm x|", Edited},
		{"kill a word", "rm a/b-c<alt+backspace>x", "rm a/b-x|", Edited},
		{"kill a word to the right", "one two<home><alt+d>", "| two", Edited},
		{"kills in a row stay together", "a b c<ctrl+w><ctrl+w><ctrl+y>", "a b c|", Edited},
		{"kills in both directions", "ab cd<alt+b><ctrl+w><alt+d><ctrl+y>", "ab cd|", Edited},
		{"kills with a key between do not", "a b c<ctrl+w><left><right><ctrl+w><ctrl+y>", "a b |", Edited},
		{"nothing killed keeps what was", "ab<ctrl+u><ctrl+u>c<end><ctrl+k><ctrl+y>", "cab|", Edited},
		{"kill joins lines", "a<ctrl+j>b<up><end><ctrl+k>", "a|b", Edited},
		{"kill joins with the line above", "a<ctrl+j>b<home><ctrl+u>", "a|b", Edited},

		{"enter", "hi<enter>", "hi|", Submitted},
		{"enter in the middle", "hi<left><enter>", "h|i", Submitted},
		{"a backslash goes on", "a\\<enter>b<enter>", "a\nb|", Submitted},
		{"two backslashes do not", "a\\\\<enter>", "a\\\\|", Submitted},
		{"line ends", "a<alt+enter>b<shift+enter>c<ctrl+enter>d<ctrl+j>e", "a\nb\nc\nd\ne|", Edited},
		{"home and end are of the line", "ab<ctrl+j>cd<home>x<end>y", "ab\nxcdy|", Edited},
		{"up and down", "abc<ctrl+j>d<up>x<down>y", "axbc\ndy|", Edited},

		{"ctrl+d on nothing", "<ctrl+d>", "|", Ended},
		{"ctrl+d deletes", "ab<home><ctrl+d>", "|b", Edited},
		{"ctrl+c on nothing", "<ctrl+c>", "|", Interrupted},
		{"ctrl+c clears", "ab<ctrl+c>", "|", Edited},
		{"ctrl+l", "ab<ctrl+l>", "ab|", Cleared},
		{"ctrl+g is for searches", "ab<ctrl+g>", "ab|", Edited},
		{"unknown keys", "ab<f5>", "ab|", Ignored},
		{"shift+tab", "/he<shift+tab>", "/he|", Ignored},

		{"history", "<up><up>", "git push|", Edited},
		{"history from an end", "<up><up><up><up>", "go build|", Edited},
		{"history by what is before the cursor", "go<up><up>", "go build|", Edited},
		{"all of the history from the beginning", "go<home><up><up>", "git push|", Edited},
		{"nothing begins so", "x<up>", "x|", Edited},
		{"back to the draft", "go<up><up><down><down>", "go|", Edited},
		{"not beyond the draft", "go<down><down>", "go|", Edited},
		{"an edited entry is the new draft", "<up>x<down>", "go testx|", Edited},

		{"search", "<ctrl+r>bui", "go |build", Edited},
		{"search on", "<ctrl+r>go<ctrl+r>", "|go build", Edited},
		{"search for less", "<ctrl+r>gox<backspace>", "|go test", Edited},
		{"search for nothing", "dr<ctrl+r>g<backspace>", "dr|", Edited},
		{"search ended by a move", "<ctrl+r>pus<end>!", "git push!|", Edited},
		{"search submitted", "<ctrl+r>pus<enter>", "git |push", Submitted},
		{"search cancelled", "dr<left><ctrl+r>pus<ctrl+g>", "d|r", Edited},
		{"search cancelled by ctrl+c", "dr<ctrl+r>pus<ctrl+c>", "dr|", Edited},
		{"search without a match", "<ctrl+r>buix", "go |build", Edited},
		{"unknown keys do not end a search", "<ctrl+r>bu<f5>i", "go |build", Edited},
		{"history from a match", "<ctrl+r>pus<end><up>", "go build|", Edited},

		{"completion", "/he<tab>", "/help |", Edited},
		{"completion of what candidates share", "/ag<tab>", "/agent|", Edited},
		{"candidates after the second", "/agent<tab><tab>", "/agent|", Listed},
		{"not with a key between", "/agent<tab><left><right><tab>", "/agent|", Edited},
		{"completion in the middle", "x /he y<left><left><tab>", "x /help | y", Edited},
		{"nothing to complete", "zzz<tab>", "zzz|", Edited},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(Options{History: history, Complete: completion})
			if out := press(e, c.keys); shown(e) != c.want || out != c.out {
				t.Errorf("%s gives %q and %d, want %q and %d", c.keys, shown(e), out, c.want, c.out)
			}
		})
	}
}

func completion(text string, pos int) []string {
	word := text[strings.LastIndex(text[:pos], " ")+1 : pos]
	return slices.DeleteFunc(
		[]string{"/help", "/agent", "/agents", "/auto"},
		func(c string) bool { return !strings.HasPrefix(c, word) },
	)
}

// No key is in the table twice.
func TestKeysAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range keys {
		for _, name := range row.names {
			if seen[name] {
				t.Errorf("%s does two things", name)
			}
			seen[name] = true
		}
	}
}

// What the full-screen face needs: rows, history, folded pastes.
func TestEditor(t *testing.T) {
	e := New(Options{History: func() []string { return []string{"earlier"} }, FoldPastes: true})
	expect := func(text string, pos int) {
		t.Helper()
		if e.Value() != text || e.pos != pos {
			t.Errorf("%q at %d, want %q at %d", e.Value(), e.pos, text, pos)
		}
	}
	e.Rows(Room{Width: 10})
	press(e, "hi日<left>x")
	expect("hix日", 3)
	press(e, "<ctrl+w>")
	expect("日", 0)
	press(e, "<ctrl+y><end>")
	expect("hix日", 4)
	e.Insert("\nsecond")
	press(e, "<up>")
	expect("hix日\nsecond", 4)
	press(e, "<home><up>")
	expect("earlier", 7)
	press(e, "<down>")
	expect("hix日\nsecond", 11)
	press(e, "<ctrl+u><backspace><ctrl+k><alt+b><delete>")
	expect("ix日", 0)
	e.Set("")
	e.Paste(strings.Repeat("row\n", 20))
	if rows, _, _ := e.Rows(Room{}); len(e.text) != 1 || rows[0].Text != "[paste 1: 20 lines]" ||
		e.Value() != strings.Repeat("row\n", 20) {
		t.Errorf("%q", e.text)
	}
	press(e, "<backspace>")
	expect("", 0)
	e.Insert("a\x1b[31mb\r\nc\U000f0000")
	expect("a[31mb\nc", 8)
}

func TestPaste(t *testing.T) {
	long := strings.Repeat("row\n", 20)
	for _, c := range []struct {
		name  string
		opts  Options
		paste string
		want  string
		fold  bool
	}{
		{"line ends", Options{}, "a\r\nb\rc\nd", "a\nb\nc\nd", false},
		{"no control characters", Options{}, "a\x07\x1b[31mb\tc", "a[31mb\tc", false},
		{"in one line", Options{Single: true}, "a\r\nb", "a b", false},
		{"long", Options{FoldPastes: true}, long, long, true},
		{"wide", Options{FoldPastes: true}, strings.Repeat("x", 800), strings.Repeat("x", 800), true},
		{"short", Options{FoldPastes: true}, "a\nb\n", "a\nb\n", false},
		{"long and unfolded", Options{}, long, long, false},
		{"long in one line", Options{FoldPastes: true, Single: true}, long, strings.ReplaceAll(long, "\n", " "), false},
		{"long with control characters", Options{FoldPastes: true}, long + "\x1b[31m", long + "[31m", true},
		{"too long", Options{FoldPastes: true}, strings.Repeat("x", maxInput+1), "", false},
		{"invalid", Options{}, "a\xffb", "a\ufffdb", false},
	} {
		e := New(c.opts)
		out := e.Apply(Key{Text: c.paste, Pasted: true})
		if e.Value() != c.want || (len(e.pastes) > 0) != c.fold || out != Edited {
			t.Errorf("%s: %.40q, %d folded", c.name, e.Value(), len(e.pastes))
		}
	}
	e := New(Options{FoldPastes: true})
	for range 10 {
		e.Paste(strings.Repeat("x", 1<<20))
	}
	if n := len(e.Value()); n > maxInput {
		t.Errorf("%d bytes are kept", n)
	}
	e = New(Options{History: history})
	press(e, "<ctrl+r>")
	e.Apply(Key{Text: "pu", Pasted: true})
	if shown(e) != "git |push" {
		t.Errorf("a paste into a search: %q", shown(e))
	}
}

// A folded paste is one character: it moves, is killed and comes back as a whole, also through the history.
func TestFoldedPasteIsOneCharacter(t *testing.T) {
	e := New(Options{History: history, FoldPastes: true})
	long := strings.Repeat("row\n", 20)
	press(e, "see ")
	e.Paste(long)
	press(e, " end<home><up><down><alt+b><alt+b><ctrl+w><end><ctrl+y>")
	if want := long + " endsee "; e.Value() != want {
		t.Errorf("%q", e.Value())
	}
	press(e, "<home><ctrl+k><ctrl+y><left><left><left><left><left><left><left><left><alt+backspace>")
	if want := " endsee "; e.Value() != want {
		t.Errorf("%q", e.Value())
	}
}

// A text that is set is another one: the history begins anew, and nothing is killed with what was killed before.
func TestSet(t *testing.T) {
	e := New(Options{History: history})
	press(e, "<up><up>")
	e.Set("")
	press(e, "<up>")
	if shown(e) != "go test|" {
		t.Errorf("%q", shown(e))
	}
	press(e, "<ctrl+u>")
	e.Set("new")
	press(e, "<ctrl+u><ctrl+y><ctrl+y>")
	if shown(e) != "newnew|" {
		t.Errorf("%q", shown(e))
	}
	press(e, "<ctrl+r>")
	if _, _, ok := e.Search(); !ok {
		t.Error("no search")
	}
	e.Set("")
	if _, _, ok := e.Search(); ok {
		t.Error("the search goes on")
	}
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		text string
		left int // How far the cursor is from the end.
		room Room
		want string
		y, x int
	}{
		{"", 0, Room{Width: 6}, "", 0, 0},
		{"abc", 0, Room{}, "abc", 0, 3},
		{"abcdef", 0, Room{Width: 6}, "abcdef|", 1, 0},
		{"abcdef", 1, Room{Width: 6}, "abcdef", 0, 5},
		{"abcdefgh", 2, Room{Width: 6}, "abcdef|gh", 1, 0},
		{"abcdef\ngh", 3, Room{Width: 6}, "abcdef||gh", 1, 0},
		{"abcde日", 0, Room{Width: 6}, "abcde|日", 1, 2},
		{"ab\ncd", 0, Room{Width: 6, First: 2, Indent: 2}, "ab|  cd", 1, 4},
		{"abcd", 0, Room{Width: 6, First: 3, Indent: 2}, "abc|d", 1, 1},
		{"a\n", 0, Room{Width: 6, First: 2, Indent: 2}, "a|  ", 1, 2},
		{"\tx", 0, Room{Width: 5}, "    x|", 1, 0},
		{"abcdefgh", 0, Room{Width: 1}, "abcd|efgh|", 2, 0},
	} {
		e := New(Options{})
		e.Set(c.text)
		press(e, strings.Repeat("<left>", c.left))
		rows, y, x := e.Rows(c.room)
		var texts []string
		for _, r := range rows {
			texts = append(texts, r.Text)
		}
		if got := strings.Join(texts, "|"); got != c.want || y != c.y || x != c.x {
			t.Errorf("%q: %q with the cursor at %d,%d; want %q, %d,%d", c.text, got, y, x, c.want, c.y, c.x)
		}
	}
}

// Up and down move in the rows that are seen, to the same cell where there is one.
func TestRowMoves(t *testing.T) {
	for _, c := range []struct {
		text, keys, want string
		room             Room
	}{
		{"abcdefghij", "<up>", "abcdef|ghij", Room{Width: 4}},
		{"abcdefghij", "<up><up>", "ab|cdefghij", Room{Width: 4}},
		{"abcdefghij", "<up><up><down>", "abcdef|ghij", Room{Width: 4}},
		{"abc日e", "<up>", "ab|c日e", Room{Width: 4}}, // Behind the c is the next row: the wide one has no room.
		{"日本\nabc", "<up>", "日|本\nabc", Room{Width: 10}},
		{"ab\ncd", "<up>", "ab|\ncd", Room{Width: 10, First: 2, Indent: 2}},
		{"abcd\nef", "<up>", "ab|cd\nef", Room{Width: 10, First: 4, Indent: 4}},
		{"long line\nx\nlong line", "<up><up>", "l|ong line\nx\nlong line", Room{Width: 10}},
	} {
		e := New(Options{})
		e.Set(c.text)
		e.Rows(c.room)
		if press(e, c.keys); shown(e) != c.want {
			t.Errorf("%q, %s: %q, want %q", c.text, c.keys, shown(e), c.want)
		}
	}
}

// FuzzEditor presses any keys: nothing panics, the cursor stays in the text, which stays valid and without
// characters that could drive a terminal, and its rows fit and hold all of it.
func FuzzEditor(f *testing.F) {
	var names []string
	for _, row := range keys {
		names = append(names, row.names...)
	}
	for _, s := range []string{"abc", "\x01a\x02b\x03", "日\xff\xfe\x00\x10\x20", "\x30\x31\x32x\x33\x34"} {
		f.Add([]byte(s), "one\ntwo 日本\x1b[31m", 7, uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, text string, limit int, flags uint8) {
		e := New(Options{
			History:    func() []string { return []string{text, "two\nthree", "\xff\x1b[m\U000f0001"} },
			Complete:   func(s string, pos int) []string { return []string{s[max(0, pos-3):pos] + "ab", text} },
			Single:     flags&1 != 0,
			FoldPastes: flags&2 != 0,
		})
		room := Room{Width: limit % 100, First: int(flags >> 4), Indent: int(flags >> 2 & 3)}
		text = text[:min(len(text), 2000)]
		for _, b := range data[:min(len(data), 500)] {
			if len(e.text) > 5000 { // Checking takes too long, and shows nothing more.
				e.Set(text)
			}
			switch {
			case int(b) < len(names):
				e.Apply(Key{Name: names[b]})
			case b >= 0xf8:
				e.Apply(Key{Text: strings.Repeat(text, int(b-0xf7)), Pasted: true})
			case b >= 0xf0:
				e.ReplaceWord(text)
			default:
				e.Apply(Key{Name: string(rune(b)), Text: string(rune(b) * 17)})
			}
			if e.pos < 0 || e.pos > len(e.text) {
				t.Fatalf("cursor %d in %d characters", e.pos, len(e.text))
			}
			checkText(t, e)
			checkRows(t, e, room)
		}
	})
}

func checkText(t *testing.T, e *Editor) {
	t.Helper()
	for _, s := range []string{e.Value(), e.Before(), e.After(), string(e.kill)} {
		if !utf8.ValidString(s) {
			t.Fatalf("%q is not valid", s)
		}
		for _, r := range s {
			if unicode.IsControl(r) && r != '\t' && (r != '\n' || e.opts.Single) {
				t.Fatalf("%q in the text", r)
			}
		}
	}
	for _, r := range e.text {
		if isFolded(r) && int(r-firstPaste) >= len(e.pastes) {
			t.Fatalf("%U stands for no paste", r)
		}
	}
}

func checkRows(t *testing.T, e *Editor, room Room) {
	t.Helper()
	rows, y, x := e.Rows(room)
	at := 0
	for i, r := range rows {
		if r.From != at || r.To < r.From {
			t.Fatalf("row %d is %d-%d, after %d", i, r.From, r.To, at)
		}
		at = r.To
		if room.Width > 0 && r.Cells > max(room.Width, 4, r.lead) && width.Of(r.Text) > 2 {
			t.Fatalf("row %d of %d cells has %d: %q", i, room.Width, r.Cells, r.Text)
		}
	}
	if at != len(e.text) || y < 0 || y >= len(rows) || x < 0 {
		t.Fatalf("%d of %d characters in %d rows, cursor at %d,%d", at, len(e.text), len(rows), y, x)
	}
	if row := rows[y]; e.pos < row.From || e.pos > row.To {
		t.Fatalf("cursor %d is not in row %d: %d-%d", e.pos, y, row.From, row.To)
	}
}
