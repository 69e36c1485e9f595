package plain

import (
	"slices"
	"strings"
	"unicode"
)

// outcome is what a key leads to.
type outcome uint8

const (
	edited outcome = iota // Nothing but a changed line.
	submitted
	ended       // Ctrl+D on an empty line.
	interrupted // Ctrl+C on an empty line.
	cleared     // The screen is to be cleared.
	listed      // The candidates are to be shown.
)

// maxInput bounds the line, in characters.
const maxInput = 4 << 20

// line is the text being edited: a state machine that knows keys and no terminal.
type line struct {
	text     []rune
	pos      int
	history  []string // Oldest first.
	complete func(line string, pos int) []string

	kill    []rune
	killing bool // The last key removed text too: the next one adds to kill.

	at     int    // Index in history; len(history) is the draft.
	draft  []rune // What was typed before history was walked.
	find   *search
	tabbed bool // The last key was Tab.
	listed []string
}

// search is a reverse search in the history.
type search struct {
	query []rune
	at    int // Index of the match; len(history) before the first.
	saved []rune
	pos   int
	miss  bool
}

func newLine(initial string, history []string, complete func(string, int) []string) *line {
	text := []rune(initial)
	return &line{text: text, pos: len(text), history: history, at: len(history), complete: complete}
}

// apply takes one key.
func (l *line) apply(k key) outcome {
	if l.find != nil && l.searchKey(k) {
		return edited
	}
	tabbed, killing := l.tabbed, l.killing
	l.tabbed, l.killing = false, false
	switch k.kind {
	case keyEnter:
		return l.enter()
	case keyEOF:
		if len(l.text) == 0 {
			return ended
		}
		l.remove(l.pos, l.after(l.pos))
	case keyInterrupt:
		if len(l.text) == 0 {
			return interrupted
		}
		l.set(nil)
		l.at = len(l.history)
	case keyClear:
		return cleared
	case keyTab:
		return l.tab(tabbed)
	case keyUp:
		l.up()
	case keyDown:
		l.down()
	case keySearch:
		l.find = &search{at: len(l.history), saved: slices.Clone(l.text), pos: l.pos}
	case keyKillEnd, keyKillStart, keyKillWord, keyKillWordRight:
		l.cut(k.kind, killing)
	default:
		l.edit(k)
	}
	return edited
}

// edit takes the keys that only insert, delete or move.
func (l *line) edit(k key) {
	switch k.kind {
	case keyRune:
		l.insert([]rune{k.r})
	case keyPaste:
		l.insert([]rune(k.text))
	case keyNewline:
		l.insert([]rune{'\n'})
	case keyYank:
		l.insert(l.kill)
	case keyBackspace:
		l.remove(l.before(l.pos), l.pos)
	case keyDelete:
		l.remove(l.pos, l.after(l.pos))
	case keyLeft:
		l.pos = l.before(l.pos)
	case keyRight:
		l.pos = l.after(l.pos)
	case keyHome:
		l.pos = l.lineStart(l.pos)
	case keyEnd:
		l.pos = l.lineEnd(l.pos)
	case keyWordLeft:
		l.pos = l.wordLeft(isWord)
	case keyWordRight:
		l.pos = l.wordRight()
	}
}

// enter submits the line, unless it ends in a backslash that asks for another one.
func (l *line) enter() outcome {
	n := len(l.text)
	slashes := 0
	for slashes < n && l.text[n-1-slashes] == '\\' {
		slashes++
	}
	if slashes%2 == 0 {
		return submitted
	}
	l.text[n-1], l.pos = '\n', n
	l.changed()
	return edited
}

func (l *line) insert(r []rune) {
	if len(r) == 0 || len(l.text)+len(r) > maxInput {
		return
	}
	l.text = slices.Insert(l.text, l.pos, r...)
	l.pos += len(r)
	l.changed()
}

func (l *line) remove(from, to int) {
	if from == to {
		return
	}
	l.text = slices.Delete(l.text, from, to)
	l.pos = from
	l.changed()
}

// changed makes an edited history entry the new draft.
func (l *line) changed() { l.at = len(l.history) }

func (l *line) set(text []rune) { l.text, l.pos = slices.Clone(text), len(text) }

// before and after are the positions beside pos, with marks kept at their letter.
func (l *line) before(pos int) int {
	for pos > 0 {
		if pos--; l.text[pos] == '\n' || cells(l.text[pos]) > 0 {
			break
		}
	}
	return pos
}

func (l *line) after(pos int) int {
	if pos < len(l.text) {
		pos++
	}
	for pos < len(l.text) && l.text[pos] != '\n' && cells(l.text[pos]) == 0 {
		pos++
	}
	return pos
}

func (l *line) lineStart(pos int) int {
	for pos > 0 && l.text[pos-1] != '\n' {
		pos--
	}
	return pos
}

func (l *line) lineEnd(pos int) int {
	for pos < len(l.text) && l.text[pos] != '\n' {
		pos++
	}
	return pos
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}
func isBlank(r rune) bool { return unicode.IsSpace(r) }

// wordLeft is the beginning of the word left of the cursor.
func (l *line) wordLeft(in func(rune) bool) int {
	pos := l.pos
	for pos > 0 && !in(l.text[pos-1]) {
		pos--
	}
	for pos > 0 && in(l.text[pos-1]) {
		pos--
	}
	return pos
}

