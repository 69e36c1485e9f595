package commands

import (
	"errors"
	"fmt"
	"strings"
)

// blanks separate words.
const blanks = " \t\r\n"

// splitActions separates the actions from the text before them. A word that begins
// with a double quote is an action, and only actions may follow it. A quote inside
// a word, as in bash:"a b", belongs to the text; it keeps words together and is
// removed. In quotes, \" and \\ stand for the second character; every other
// backslash, and single quotes, stand for themselves.
func splitActions(args string) (before string, actions []string, err error) {
	var text strings.Builder
	start := true // Of a word.
	for i := 0; i < len(args); {
		if args[i] != '"' {
			if len(actions) > 0 && !isBlank(args[i]) {
				return "", nil, stray(args[i:])
			}
			text.WriteByte(args[i])
			start = isBlank(args[i])
			i++
			continue
		}
		quoted, n, ok := unquote(args[i:])
		if !ok {
			return "", nil, fmt.Errorf("quote is not closed: %s", clip(args[i:], 40))
		}
		i += n
		if !start {
			text.WriteString(quoted)
			continue
		}
		if i < len(args) && !isBlank(args[i]) {
			return "", nil, stray(args[i:])
		}
		if strings.TrimSpace(quoted) == "" {
			return "", nil, errors.New(`action is empty: ""`)
		}
		actions = append(actions, quoted)
	}
	return strings.Trim(text.String(), blanks), actions, nil
}

// stray is the error about text behind an action.
func stray(rest string) error {
	return fmt.Errorf(
		`text after an action: %q (quote every action; a command with quotes goes into bash:"...")`,
		clip(rest, 40),
	)
}

// unquote reads the quoted text at the beginning of s and returns how long it is
// with its quotes; ok is false if it does not end.
func unquote(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i + 1, true
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", 0, false
}

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }
