package plain

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/line"
	"github.com/idelchi/aura/internal/width"
)

// fakeScreen obeys the few sequences that view writes.
type fakeScreen struct {
	width    int
	rows     [][]rune
	row, col int
	wrap     bool // The last cell of the row was written.
}

func (s *fakeScreen) write(text string) {
	r := []rune(text)
	for i := 0; i < len(r); i++ {
		switch c := r[i]; c {
		case '\r':
			s.col, s.wrap = 0, false
		case '\n':
			s.row++
		case 0x1b:
			end := i + 2
			for r[end] >= '0' && r[end] <= '9' {
				end++
			}
			n, _ := strconv.Atoi(string(r[i+2 : end]))
			s.sequence(r[end], n)
			i = end
		default:
			s.put(c)
		}
	}
}

func (s *fakeScreen) sequence(final rune, n int) {
	switch final {
	case 'A':
		s.row = max(0, s.row-n)
	case 'B':
		s.row += n
	case 'C':
		s.col = min(s.col+n, s.width-1)
	case 'J':
		s.line()
		s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
		s.rows = s.rows[:s.row+1]
	default:
		panic("unknown sequence " + string(final))
	}
}

func (s *fakeScreen) line() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

func (s *fakeScreen) put(c rune) {
	w := width.Rune(c)
	if s.wrap || s.col+w > s.width {
		s.row, s.col, s.wrap = s.row+1, 0, false
	}
	s.line()
	for len(s.rows[s.row]) < s.col+w {
		s.rows[s.row] = append(s.rows[s.row], ' ')
	}
	if w == 0 {
		return
	}
	s.rows[s.row][s.col] = c
	if w == 2 {
		s.rows[s.row][s.col+1] = -1
	}
	if s.col += w; s.col >= s.width {
		s.col, s.wrap = s.width-1, true
	}
}

func (s *fakeScreen) text() string {
	var out []string
	for _, row := range s.rows {
		out = append(
			out,
			strings.TrimRight(string(slices.DeleteFunc(slices.Clone(row), func(r rune) bool { return r < 0 })), " "),
		)
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

func TestRedrawLeavesNothingBehind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	inputs := []string{
		"a",
		"word ",
		"日",
		"é",
		"\x7f",
		"\x7f\x7f\x7f",
		"\x17",
		"\x1b[D",
		"\x1b[C",
		"\x01",
		"\x05",
		"\n",
		"\x1b[A",
		"\x1b[B",
		"\x15",
		"\t",
		"\x19",
		"x",
	}
	for _, limit := range []int{5, 8, 20} {
		s, v := &fakeScreen{width: limit}, &view{}
		s.write("before\r\n")
		top := s.row
		l := line.New(line.Options{History: func() []string { return []string{"older entry\nof two lines", "newest"} }})
		var d decoder
		for range 500 {
			for _, k := range d.feed([]byte(inputs[random.IntN(len(inputs))])) {
				l.Apply(k)
			}
			s.write(v.draw("> ", l, limit, 1000))
			want := arrange("> ", l, limit)
			if s.row != top+want.row || s.col != want.col {
				t.Fatalf(
					"width %d, %q: cursor at %d,%d, want %d,%d",
					limit,
					l.Value(),
					s.row-top,
					s.col,
					want.row,
					want.col,
				)
			}
			fresh := &fakeScreen{width: limit}
			fresh.write("before\r\n" + (&view{}).draw("> ", l, limit, 1000))
			if got := s.text(); got != fresh.text() {
				t.Fatalf("width %d, %q: screen is\n%s\nwant\n%s", limit, l.Value(), got, fresh.text())
			}
		}
	}
}

// editing is an editor with a text and the cursor in it.
func editing(text string, pos int) *line.Editor {
	l := line.New(line.Options{})
	l.Set(text)
	for range len([]rune(text)) - pos {
		l.Apply(line.Key{Name: "left"})
	}
	return l
}

func TestArrange(t *testing.T) {
	tests := []struct {
		text     string
		pos      int
		rows     []string
		row, col int
	}{
		{"", 0, []string{"> "}, 0, 2},
		{"abcd", 4, []string{"> abcd", ""}, 1, 0}, // The cursor needs a row.
		{"abcd", 2, []string{"> abcd"}, 0, 4},
		{"abcdef", 4, []string{"> abcd", "ef"}, 1, 0},
		{"abc日", 4, []string{"> abc", "日"}, 1, 2}, // Wide characters are not cut in two.
		{"a\nb", 3, []string{"> a", "  b"}, 1, 3},
		{"a\n", 2, []string{"> a", "  "}, 1, 2},
		{"\tx", 2, []string{">     ", "x"}, 1, 1},
	}
	for _, tt := range tests {
		got := arrange("> ", editing(tt.text, tt.pos), 6)
		if !slices.Equal(got.rows, tt.rows) || got.row != tt.row || got.col != tt.col {
			t.Errorf("%q: %q cursor %d,%d; want %q %d,%d", tt.text, got.rows, got.row, got.col, tt.rows, tt.row, tt.col)
		}
	}
	if got := arrange("\x1b[1m> \x1b[0m", editing("a", 1), 10); got.col != 3 {
		t.Errorf("a coloured prompt takes %d cells", got.col-1)
	}
}

func TestNarrowedTerminal(t *testing.T) {
	v := &view{}
	text := editing("abcdefghijklmnopqr", 18) // Two rows of 16 with the prompt: 14 and 4.
	v.draw("> ", text, 16, 24)
	got := v.draw("> ", text, 8, 24)
	if !strings.HasPrefix(got, "\r\x1b[2A\x1b[J") { // The first row takes two now.
		t.Errorf("redraw begins with %q", got[:min(len(got), 12)])
	}
}

func TestTallInputShowsTheCursor(t *testing.T) {
	v := &view{}
	text := editing("1\n2\n3\n4\n5", 9)
	got := v.draw("", text, 20, 3)
	if strings.Contains(got, "2") || !strings.Contains(got, "3\r\n") || !strings.Contains(got, "5") {
		t.Errorf("window of three rows is %q", got)
	}
	if got := v.leave("", text, 20); !strings.Contains(got, "1\r\n") {
		t.Errorf("the finished input is %q, want all of it", got)
	}
}
