package tools

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// What a section of a patch does to its file.
const (
	addFile = iota
	updateFile
	deleteFile
)

// change is one section of a patch.
type change struct {
	kind    int
	path    string
	moveTo  string
	content string // Of a new file.
	hunks   []hunk
}

// hunk is one change inside a file.
type hunk struct {
	number  int      // From 1.
	anchors []string // The texts after @@, outermost first.
	before  []string // Context and removed lines, as they must be in the file.
	lines   []patchLine
	atEnd   bool
}

type patchLine struct {
	op   byte // ' ', '+' or '-'.
	text string
}

func (c *change) counts() (added, removed int) {
	for _, h := range c.hunks {
		for _, l := range h.lines {
			switch l.op {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// patchParser reads a patch line by line.
type patchParser struct {
	lines []string
	at    int
	blank []bool // Only blank lines follow until the next header.
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
)

// parsePatch reads a patch. Errors name the line of the patch.
func parsePatch(text string) ([]change, error) {
	if len(text) > maxPatch {
		return nil, fmt.Errorf("patch is too large: %s, at most %s", bytesText(int64(len(text))), bytesText(maxPatch))
	}
	p := &patchParser{lines: splitLines(strings.ReplaceAll(text, "\r\n", "\n"))}
	p.blank = make([]bool, len(p.lines)+1)
	p.blank[len(p.lines)] = true
	for i := len(p.lines) - 1; i >= 0; i-- {
		p.blank[i] = header(p.lines[i]) || p.blank[i+1] && strings.TrimSpace(p.lines[i]) == ""
	}
	// Models put patches into code fences and here documents; what is before the
	// beginning and after the end does not count.
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) != beginPatch {
		p.at++
	}
	if p.at == len(p.lines) {
		return nil, errors.New("patch: the line \"*** Begin Patch\" is missing")
	}
	p.at++
	var changes []change
	for p.at < len(p.lines) {
		line := strings.TrimRight(p.lines[p.at], " \t")
		if line == endPatch {
			if len(changes) == 0 {
				return nil, errors.New("patch is empty: it names no file")
			}
			return changes, nil
		}
		if line == "" {
			p.at++
			continue
		}
		c, err := p.section(line)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return nil, errors.New("patch: the line \"*** End Patch\" is missing")
}

func (p *patchParser) fail(format string, a ...any) error {
	return fmt.Errorf("patch line %d: %s", p.at+1, fmt.Sprintf(format, a...))
}

// section reads what begins with a line that names a file.
func (p *patchParser) section(line string) (change, error) {
	for _, s := range [...]struct {
		prefix string
		kind   int
	}{{"*** Add File:", addFile}, {"*** Update File:", updateFile}, {"*** Delete File:", deleteFile}} {
		rest, ok := strings.CutPrefix(line, s.prefix)
		if !ok {
			continue
		}
		c := change{kind: s.kind, path: strings.TrimSpace(rest)}
		if c.path == "" || strings.ContainsRune(c.path, 0) {
			return c, p.fail("%s needs a path", s.prefix)
		}
		p.at++
		var err error
		switch s.kind {
		case addFile:
			c.content, err = p.newFile()
		case updateFile:
			err = p.update(&c)
		}
		return c, err
	}
	return change{}, p.fail(
		"expected *** Add File:, *** Update File:, *** Delete File: or *** End Patch, got %q",
		cutLine(line, 80),
	)
}

// header reports whether a line ends the section before it.
func header(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line == endPatch || strings.HasPrefix(line, "*** Add File:") ||
		strings.HasPrefix(line, "*** Update File:") || strings.HasPrefix(line, "*** Delete File:")
}

func (p *patchParser) newFile() (string, error) {
	var b strings.Builder
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		added, ok := strings.CutPrefix(line, "+")
		switch {
		case ok:
			b.WriteString(added + "\n")
		case header(line):
			return b.String(), nil
		case strings.TrimSpace(line) == "":
			// An empty line without its + is allowed at the end only: inside, it is not
			// clear whether it belongs to the file.
			if !p.blank[p.at] {
				return "", p.fail("every line of a new file begins with +, also an empty one")
			}
		default:
			return "", p.fail("every line of a new file begins with +, got %q", cutLine(line, 80))
		}
	}
	return b.String(), nil
}

func (p *patchParser) update(c *change) error {
	if p.at < len(p.lines) {
		if to, ok := strings.CutPrefix(p.lines[p.at], "*** Move to:"); ok {
			c.moveTo = strings.TrimSpace(to)
			if c.moveTo == "" || strings.ContainsRune(c.moveTo, 0) {
				return p.fail("*** Move to: needs a path")
			}
			p.at++
		}
	}
	for p.at < len(p.lines) && !header(p.lines[p.at]) {
		if p.blank[p.at] {
			p.at++
			continue
		}
		h, err := p.hunk(len(c.hunks) + 1)
		if err != nil {
			return err
		}
		c.hunks = append(c.hunks, h)
	}
	if len(c.hunks) == 0 && c.moveTo == "" {
		return p.fail("the update of %s has no changes", c.path)
	}
	return nil
}

func (p *patchParser) hunk(number int) (hunk, error) {
	h := hunk{number: number}
	for ; p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		if anchor := anchorText(p.lines[p.at]); anchor != "" {
			h.anchors = append(h.anchors, anchor)
		}
	}
	changed := false
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if header(line) || strings.HasPrefix(line, "@@") {
			break
		}
		if strings.TrimRight(line, " \t") == endOfFile {
			h.atEnd = true
			p.at++
			break
		}
		if line == "" {
			if p.blank[p.at] {
				break
			}
			line = " " // The space of an empty context line is easily lost.
		}
		switch op := line[0]; op {
		case ' ', '-', '+':
			h.lines = append(h.lines, patchLine{op, line[1:]})
			if op != '+' {
				h.before = append(h.before, line[1:])
			}
			changed = changed || op != ' '
		case '\\': // "\ No newline at end of file", from diffs.
		default:
			return h, p.fail("a line of an update begins with a space, - or +, got %q", cutLine(line, 80))
		}
	}
	if !changed {
		return h, p.fail("change %d has no line that begins with - or +", number)
	}
	return h, nil
}

// anchorText is the text after @@. The numbers of a unified diff are not one: they
// are often wrong, and the context says it better.
func anchorText(line string) string {
	line = strings.TrimSpace(strings.TrimPrefix(line, "@@"))
	if numbers, _, ok := strings.Cut(
		line,
		"@@",
	); ok && strings.HasPrefix(numbers, "-") &&
		strings.Trim(numbers, "-+, 0123456789") == "" {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(line, "@@"))
}

// fileLine is a line of the file with its own end.
type fileLine struct{ text, end string }

func fileLines(content string) []fileLine {
	lines := make([]fileLine, 0, strings.Count(content, "\n")+1)
	for line := range strings.Lines(content) {
		text, end := line, ""
		if t, ok := strings.CutSuffix(line, "\r\n"); ok {
			text, end = t, "\r\n"
		} else if t, ok := strings.CutSuffix(line, "\n"); ok {
			text, end = t, "\n"
		}
		lines = append(lines, fileLine{text, end})
	}
	return lines
}

// applyHunks makes the changes in a text. Lines that stay keep their bytes, new
// ones get the line end of the file. The notes say where lines were only alike.
func applyHunks(content string, hunks []hunk) (string, []string, error) {
	const bom = "\ufeff"
	content, marked := strings.CutPrefix(content, bom)
	lines := fileLines(content)
	newline := "\n"
	if len(lines) > 0 && lines[0].end != "" {
		newline = lines[0].end
	}
	unfinished := len(lines) > 0 && lines[len(lines)-1].end == ""
	out := make([]fileLine, 0, len(lines))
	var notes []string
	seek := seeker{lines, maxCompare}
	done := 0 // Lines of the file that are in out or removed.
	for _, h := range hunks {
		at, level, err := seek.find(&h, done)
		if err != nil {
			return "", nil, err
		}
		if level > 0 {
			notes = append(
				notes,
				fmt.Sprintf(
					"change %d was applied at line %d, where the lines differ from the patch in %s",
					h.number,
					at+1,
					levels[level].name,
				),
			)
		}
		out = append(out, lines[done:at]...)
		for _, l := range h.lines {
			if l.op == '+' {
				out = append(out, fileLine{l.text, newline})
				continue
			}
			if l.op == ' ' {
				out = append(out, lines[at])
			}
			at++
		}
		done = at
	}
	out = append(out, lines[done:]...)
	var b strings.Builder
	if marked {
		b.WriteString(bom)
	}
	for i, l := range out {
		switch {
		case i == len(out)-1 && unfinished:
			l.end = ""
		case l.end == "":
			l.end = newline
		}
		b.WriteString(l.text + l.end)
	}
	return b.String(), notes, nil
}

// levels are the ways in which lines may be alike, the strictest first.
var levels = [...]struct {
	name  string
	equal func(a, b string) bool
}{
	{"nothing", func(a, b string) bool { return a == b }},
	{
		"blanks at the end",
		func(a, b string) bool { return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r") },
	},
	{"blanks", func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }},
	{"blanks and punctuation", func(a, b string) bool { return plainText(a) == plainText(b) }},
}

// plainText replaces typographic characters, which models do not keep.
func plainText(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '‘' || r == '’' || r == '‚' || r == '‛':
			return '\''
		case r == '“' || r == '”' || r == '„' || r == '‟':
			return '"'
		case r >= '‐' && r <= '―' || r == '−':
			return '-'
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, s))
}

