package sh

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// input is what a command reads.
type input struct {
	doc  *syntax.Redirect // A here-document or here-string,
	from *syntax.Stmt     // or what this prints. Neither: a file.
}

// inputOf returns what a statement reads that has feeder on its left in a pipe, and
// otherwise reads outer.
func inputOf(stmt, feeder *syntax.Stmt, outer *input) *input {
	if feeder != nil {
		outer = &input{from: feeder}
	}
	for _, r := range stmt.Redirs {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			outer = &input{doc: r}
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			outer = &input{}
		}
	}
	return outer
}

// read looks at input that is a script. It reports whether all of it is known.
func (s *scan) read(in *input, depth int) bool {
	text, known := s.inputText(in)
	s.nest(text, nil, depth+1)
	return known
}

// inputText returns what is read as far as it can be told, and whether that is certain.
func (s *scan) inputText(in *input) (text string, known bool) {
	switch {
	case in == nil:
		return "", false
	case in.doc != nil && in.doc.Op == syntax.WordHdoc:
		w := s.word(in.doc.Word)
		return w.literal, !w.open
	case in.doc != nil:
		return s.document(in.doc)
	case in.from == nil:
		return "", false
	}
	call, ok := in.from.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	words := make([]term, len(call.Args))
	for i, arg := range call.Args {
		words[i] = s.word(arg)
	}
	if words = s.expanded(call.Args, words); len(words) == 0 {
		return "", false
	}
	sure := !slices.ContainsFunc(words, func(w term) bool { return w.open || w.glob })
	switch args := words[1:]; words[0].literal {
	case "cat":
		if own := inputOf(in.from, nil, nil); len(args) == 0 && own != nil && own.doc != nil {
			return s.inputText(own)
		}
	case "echo":
		for len(args) > 0 && slices.Contains([]string{"-n", "-e", "-E", "-ne", "-en"}, args[0].literal) {
			args = args[1:]
		}
		text := join(args, literal)
		// Whether echo knows backslashes depends on the shell.
		return strings.ReplaceAll(text, `\n`, "\n"), sure && !strings.Contains(text, `\`)
	case "printf":
		text, ok := printed(args)
		return text, ok && sure
	}
	return "", false
}

// document returns the text of a here-document.
func (s *scan) document(r *syntax.Redirect) (text string, known bool) {
	if r.Hdoc == nil {
		return "", true
	}
	raw := slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
	if raw {
		return r.Hdoc.Lit(), true
	}
	out := s.reading()
	out.parts(r.Hdoc.Parts, "$`\\")
	w := out.word("")
	return w.literal, !w.open
}

// printed is what printf makes of its arguments, if they are simple.
func printed(args []term) (text string, ok bool) {
	if len(args) == 0 {
		return "", true
	}
	format, values := args[0].literal, make([]string, len(args)-1)
	for i, w := range args[1:] {
		values[i] = w.literal
	}
	// A width would make much out of little.
	for rest := format; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			break
		}
		if after == "" || !strings.Contains("sbd%", after[:1]) {
			return "", false
		}
		rest = after[1:]
	}
	var b strings.Builder
	for {
		part, n, err := expand.Format(&expand.Config{}, format, values)
		b.WriteString(part)
		if err != nil || b.Len() > maxBraceWord*maxBraces {
			return b.String(), false
		}
		if values = values[n:]; n == 0 || len(values) == 0 {
			return b.String(), true
		}
	}
}
