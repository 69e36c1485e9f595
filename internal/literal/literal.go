// Package literal finds the words that a regular expression cannot match without.
package literal

import (
	"regexp/syntax"
	"strings"
)

// maxWords is how many alternatives are worth looking for one by one.
const maxWords = 8

// Required finds words of which every match contains at least one; none if there
// are no such words. fold says that they are in lower case, for text in lower case.
// Looking for a word is many times faster than matching a regular expression.
func Required(re *syntax.Regexp) (words []string, fold bool) {
	words, fold = needed(re, 0)
	for _, w := range words {
		if w == "" {
			return nil, false
		}
	}
	return words, fold
}

func needed(re *syntax.Regexp, depth int) (words []string, fold bool) {
	if depth > 50 {
		return nil, false
	}
	switch re.Op {
	case syntax.OpLiteral:
		w := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			w = foldable(w)
			fold = true
		}
		if w == "" || strings.ContainsAny(w, "\n\ufffd") {
			return nil, false
		}
		return []string{w}, fold
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0], depth+1)
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0], depth+1)
		}
	case syntax.OpConcat:
		// The part whose shortest word is the longest says most.
		for _, sub := range re.Sub {
			if w, f := needed(sub, depth+1); shortest(w) > shortest(words) {
				words, fold = w, f
			}
		}
		return words, fold
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			w, f := needed(sub, depth+1)
			if len(w) == 0 || i > 0 && f != fold || len(words)+len(w) > maxWords {
				return nil, false
			}
			words, fold = append(words, w...), f
		}
		return words, fold
	}
	return nil, false
}

func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	n := len(words[0])
	for _, w := range words {
		n = min(n, len(w))
	}
	return n
}

// foldable is the longest part of a word that has no other spelling than upper and
// lower case ASCII. k and s have: the Kelvin sign and the long s.
func foldable(w string) string {
	best := ""
	parts := strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return r > 127 || r == 'k' || r == 's' })
	for _, p := range parts {
		if len(p) > len(best) {
			best = p
		}
	}
	return best
}
