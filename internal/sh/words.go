package sh

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Limits of expanding braces: {1..9999999} is short.
const (
	maxBraces    = 64   // words made of one
	maxBraceWord = 4096 // bytes
)

// term is one word of a command, as far as it can be known.
type term struct {
	text    string // As written, without the quotes around it as a whole.
	literal string // Without quotes; what is open in it as written.
	fixed   string // The part of literal that is certain.
	open    bool   // Something in it is made at run time.
	sure    int    // If open: how many bytes of literal are before that.
	loose   bool   // If open: it may become several words, or none.
	glob    bool   // It may become the name of a file.
}

// lead reports whether a word begins with what is made at run time.
func (w term) lead() bool { return w.open && w.sure == 0 }

// known is how a word begins for certain.
func (w term) known() string {
	if w.open {
		return w.literal[:w.sure]
	}
	return w.literal
}

// shifts reports whether a word among the options of a command may give those behind it
// another meaning: there may be more or fewer words than one, or it is an option that is
// not known, or whose argument may be empty and so the next word.
func (w term) shifts() bool {
	option := strings.HasPrefix(w.literal, "-") && !strings.Contains(w.known(), "=")
	return w.loose || w.glob || w.open && option
}

// word reads a word.
func (s *scan) word(w *syntax.Word) term {
	if len(w.Parts) == 1 { // Most words; they need no printer.
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if !strings.Contains(p.Value, `\`) {
				return term{text: p.Value, literal: p.Value, fixed: p.Value, glob: isGlob(p.Value)}
			}
		case *syntax.SglQuoted:
			if !p.Dollar {
				return term{text: p.Value, literal: p.Value, fixed: p.Value}
			}
		case *syntax.DblQuoted:
			if len(p.Parts) == 0 {
				return term{}
			}
			if lit, ok := p.Parts[0].(*syntax.Lit); ok && len(p.Parts) == 1 && !p.Dollar &&
				!strings.Contains(lit.Value, `"`) {
				plain := unescape(lit.Value, "$`\"\\")
				return term{text: lit.Value, literal: plain, fixed: plain}
			}
		}
	}
	text := w.Lit()
	if text == "" {
		text = unquote(s.source(w))
	}
	out := s.reading()
	out.parts(w.Parts, anyByte)
	return out.word(text)
}

// reading collects the parts of a word.
type reading struct {
	*scan
	literal, fixed strings.Builder
	open, loose    bool
	sure           int
	glob           bool
}

func (s *scan) reading() *reading { return &reading{scan: s} }

func (r *reading) word(text string) term {
	return term{
		text:    text,
		literal: r.literal.String(),
		fixed:   r.fixed.String(),
		open:    r.open,
		sure:    r.sure,
		loose:   r.loose,
		glob:    r.glob,
	}
}

func (r *reading) add(text string) {
	r.literal.WriteString(text)
	r.fixed.WriteString(text)
}

// anyByte is what a backslash protects outside of quotes.
const anyByte = ""

// parts reads the parts of a word in which backslashes protect the given bytes.
func (r *reading) parts(parts []syntax.WordPart, escapes string) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			r.glob = r.glob || escapes == anyByte && isGlob(p.Value)
			r.add(unescape(p.Value, escapes))
		case *syntax.SglQuoted:
			value := p.Value
			if p.Dollar {
				value, _, _ = expand.Format(&expand.Config{}, value, nil)
				value, _, _ = strings.Cut(value, "\x00")
			}
			r.add(value)
		case *syntax.DblQuoted:
			r.parts(p.Parts, "$`\"\\")
		default:
			if !r.open {
				r.open, r.sure = true, r.literal.Len()
			}
			r.loose = r.loose || escapes == anyByte || isList(p)
			r.literal.WriteString(r.source(&syntax.Word{Parts: []syntax.WordPart{p}}))
		}
	}
}

// isList reports whether a part of a word becomes several words even in quotes, as "$@".
func isList(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && (e.Param != nil && e.Param.Value == "@" || e.Index != nil || e.Names != 0)
}

// unescape takes away the backslashes before the given bytes, all if none are given,
// and joins lines.
func unescape(s, escapes string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := []byte(s[:i])
	for ; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if escapes == anyByte || strings.IndexByte(escapes, s[i+1]) >= 0 {
				i++
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// isGlob reports whether text, without quotes, may stand for names of files.
func isGlob(text string) bool {
	if strings.ContainsAny(text, "*?") {
		return true
	}
	_, after, ok := strings.Cut(text, "[") // Alone it is a command.
	return ok && strings.Contains(after, "]")
}

// source is a word as a shell reads it.
func (s *scan) source(w *syntax.Word) string {
	if s.printer == nil {
		s.printer = syntax.NewPrinter(syntax.SingleLine(true))
	}
	var b strings.Builder
	if s.printer.Print(&b, w) != nil {
		return ""
	}
	return b.String()
}

func (s *scan) sources(words []*syntax.Word) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = s.source(w)
	}
	return strings.Join(list, " ")
}

// unquote removes the quotes of a word that is quoted as a whole.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] && !strings.Contains(s[1:len(s)-1], s[:1]) {
		return s[1 : len(s)-1]
	}
	return s
}

// expanded returns the words of a command with those in place that braces stand for.
func (s *scan) expanded(args []*syntax.Word, written []term) []term {
	for i, arg := range args {
		if slices.ContainsFunc(arg.Parts, hasBrace) {
			list := slices.Clone(written[:i])
			for ; i < len(args); i++ {
				list = s.appendExpanded(list, args[i], written[i])
			}
			return list
		}
	}
	return written
}

// appendExpanded appends a word, or the words its braces stand for. Too many of them
// are left as they are, and count as made at run time.
func (s *scan) appendExpanded(list []term, arg *syntax.Word, w term) []term {
	// A copy: it must not change what is still to be walked.
	split := &syntax.Word{Parts: slices.Clone(arg.Parts)}
	if !slices.ContainsFunc(arg.Parts, hasBrace) || len(w.literal) <= maxBraceWord && !syntax.SplitBraces(split) {
		return append(list, w)
	}
	before, n := len(list), 0
	for next, err := range expand.BracesSeq(nil, split) {
		if n++; err != nil || n > maxBraces || len(w.literal) > maxBraceWord {
			w.open, w.sure, w.loose, w.fixed = true, 0, true, ""
			return append(list[:before], w)
		}
		// An empty word vanishes, unless it is quoted.
		if one := s.word(next); one.literal != "" || slices.ContainsFunc(next.Parts, isQuoted) {
			one.text = one.literal
			list = append(list, one)
		}
	}
	return list
}

func hasBrace(p syntax.WordPart) bool {
	lit, ok := p.(*syntax.Lit)
	return ok && strings.Contains(lit.Value, "{") && lit.Value != "{}"
}

func isQuoted(p syntax.WordPart) bool { _, ok := p.(*syntax.Lit); return !ok }
