package wording

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName bounds the names that are compared; the comparison is quadratic in it.
const maxName = 64

// Closest returns the candidate that name was probably meant to be, or "" when none is
// near. Upper and lower case count as equal. A candidate is near when about a third of
// its letters at most were swapped, added, dropped or mistyped, or when name is the
// beginning of it. Among equally near ones the first wins.
func Closest(name string, candidates []string) string {
	low := strings.ToLower(name)
	n := utf8.RuneCountInString(low)
	if n == 0 || n > maxName {
		return ""
	}
	best, bestCost := "", maxName
	for _, c := range candidates {
		m := utf8.RuneCountInString(c)
		if m == 0 || m > maxName {
			continue
		}
		lowC := strings.ToLower(c)
		limit := max(1, max(n, m)/3)
		cost := distance([]rune(low), []rune(lowC))
		if cost > limit && n >= 3 && strings.HasPrefix(lowC, low) {
			cost = limit
		}
		if cost <= limit && cost < bestCost && cost < max(n, m) {
			best, bestCost = c, cost
		}
	}
	return best
}

// DidYouMean is `did you mean "x"?` with the candidate closest to name, or empty where
// none is near.
func DidYouMean(name string, candidates []string) string {
	if near := Closest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Suggest is DidYouMean as the end of a message: in parentheses, after a blank.
func Suggest(name string, candidates []string) string {
	if s := DidYouMean(name, candidates); s != "" {
		return " (" + s + ")"
	}
	return ""
}

// maxChoices is how many choices a message may list.
const maxChoices = 20

// Hint is what follows a name that does not exist: Suggest, else the choices, as in
// " (keys: a, b)", else nothing.
func Hint(name, what string, choices []string) string {
	if s := Suggest(name, choices); s != "" {
		return s
	}
	if len(choices) == 0 || len(choices) > maxChoices {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", what, strings.Join(choices, ", "))
}

// distance is the Damerau-Levenshtein distance (optimal string alignment).
func distance(a, b []rune) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
