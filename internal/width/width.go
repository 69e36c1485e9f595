// Package width measures text in cells of a terminal, and cuts and breaks it to fit. It knows
// nothing of colours except that escape sequences take no room, and draws nothing.
package width

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

// Tab is how many cells a tab takes. A fixed number keeps a layout independent of the column;
// whoever draws a tab draws so many blanks (see ExpandTabs).
const Tab = 4

// Rune is the number of cells that a character takes: 0, 1 or 2, and Tab for a tab. It is what
// wcwidth says: the cells of a text are the sum of the cells of its characters, whatever they
// are joined to, as terminals count and as Bubble Tea lays out its screen. Characters whose
// width is ambiguous are narrow in every locale.
func Rune(r rune) int {
	switch {
	case r == '\t':
		return Tab
	case r < 0x20 || r == 0x7f:
		return 0
	case r < 0x7f:
		return 1
	case r >= 0x1f1e6 && r <= 0x1f1ff: // Half of a flag: the library means a whole one.
		return 1
	}
	return displaywidth.Rune(r)
}

// Of is the number of cells of a text without escape sequences.
func Of(s string) int {
	n := 0
	for _, r := range s {
		n += Rune(r)
	}
	return n
}

// OfStyled is the number of cells of a text that may have escape sequences.
func OfStyled(s string) int {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = ansi.Strip(s)
	}
	return Of(s)
}

// Fit cuts a text without escape sequences to at most n cells, with an ellipsis where something
// is missing.
func Fit(s string, n int) string {
	if n < 1 {
		return ""
	}
	if len(s) <= n && printable(s) {
		return s
	}
	used, last := 0, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		w := Rune(r)
		if used+w > n {
			return s[:last] + "…"
		}
		i += size
		if used += w; used <= n-1 {
			last = i
		}
	}
	return s
}

// Pad fills a text without escape sequences with blanks to n cells.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-Of(s))) }

// ExpandTabs replaces tabs by the blanks that they take.
func ExpandTabs(s string) string { return strings.ReplaceAll(s, "\t", strings.Repeat(" ", Tab)) }

// printable reports whether every byte of s is a character of one cell.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
