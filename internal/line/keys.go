package line

import "slices"

// Key is a key press, or pasted text.
type Key struct {
	// Name is the key as in "a", "enter", "ctrl+left" or "alt+shift+b": modifiers in the order ctrl, alt, shift, meta.
	Name   string
	Text   string // What the key types, if it types something, or what was pasted.
	Pasted bool
}

// Outcome is what a key led to.
type Outcome uint8

const (
	Ignored     Outcome = iota // The editor does not know the key.
	Edited                     // Text, cursor or search may have changed; nothing else is to be done.
	Submitted                  // The text is complete.
	Ended                      // The end of the input: Ctrl+D without text.
	Interrupted                // Ctrl+C without text.
	Cleared                    // The screen is to be cleared.
	Listed                     // The candidates of a completion are to be shown.
)

// keys says what the keys do, in both faces. A key that is not here and types something inserts it. A face may
// take a key before the editor does: the full-screen one has menus on Tab, Ctrl+F and Ctrl+R, for example.
var keys = [...]struct {
	names  []string
	edit   func(*Editor)         // What the key does, if that is all;
	act    func(*Editor) Outcome // else what it does and leads to.
	search func(*Editor)         // What it does during a search; nil ends the search first.
}{
	{names: []string{"left", "shift+left", "ctrl+b"}, edit: func(e *Editor) { e.pos = e.previous(e.pos) }},
	{names: []string{"right", "shift+right", "ctrl+f"}, edit: func(e *Editor) { e.pos = e.next(e.pos) }},
	{
		names: []string{
			"ctrl+left", "alt+left", "ctrl+shift+left", "alt+shift+left", "ctrl+alt+left", "meta+left",
			"alt+b", "alt+shift+b",
		},
		edit: func(e *Editor) { e.pos = e.wordStart() },
	},
	{
		names: []string{
			"ctrl+right", "alt+right", "ctrl+shift+right", "alt+shift+right", "ctrl+alt+right", "meta+right",
			"alt+f", "alt+shift+f",
		},
		edit: func(e *Editor) { e.pos = e.wordEnd() },
	},
	{
		names: []string{"home", "shift+home", "ctrl+home", "alt+home", "ctrl+a"},
		edit:  func(e *Editor) { e.pos = e.lineStart() },
	},
	{
		names: []string{"end", "shift+end", "ctrl+end", "alt+end", "ctrl+e"},
		edit:  func(e *Editor) { e.pos = e.lineEnd() },
	},
	{names: []string{"up", "shift+up", "ctrl+up", "alt+up", "ctrl+p"}, edit: (*Editor).up},
	{names: []string{"down", "shift+down", "ctrl+down", "alt+down", "ctrl+n"}, edit: (*Editor).down},

	{
		names:  []string{"backspace", "shift+backspace", "ctrl+h"},
		edit:   func(e *Editor) { e.remove(e.previous(e.pos), e.pos) },
		search: (*Editor).shortenQuery,
	},
	{names: []string{"delete", "shift+delete"}, edit: func(e *Editor) { e.remove(e.pos, e.next(e.pos)) }},
	{names: []string{"ctrl+w"}, edit: func(e *Editor) { e.cut(e.blankWordStart(), e.pos) }},
	{
		names: []string{"alt+backspace", "ctrl+backspace", "ctrl+alt+h"},
		edit:  func(e *Editor) { e.cut(e.wordStart(), e.pos) },
	},
	{
		names: []string{"alt+d", "alt+shift+d", "ctrl+delete", "alt+delete"},
		edit:  func(e *Editor) { e.cut(e.pos, e.wordEnd()) },
	},
	{names: []string{"ctrl+u"}, edit: (*Editor).killStart},
	{names: []string{"ctrl+k"}, edit: (*Editor).killEnd},
	{names: []string{"ctrl+y"}, edit: func(e *Editor) { e.insert(e.kill) }},

	{names: []string{"enter"}, act: (*Editor).submit},
	{
		names: []string{
			"shift+enter", "alt+enter", "ctrl+enter", "alt+shift+enter", "ctrl+shift+enter", "ctrl+j", "ctrl+alt+j",
		},
		edit: func(e *Editor) { e.Insert("\n") },
	},
	{names: []string{"tab"}, act: (*Editor).complete},
	{names: []string{"ctrl+r"}, edit: (*Editor).beginSearch, search: (*Editor).searchOn},
	{names: []string{"ctrl+g"}, edit: func(*Editor) {}, search: (*Editor).cancelSearch},
	{names: []string{"ctrl+c"}, act: (*Editor).interrupt, search: (*Editor).cancelSearch},
	{names: []string{"ctrl+d"}, act: (*Editor).deleteOrEnd},
	{names: []string{"ctrl+l"}, act: func(*Editor) Outcome { return Cleared }},
}

// Apply does what a key stands for.
func (e *Editor) Apply(k Key) Outcome {
	e.previously, e.last = e.last, otherwise
	if k.Pasted {
		e.Paste(k.Text)
		return Edited
	}
	for i := range keys {
		row := &keys[i]
		if !slices.Contains(row.names, k.Name) {
			continue
		}
		if e.find != nil && row.search != nil {
			row.search(e)
			return Edited
		}
		e.endSearch()
		if row.act != nil {
			return row.act(e)
		}
		row.edit(e)
		return Edited
	}
	switch {
	case k.Text == "":
		return Ignored
	case e.find != nil:
		e.extendQuery(k.Text)
	default:
		e.Insert(k.Text)
	}
	return Edited
}
