package line

import (
	"fmt"
	"strings"

	"github.com/idelchi/aura/internal/width"
)

const (
	firstPaste = 0xf0000 // Private use: stands for the first folded paste, the next one for the second.
	maxPastes  = 1000
	pasteLines = 8   // Pastes of more lines,
	pasteBytes = 800 // or of more bytes, are folded.
)

// pastes are the folded pastes of a text. A character from firstPaste on stands for each of them.
type pastes []string

// isFolded reports whether a character can stand for a paste.
func isFolded(r rune) bool { return r >= firstPaste && r < firstPaste+maxPastes }

// isLong reports whether a paste is to be folded.
func isLong(s string) bool { return strings.Count(s, "\n") >= pasteLines || len(s) >= pasteBytes }

// size is the number of bytes of all pastes.
func (p pastes) size() int {
	n := 0
	for _, s := range p {
		n += len(s)
	}
	return n
}

// add folds a paste and returns the character that stands for it.
func (p *pastes) add(s string) rune {
	*p = append(*p, s)
	return rune(firstPaste + len(*p) - 1)
}

// expand is a text with its pastes in full.
func (p pastes) expand(text []rune) string {
	if len(p) == 0 {
		return string(text)
	}
	var b strings.Builder
	for _, r := range text {
		if i := int(r - firstPaste); i >= 0 && i < len(p) {
			b.WriteString(p[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shown is how a character appears.
func (p pastes) shown(r rune) string {
	i := int(r - firstPaste)
	if i < 0 || i >= len(p) {
		return width.ExpandTabs(string(r))
	}
	lines := strings.Count(strings.TrimSuffix(p[i], "\n"), "\n") + 1
	if lines == 1 {
		return fmt.Sprintf("[paste %d: 1 line]", i+1)
	}
	return fmt.Sprintf("[paste %d: %d lines]", i+1, lines)
}
