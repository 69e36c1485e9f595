// Package wording is what messages for users and models are made with: texts cut to a
// length, numbers with their nouns, and guesses at names that do not exist. It knows
// nothing of terminals: cells and colours belong to the faces.
package wording

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Head returns at most n bytes from the beginning of s and cuts no character apart.
func Head(s string, n int) string {
	n = max(n, 0)
	if n >= len(s) {
		return s
	}
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n] // No UTF-8: every place is as good.
}

// Tail returns at most n bytes from the end of s and cuts no character apart.
func Tail(s string, n int) string {
	n = max(n, 0)
	if n >= len(s) {
		return s
	}
	start := len(s) - n
	for i := start; i < len(s) && i < start+utf8.UTFMax; i++ {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	if n < utf8.UTFMax {
		return "" // Nothing but the end of a character.
	}
	return s[start:]
}

// Clip returns s, or its beginning and an ellipsis, n characters together.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + ellipsis
}

const ellipsis = "…"

// Line is Clip of s with every run of white space as one blank, so that it fits into a
// line.
func Line(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if head, cut := strings.CutSuffix(Clip(s, n), ellipsis); cut && len(head) < len(s) {
		return strings.TrimSpace(head) + ellipsis
	}
	return s
}

// maxShort is how many characters of a foreign word a message repeats.
const maxShort = 60

// Short keeps a name or value that somebody else wrote readable in a message.
func Short(s string) string {
	if r := []rune(s); len(r) > maxShort {
		return string(r[:maxShort]) + "..."
	}
	return s
}

// FirstLine is the first line of s that is not empty, without blanks around it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Count is a number with its noun: "1 hook", "2 hooks".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