// seeker looks for places in a file. Files and patches that repeat one line make that
// quadratic, so the number of comparisons is bounded.
type seeker struct {
	lines  []fileLine
	budget int
}

const maxCompare = 20_000_000

var errTooAlike = errors.New("the file has too many lines that are alike: use Edit or Write")

func (s *seeker) equal(level, i int, want string) bool {
	s.budget--
	return s.budget >= 0 && levels[level].equal(s.lines[i].text, want)
}

// find is the line at which the hunk begins, at or after from, and how well it fits.
func (s *seeker) find(h *hunk, from int) (at, level int, err error) {
	for _, anchor := range h.anchors {
		i := s.anchor(from, anchor)
		if i < 0 {
			return 0, 0, fmt.Errorf(
				"change %d: the line after @@ was not found%s: %q",
				h.number,
				afterLine(from),
				cutLine(anchor, 120),
			)
		}
		from = i + 1
	}
	if len(h.before) == 0 {
		if len(h.anchors) > 0 && !h.atEnd {
			return from, 0, nil
		}
		return len(s.lines), 0, nil
	}
	for level := range levels {
		places := s.places(h, from, level)
		if s.budget < 0 {
			return 0, 0, errTooAlike
		}
		if len(places) > 1 && len(h.anchors) == 0 {
			return 0, 0, fmt.Errorf(
				"change %d fits %d places (lines %s): add context lines, or @@ with a line above the right one",
				h.number,
				len(places),
				numbers(places),
			)
		}
		if len(places) > 0 {
			return places[0], level, nil
		}
	}
	return 0, 0, s.missing(h, from)
}