func (l *line) wordRight() int {
	pos := l.pos
	for pos < len(l.text) && !isWord(l.text[pos]) {
		pos++
	}
	for pos < len(l.text) && isWord(l.text[pos]) {
		pos++
	}
	return pos
}

// cut removes text into the kill buffer; cuts in a row are kept together.
func (l *line) cut(kind keyKind, more bool) {
	from, to := l.pos, l.pos
	switch kind {
	case keyKillEnd:
		if to = l.lineEnd(l.pos); to == l.pos {
			to = l.after(to)
		}
	case keyKillStart:
		if from = l.lineStart(l.pos); from == l.pos {
			from = l.before(from)
		}
	case keyKillWord:
		from = l.wordLeft(func(r rune) bool { return !isBlank(r) })
	case keyKillWordRight:
		to = l.wordRight()
	}
	l.killing = true
	gone := slices.Clone(l.text[from:to])
	switch {
	case !more && len(gone) > 0:
		l.kill = gone
	case more && from < l.pos:
		l.kill = append(gone, l.kill...)
	case more:
		l.kill = append(l.kill, gone...)
	}
	l.remove(from, to)
}

// up moves to the line above or, from the first one, to the next older history
// entry that begins with the draft.
func (l *line) up() {
	if start := l.lineStart(l.pos); start > 0 {
		l.pos = min(l.lineStart(start-1)+l.pos-start, start-1)
		return
	}
	if l.at == len(l.history) {
		l.draft = slices.Clone(l.text)
	}
	prefix := string(l.draft)
	for i := l.at - 1; i >= 0; i-- {
		if e := l.history[i]; strings.HasPrefix(e, prefix) && e != string(l.text) {
			l.set([]rune(e))
			l.at = i
			return
		}
	}
}

// down is the way back from up, and ends at the draft.
func (l *line) down() {
	if end := l.lineEnd(l.pos); end < len(l.text) {
		l.pos = min(end+1+l.pos-l.lineStart(l.pos), l.lineEnd(end+1))
		return
	}
	if l.at == len(l.history) {
		return
	}
	prefix := string(l.draft)
	for i := l.at + 1; i < len(l.history); i++ {
		if e := l.history[i]; strings.HasPrefix(e, prefix) && e != string(l.text) {
			l.set([]rune(e))
			l.at = i
			return
		}
	}
	l.set(l.draft)
	l.at = len(l.history)
}

// searchKey takes a key during a search. It reports false if the key ended the
// search and is to be handled as usual.
func (l *line) searchKey(k key) bool {
	s := l.find
	switch k.kind {
	case keyRune:
		s.query = append(s.query, k.r)
		l.match(min(s.at, len(l.history)-1))
	case keyPaste:
		s.query = append(s.query, []rune(strings.ReplaceAll(k.text, "\n", " "))...)
		l.match(min(s.at, len(l.history)-1))
	case keyBackspace:
		if len(s.query) > 0 {
			s.query = s.query[:len(s.query)-1]
		}
		l.match(len(l.history) - 1)
	case keySearch:
		l.match(s.at - 1)
	case keyCancel, keyInterrupt:
		l.set(s.saved)
		l.pos, l.find = s.pos, nil
	default:
		l.find = nil
		if s.at < len(l.history) {
			l.at, l.draft = s.at, nil
		}
		return false
	}
	return true
}

// match shows the youngest entry, from index from downward, that has the query.
func (l *line) match(from int) {
	s := l.find
	query := string(s.query)
	if s.miss = query == ""; s.miss {
		l.set(s.saved)
		s.at, s.miss = len(l.history), false
		return
	}
	for i := from; i >= 0; i-- {
		if at := strings.Index(l.history[i], query); at >= 0 && l.history[i] != "" {
			l.set([]rune(l.history[i]))
			l.pos = len([]rune(l.history[i][:at]))
			s.at = i
			return
		}
	}
	s.miss = true
}

// tab completes the word left of the cursor; a second Tab lists the candidates.
func (l *line) tab(again bool) outcome {
	if l.complete == nil {
		return edited
	}
	start := l.wordLeftBlank()
	word := string(l.text[start:l.pos])
	candidates := slices.Clone(l.complete(string(l.text), len(string(l.text[:l.pos]))))
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return c == "" })
	if len(candidates) == 0 {
		return edited
	}
	common := candidates[0]
	for _, c := range candidates[1:] {
		common = commonPrefix(common, c)
	}
	if len(candidates) == 1 && !strings.HasSuffix(common, "/") && !strings.HasSuffix(common, " ") {
		common += " "
	}
	if len(common) > len(word) || len(candidates) == 1 {
		l.text = slices.Delete(l.text, start, l.pos)
		l.pos = start
		l.insert([]rune(common))
		return edited
	}
	l.tabbed = true
	if !again {
		return edited
	}
	l.listed = candidates
	return listed
}

func (l *line) wordLeftBlank() int {
	pos := l.pos
	for pos > 0 && !isBlank(l.text[pos-1]) {
		pos--
	}
	return pos
}

func commonPrefix(a, b string) string {
	ra, rb := []rune(a), []rune(b)
	n := 0
	for n < len(ra) && n < len(rb) && ra[n] == rb[n] {
		n++
	}
	return string(ra[:n])
}
