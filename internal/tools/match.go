package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/literal"
)

// matcher finds the lines of a file that a regular expression matches.
type matcher struct {
	re      *regexp.Regexp
	needles [][]byte // A line that matches contains one of these; nil when nothing is known.
	fold    bool     // The needles are in lower case and so must the text be.
	plain   bool     // Containing the one needle is matching.
	context int
	limit   int // Matches of one file that are kept.
}

func newMatcher(pattern string, ignoreCase bool) (*matcher, error) {
	source := pattern
	if ignoreCase {
		source = "(?i:" + pattern + ")"
	}
	re, err := regexp.Compile(source)
	if err != nil {
		if _, plainErr := regexp.Compile(pattern); plainErr != nil {
			err = plainErr
		}
		return nil, fmt.Errorf(
			"pattern is not a valid regular expression: %s (RE2 syntax; write \\( for a literal parenthesis)",
			strings.TrimPrefix(err.Error(), "error parsing regexp: "),
		)
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(source, syntax.Perl); err == nil {
		tree = tree.Simplify()
		words, fold := literal.Required(tree)
		for _, w := range words {
			m.needles = append(m.needles, []byte(w))
		}
		m.fold = fold
		// Regexp.LiteralPrefix would call ^x$ a plain literal too.
		m.plain = tree.Op == syntax.OpLiteral && !fold && len(words) == 1
	}
	return m, nil
}

// search finds the lines. The number is that of matches.
func (m *matcher) search(data []byte, buf *scratch) (lines []hit, matches int) {
	hay := data
	if m.fold {
		hay = buf.lower(data)
	}
	line, counted := 1, 0 // line is the number of the line that begins at counted.
	shownTo := 0          // Lines up to this one are in the result.
	next := slices.Repeat([]int{-1}, len(m.needles))
	for at := 0; at < len(data); {
		start, end, ok := m.candidate(hay, at, next)
		if !ok {
			break
		}
		at = end + 1
		content := bytes.TrimSuffix(data[start:end], []byte("\r"))
		where := m.match(content)
		if where < 0 {
			continue
		}
		line += bytes.Count(data[counted:start], []byte("\n"))
		counted = start
		if m.context > 0 {
			lines = m.before(lines, data, start, line, shownTo)
		}
		lines = append(lines, hit{line, excerpt(content, where), true})
		shownTo = line
		if m.context > 0 {
			lines, shownTo = m.following(lines, data, end, line)
			// Context that turns out to match is shown as the match.
		}
		if matches++; matches >= m.limit {
			break
		}
	}
	if m.context > 0 {
		lines = mergeContext(lines)
	}
	return lines, matches
}

// candidate is the next line at or after at that can match. next is where each
// needle is found next, so that none is looked for twice in the same place.
func (m *matcher) candidate(hay []byte, at int, next []int) (start, end int, ok bool) {
	found := at
	if m.needles != nil {
		found = len(hay)
		for i, needle := range m.needles {
			if next[i] < at {
				next[i] = len(hay)
				if j := bytes.Index(hay[at:], needle); j >= 0 {
					next[i] = at + j
				}
			}
			found = min(found, next[i])
		}
		if found == len(hay) {
			return 0, 0, false
		}
	}
	start = bytes.LastIndexByte(hay[:found], '\n') + 1
	end = len(hay)
	if i := bytes.IndexByte(hay[found:], '\n'); i >= 0 {
		end = found + i
	}
	return start, end, true
}

// match is where the line matches, or -1.
func (m *matcher) match(line []byte) int {
	if m.plain {
		return bytes.Index(line, m.needles[0])
	}
	if loc := m.re.FindIndex(line); loc != nil {
		return loc[0]
	}
	return -1
}

func (m *matcher) before(lines []hit, data []byte, start, line, shownTo int) []hit {
	from, first := start, line
	for first > shownTo+1 && line-first < m.context && from > 0 {
		from = bytes.LastIndexByte(data[:from-1], '\n') + 1
		first--
	}
	for ; first < line; first++ {
		end := from + bytes.IndexByte(data[from:], '\n')
		lines = append(lines, hit{first, excerpt(bytes.TrimSuffix(data[from:end], []byte("\r")), 0), false})
		from = end + 1
	}
	return lines
}

func (m *matcher) following(lines []hit, data []byte, end, line int) ([]hit, int) {
	for range m.context {
		start := end + 1
		if start >= len(data) {
			break
		}
		end = len(data)
		if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
			end = start + i
		}
		line++
		lines = append(lines, hit{line, excerpt(bytes.TrimSuffix(data[start:end], []byte("\r")), 0), false})
	}
	return lines, line
}

// mergeContext removes the context lines that are matches too or come twice.
func mergeContext(lines []hit) []hit {
	slices.SortStableFunc(lines, func(a, b hit) int {
		if a.line == b.line && a.match != b.match {
			if a.match {
				return -1
			}
			return 1
		}
		return a.line - b.line
	})
	return slices.CompactFunc(lines, func(a, b hit) bool { return a.line == b.line })
}

// excerpt is a line, or the part around the match of one that is too long.
func excerpt(line []byte, match int) string {
	if len(line) <= rgLine {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	from := max(0, match-rgLine/3)
	to := min(len(line), from+rgLine)
	cut := strings.ToValidUTF8(string(line[from:to]), "\ufffd")
	if from > 0 {
		cut = "..." + cut
	}
	if to < len(line) {
		cut += "..."
	}
	return cut
}
