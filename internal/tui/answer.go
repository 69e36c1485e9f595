package tui

import (
	"strings"

	"github.com/idelchi/aura/internal/terminal"
)

// answer is what the model says: Markdown that grows. It is cut into pieces that
// do not change any more, so that only the last one is drawn anew when it grows.
type answer struct {
	painter *painter
	pieces  []piece
	filter  terminal.Filter
	size    int
}

// piece is Markdown that stands by itself, or the middle of a code block.
type piece struct {
	src   []byte
	fence string // Not empty: it begins inside a code block that this line opened.
	blank bool   // A blank line stands before it.
}

const (
	codeLines = 30      // After so many lines a code block is cut.
	maxPiece  = 8 << 10 // After so many bytes everything is.
)

func (a *answer) parts() int { return len(a.pieces) }

func (a *answer) text() string {
	var b strings.Builder
	b.Grow(a.size)
	for i := range a.pieces {
		b.Write(a.pieces[i].src)
	}
	return b.String()
}

func (a *answer) draw(part, limit int) []string {
	p := &a.pieces[part]
	src := string(p.src)
	if strings.TrimSpace(src) == "" && p.fence == "" {
		return nil
	}
	var lines []string
	if p.blank {
		lines = append(lines, "")
	}
	for _, line := range a.painter.markdown(src, p.fence, limit-2) {
		lines = append(lines, "  "+line)
	}
	return lines
}

// add appends text and returns the first piece that changed.
func (a *answer) add(s string) int {
	s = a.filter.Clean(s)
	if len(a.pieces) == 0 {
		s = strings.TrimLeft(s, "\n")
		if s == "" {
			return 0
		}
		a.pieces = append(a.pieces, piece{})
	}
	a.size += len(s)
	first := len(a.pieces) - 1
	for s != "" {
		p := &a.pieces[len(a.pieces)-1]
		// Cuts are looked for in what is complete: at the beginning of a line.
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 {
			n = len(s)
		}
		p.src = append(p.src, s[:n]...)
		s = s[n:]
		a.cut()
	}
	return first
}

// cut ends the last piece where that changes nothing of what is seen.
func (a *answer) cut() {
	p := &a.pieces[len(a.pieces)-1]
	src := string(p.src)
	if !strings.HasSuffix(src, "\n") {
		if len(src) > maxPiece {
			a.split(p, src, lastBreak(src))
		}
		return
	}
	fence, lines, last := openFence(src, p.fence)
	switch {
	case fence != "" && (lines >= codeLines || len(src) > maxPiece):
		a.pieces = append(a.pieces, piece{fence: fence})
	case fence == "" && p.fence != "": // The code block ends here.
		a.pieces = append(a.pieces, piece{blank: true})
	case (fence == "" || lines == 0) && last > 0 && topLevel(src[last:]):
		a.split(p, src, last)
	case fence == "" && len(src) > maxPiece:
		a.split(p, src, lastBreak(src))
	}
}

// split moves the end of a piece into a new one.
func (a *answer) split(p *piece, src string, at int) {
	if at <= 0 || at >= len(src) {
		return
	}
	p.src = p.src[:at:at]
	blank := strings.HasSuffix(strings.TrimRight(strings.ReplaceAll(src[:at], " ", ""), " "), "\n\n")
	a.pieces = append(a.pieces, piece{src: []byte(src[at:]), blank: blank})
}

func lastBreak(src string) int {
	if i := strings.LastIndexByte(src[:len(src)-1], '\n'); i > 0 {
		return i + 1
	}
	return strings.LastIndexByte(src, ' ') + 1
}

// topLevel reports whether a line begins a block that does not belong to the one
// before it.
func topLevel(line string) bool {
	return line != "" && line[0] != ' ' && line[0] != '\t' && line[0] != '\n' && line[0] != '>'
}

// openFence returns the line that opened the code block in which src ends, if it
// does, the number of lines since, and where the line after the last blank line
// outside of code begins if it is the last one.
func openFence(src, fence string) (open string, lines, last int) {
	blank := false
	for at := 0; at < len(src); {
		n := strings.IndexByte(src[at:], '\n') + 1
		if n == 0 {
			n = len(src) - at
		}
		line := strings.TrimRight(src[at:at+n], "\n")
		trimmed := strings.TrimLeft(line, " ")
		lines++
		switch {
		case fence != "":
			mark := fenceMark(fence)
			if strings.HasPrefix(trimmed, mark) && strings.Trim(trimmed, mark[:1]+" ") == "" {
				fence, lines, last = "", 0, 0
			}
			blank = false
		case fenceMark(trimmed) != "":
			if blank && at+n == len(src) {
				last = at
			}
			fence, lines = trimmed, 0
			blank = false
		default:
			last = 0
			if blank && trimmed != "" {
				last = at
			}
			blank = trimmed == ""
		}
		at += n
	}
	return fence, lines, last
}

// fenceMark is the run of backticks or tildes that a line begins with, if it can
// open a code block.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && (c == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}
