package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Filter takes everything out of a stream of text that could drive a terminal:
// escape sequences as a whole and control characters other than newline and tab.
// A carriage return becomes a newline, so that text cannot be overwritten by what
// follows it. Sequences and characters may be split between calls. The zero value is
// ready.
type Filter struct {
	state filterState
	run   int    // Length of the escape sequence so far.
	cr    bool   // The last character was a carriage return.
	tail  []byte // Incomplete character at the end of the last piece.
}

type filterState uint8

const (
	ground  filterState = iota
	escape              // After ESC.
	csi                 // After ESC [.
	command             // In an OSC, DCS, APC, PM or SOS string.
	commandEscape
)

// maxSequence bounds an escape sequence: an unfinished one must not swallow the
// rest of an answer.
const maxSequence = 2048

// Clean returns the harmless part of the next piece of the stream.
func (f *Filter) Clean(s string) string {
	if f.state == ground && !f.cr && len(f.tail) == 0 && harmless(s) {
		return s
	}
	if len(f.tail) > 0 {
		s = string(f.tail) + s
		f.tail = f.tail[:0]
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 && !utf8.FullRuneInString(s) {
			f.tail = append(f.tail, s...)
			break
		}
		f.put(&b, r)
		s = s[size:]
	}
	return b.String()
}

func (f *Filter) put(b *strings.Builder, r rune) {
	if f.state != ground {
		if f.run++; f.run > maxSequence || r == '\n' {
			f.state = ground
		}
	}
	switch f.state {
	case escape:
		f.afterEscape(r)
	case csi:
		switch {
		case r >= 0x40 && r <= 0x7e:
			f.state = ground
		case r < 0x20 || r > 0x7e: // Not a sequence after all.
			f.state = ground
			f.put(b, r)
		}
	case command:
		switch r {
		case 0x07, 0x9c:
			f.state = ground
		case 0x1b:
			f.state = commandEscape
		}
	case commandEscape:
		if f.state = command; r == '\\' {
			f.state = ground
		}
	default:
		f.plain(b, r)
	}
}

func (f *Filter) afterEscape(r rune) {
	switch {
	case r == '[':
		f.state = csi
	case strings.ContainsRune("]PX^_", r):
		f.state = command
	case r >= 0x20 && r <= 0x2f: // Intermediate: the final byte follows.
	case r == 0x1b:
	default:
		f.state = ground
	}
}

func (f *Filter) plain(b *strings.Builder, r rune) {
	cr := f.cr
	f.cr = false
	switch {
	case r == '\n' && cr: // The carriage return already made the newline.
	case r == '\n' || r == '\t':
		b.WriteRune(r)
	case r == '\r':
		f.cr = true
		b.WriteByte('\n')
	case r == 0x1b:
		f.state, f.run = escape, 0
	case r == 0x9b:
		f.state, f.run = csi, 0
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		f.state, f.run = command, 0
	case unicode.IsControl(r) || reorders(r):
	default:
		b.WriteRune(r)
	}
}

// reorders reports whether r changes the direction of the text around it, which
// can make a line read differently from what it is.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// harmless reports whether s is text that needs no filter.
func harmless(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// Clean removes escape sequences and control characters from a text; see Filter.
func Clean(s string) string {
	if harmless(s) {
		return s
	}
	var f Filter
	return f.Clean(s)
}

// Visible makes a text safe to judge by eye: control characters, escape sequences
// and characters that reorder text are spelled out instead of obeyed or hidden.
func Visible(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// OneLine is Visible for a label: line breaks become a sign.
func OneLine(s string) string {
	return strings.NewReplacer("\n", "⏎ ", "\t", " ").Replace(strings.TrimSpace(Visible(s)))
}
