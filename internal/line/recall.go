package line

import (
	"slices"
	"strings"
)

// walk is a walk through the history.
type walk struct {
	entries []string // Oldest first.
	at      int      // The entry that is shown; len(entries) is the draft.
	draft   []rune   // What was typed before.
	prefix  string   // What entries begin with: the draft up to the cursor.
}

func (o Options) entries() []string {
	if o.History == nil {
		return nil
	}
	return o.History()
}

// older shows the next older entry that begins with what stood left of the cursor.
func (e *Editor) older() {
	w := e.walk
	if w == nil {
		list := e.opts.entries()
		w = &walk{entries: list, at: len(list), draft: slices.Clone(e.text), prefix: e.pastes.expand(e.text[:e.pos])}
	}
	e.recall(w, -1)
}

// newer is the way back from older, and ends at the draft.
func (e *Editor) newer() {
	if w := e.walk; w != nil && !e.recall(w, 1) {
		e.set(w.draft)
		e.walk = nil
	}
}

// recall shows the next entry in a direction that is another one than what is shown.
func (e *Editor) recall(w *walk, step int) bool {
	now := e.Value()
	for i := w.at + step; i >= 0 && i < len(w.entries); i += step {
		if entry := w.entries[i]; strings.HasPrefix(entry, w.prefix) && entry != now {
			e.set(e.clean(entry))
			w.at, e.walk = i, w
			return true
		}
	}
	return false
}

// search is a search in the history, from the latest entry backwards.
type search struct {
	query   []rune
	entries []string
	at      int    // The match; len(entries) before the first.
	saved   buffer // The text before the search.
	miss    bool
}

// Search returns what is searched for in the history; ok is false if there is no search, miss is true if
// nothing more was found.
func (e *Editor) Search() (query string, miss, ok bool) {
	if e.find == nil {
		return "", false, false
	}
	return string(e.find.query), e.find.miss, true
}

func (e *Editor) beginSearch() {
	if list := e.opts.entries(); len(list) > 0 {
		e.find = &search{entries: list, at: len(list), saved: buffer{slices.Clone(e.text), e.pos}}
	}
}

func (e *Editor) extendQuery(s string) {
	for _, r := range e.clean(s) {
		if r == '\n' {
			r = ' '
		}
		e.find.query = append(e.find.query, r)
	}
	e.match(min(e.find.at, len(e.find.entries)-1))
}

func (e *Editor) shortenQuery() {
	if n := len(e.find.query); n > 0 {
		e.find.query = e.find.query[:n-1]
	}
	e.match(len(e.find.entries) - 1)
}

// searchOn looks for the next match.
func (e *Editor) searchOn() { e.match(e.find.at - 1) }

// match shows the latest entry, from an index downwards, that has the query.
func (e *Editor) match(from int) {
	s := e.find
	query := string(s.query)
	if s.miss = false; query == "" {
		e.set(slices.Clone(s.saved.text))
		s.at = len(s.entries)
		return
	}
	for i := from; i >= 0; i-- {
		if before, _, ok := strings.Cut(s.entries[i], query); ok {
			e.set(e.clean(s.entries[i]))
			e.pos = min(len(e.clean(before)), len(e.text))
			s.at = i
			return
		}
	}
	s.miss = true
}

// cancelSearch goes back to the text before the search.
func (e *Editor) cancelSearch() {
	e.buffer, e.find = e.find.saved, nil
}

// endSearch keeps what was found, if anything was searched for; the walk through the history goes on from there.
func (e *Editor) endSearch() {
	if s := e.find; s != nil && s.at < len(s.entries) {
		e.walk = &walk{entries: s.entries, at: s.at}
	}
	e.find = nil
}