// maxPlaces is how many places are looked for before a change counts as ambiguous.
const maxPlaces = 10

func (s *seeker) places(h *hunk, from, level int) []int {
	var places []int
	if h.atEnd {
		from = max(from, len(s.lines)-len(h.before))
	}
	for i := from; i+len(h.before) <= len(s.lines) && len(places) < maxPlaces && s.budget >= 0; i++ {
		if s.fitting(h, i, level) == len(h.before) {
			places = append(places, i)
		}
	}
	return places
}

// fitting is how many lines of the hunk fit from line i on.
func (s *seeker) fitting(h *hunk, i, level int) int {
	n := 0
	for n < len(h.before) && i+n < len(s.lines) && s.equal(level, i+n, h.before[n]) {
		n++
	}
	return n
}

// missing explains which line of the hunk is not in the file.
func (s *seeker) missing(h *hunk, from int) error {
	if h.atEnd {
		return fmt.Errorf(
			"change %d: the lines before *** End of File are not the last of the file: %q",
			h.number,
			cutLine(h.before[0], 120),
		)
	}
	if len(s.places(h, 0, 0)) > 0 {
		return fmt.Errorf(
			"change %d was found only before line %d: put the changes in the order of the file",
			h.number,
			from+1,
		)
	}
	// The place where most of the lines fit, and there the first that does not.
	best, most := -1, 0
	for i := from; i < len(s.lines) && s.budget >= 0; i++ {
		if n := s.fitting(h, i, 2); n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		whole := make([]string, len(s.lines))
		for i, l := range s.lines {
			whole[i] = l.text
		}
		return fmt.Errorf(
			"change %d: line %q was not found%s%s",
			h.number,
			cutLine(h.before[0], 120),
			afterLine(from),
			nearest(strings.Join(whole, "\n"), h.before[0]),
		)
	}
	has := "the file ends"
	if best+most < len(s.lines) {
		has = fmt.Sprintf("the file has %q", cutLine(s.lines[best+most].text, 120))
	}
	return fmt.Errorf(
		"change %d fits from line %d to line %d; after that the patch has %q and %s",
		h.number,
		best+1,
		best+most,
		cutLine(h.before[min(most, len(h.before)-1)], 120),
		has,
	)
}

func (s *seeker) anchor(from int, text string) int {
	for level := range levels {
		for i := from; i < len(s.lines) && s.budget >= 0; i++ {
			if s.equal(level, i, text) {
				return i
			}
		}
	}
	return -1
}

func afterLine(from int) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" after line %d", from)
}

func numbers(places []int) string {
	words := make([]string, len(places))
	for i, at := range places {
		words[i] = fmt.Sprint(at + 1)
	}
	if len(places) == maxPlaces {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
