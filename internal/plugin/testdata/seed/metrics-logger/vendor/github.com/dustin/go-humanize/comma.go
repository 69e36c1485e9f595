// Package humanize stands in for the library of that name: the one function that
// the example calls.
package humanize

import "strconv"

// Comma writes v with commas between groups of three digits.
func Comma(v int64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	text := strconv.FormatInt(v, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}
