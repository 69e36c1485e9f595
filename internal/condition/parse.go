package condition

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/idelchi/aura/internal/wording"
)

// Parse reads an expression: terms joined by "and", each with any number of
// "not" before it. Blank text is no condition: the result is nil, which is
// always true. An error names the term it is about.
func Parse(source string) (*Expr, error) {
	source = strings.TrimSpace(source)
	if source == "" {
		return nil, nil
	}
	e := &Expr{source: source, tests: make([]test, 0, strings.Count(source, "and")+1)}
	rest, more := source, true
	for more {
		var part string
		part, rest, more = cutAnd(rest)
		t, err := parseTerm(part)
		if err != nil {
			if n := len(e.tests); n > 0 && e.tests[n-1].arg == text {
				// The split comes first, so the rest of a command ends up here.
				return nil, fmt.Errorf("condition %q: %w; %q cannot contain the word \"and\"%s",
					clip(source), err, e.tests[n-1].Name+":", andHint(e.tests[n-1].shell))
			}
			return nil, fmt.Errorf("condition %q: %w", clip(source), err)
		}
		e.tests = append(e.tests, t)
	}
	return e, nil
}

func andHint(shell bool) string {
	if shell {
		return " (use \"&&\" in commands)"
	}
	return ""
}

// cutAnd cuts s around the first "and" that stands alone as a word.
func cutAnd(s string) (before, after string, found bool) {
	for i := 0; ; {
		j := strings.Index(s[i:], "and")
		if j < 0 {
			return s, "", false
		}
		j += i
		i = j + len("and")
		if (j == 0 || blank(s[j-1])) && (i == len(s) || blank(s[i])) {
			return s[:j], s[i:], true
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// parseTerm reads one term with its negations.
func parseTerm(s string) (test, error) {
	var t test
	s = strings.TrimSpace(s)
	for {
		word, rest, _ := cutBlank(s)
		if word != "not" {
			break
		}
		t.negated = !t.negated
		if s = rest; s == "" {
			return t, fmt.Errorf("a term is missing after \"not\"")
		}
	}
	if s == "" {
		return t, fmt.Errorf("a term is missing beside \"and\"")
	}
	name, value, colon := strings.Cut(s, ":")
	value = strings.TrimSpace(value)
	t.term = find(name)
	if t.term == nil {
		return t, unknown(s, name)
	}
	return t, t.setArgument(value, colon)
}

// cutBlank cuts s after its first word and drops the blanks that follow.
func cutBlank(s string) (word, rest string, found bool) {
	i := strings.IndexAny(s, " \t\r\n")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimSpace(s[i:]), true
}

// setArgument checks the text after the colon against what the term takes.
func (t *test) setArgument(value string, colon bool) error {
	if t.arg == none {
		if colon {
			return fmt.Errorf("term %q takes no value, got %q", t.Name, clip(value))
		}
		return nil
	}
	if value == "" {
		return fmt.Errorf("term %q needs a value: %s:%s", t.Name, t.Name, t.Argument)
	}
	switch t.arg {
	case whole, decimal:
		n, ok := number(value, t.arg == decimal)
		if !ok {
			kind := "a whole number"
			if t.arg == decimal {
				kind = "a number"
			}
			return fmt.Errorf("term %q expects %s, 0 or greater, got %q", t.Name, kind, clip(value))
		}
		t.number = n
	case choice:
		names := make([]string, len(t.Values))
		for i, v := range t.Values {
			if names[i] = v.Name; v.Name == value {
				t.value = value
				return nil
			}
		}
		return fmt.Errorf("term %q knows no %s %q%s; it is one of %s", t.Name, strings.Trim(t.Argument, "<>"),
			clip(value), suggest(value, names), strings.Join(names, ", "))
	}
	t.value = value
	return nil
}

// number reads digits with an optional fraction: no sign, no exponent and none
// of the other spellings that strconv knows.
func number(s string, fraction bool) (float64, bool) {
	digits, dots := 0, 0
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits++
		case s[i] == '.' && fraction:
			dots++
		default:
			return 0, false
		}
	}
	if digits == 0 || dots > 1 {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// unknown explains a term that does not begin with a known name.
func unknown(s, name string) error {
	word, rest, several := cutBlank(s)
	switch {
	case strings.ContainsAny(word, "()"):
		return fmt.Errorf("term %q: there are no parentheses; terms are joined by \"and\" only", clip(s))
	case several && firstIs(rest, "or", "||", "|"):
		return fmt.Errorf("term %q: there is no \"or\"; terms are joined by \"and\" only", clip(s))
	case several && firstIs(rest, "&&", "&", ",") || several && strings.EqualFold(rest[:min(3, len(rest))], "and"):
		return fmt.Errorf("term %q: terms are joined by the word \"and\", in lower case", clip(s))
	case several && strings.EqualFold(word, "not"):
		return fmt.Errorf("term %q: write \"not\" in lower case", clip(s))
	}
	name = strings.TrimSpace(name)
	if several && find(word) != nil {
		return fmt.Errorf("term %q: unexpected %q after %q", clip(s), clip(rest), word)
	}
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return fmt.Errorf("unknown term %q%s", clip(name), suggest(name, names))
}

func firstIs(s string, words ...string) bool {
	first, _, _ := cutBlank(s)
	for _, w := range words {
		if strings.EqualFold(first, w) {
			return true
		}
	}
	return false
}

// clip keeps foreign text short in messages.
func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return wording.Head(s, limit) + "..."
}

// suggest names the candidate closest to s, or nothing. Hyphens count as underscores.
func suggest(s string, candidates []string) string {
	return wording.Suggest(strings.ReplaceAll(s, "-", "_"), candidates)
}
