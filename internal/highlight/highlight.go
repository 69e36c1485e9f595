// Package highlight tells the parts of source code apart: comments, keywords, strings and
// the like. How they look is for others.
package highlight

import (
	"embed"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// lexerFiles are grammars of chroma, under the licence beside them. Its own
// package of grammars is not used because it costs every start of the program.
//
//go:embed lexers/*.xml
var lexerFiles embed.FS

// lexerNames says which grammar a language has. Go is not among them: it has a
// scanner of its own.
var lexerNames = map[string]string{
	"bash":       "bash",
	"sh":         "bash",
	"shell":      "bash",
	"zsh":        "bash",
	"console":    "bash",
	"c":          "c",
	"h":          "c",
	"cpp":        "cpp",
	"c++":        "cpp",
	"cc":         "cpp",
	"hpp":        "cpp",
	"csharp":     "csharp",
	"c#":         "csharp",
	"cs":         "csharp",
	"css":        "css",
	"diff":       "diff",
	"patch":      "diff",
	"dockerfile": "docker",
	"docker":     "docker",
	"hcl":        "hcl",
	"terraform":  "hcl",
	"tf":         "hcl",
	"html":       "html",
	"ini":        "ini",
	"conf":       "ini",
	"java":       "java",
	"javascript": "javascript",
	"js":         "javascript",
	"jsx":        "javascript",
	"mjs":        "javascript",
	"json":       "json",
	"jsonc":      "json",
	"kotlin":     "kotlin",
	"kt":         "kotlin",
	"lua":        "lua",
	"make":       "makefile",
	"makefile":   "makefile",
	"php":        "php",
	"python":     "python",
	"py":         "python",
	"python3":    "python",
	"ruby":       "ruby",
	"rb":         "ruby",
	"rust":       "rust",
	"rs":         "rust",
	"sql":        "sql",
	"swift":      "swift",
	"toml":       "toml",
	"typescript": "typescript",
	"ts":         "typescript",
	"tsx":        "typescript",
	"xml":        "xml",
	"svg":        "xml",
	"yaml":       "yaml",
	"yml":        "yaml",
}

// maxCode bounds the code that is colored: a grammar may be slow.
const maxCode = 16 << 10

// Kind is what a piece of source code is.
type Kind uint8

// The kinds of pieces.
const (
	Plain Kind = iota
	Comment
	Keyword
	String
	Number
	Name     // Of something that is defined: a function, a class, a tag.
	Builtin  // A name of the language, an attribute or a variable.
	Heading  // Of a part of a diff.
	Inserted // A line of a diff.
	Deleted  // A line of a diff.
)

// Piece is a piece of source code of one kind. It may have several lines.
type Piece struct {
	Text string
	Kind Kind
}

// Highlighter splits source code. It loads a grammar when it is first needed; the zero
// value is ready. It must not be used by several goroutines at once.
type Highlighter struct {
	lexers map[string]chroma.Lexer // By file; nil where there is none.
}

// Split splits the source. One whose language is not known is a single plain piece.
func (h *Highlighter) Split(lang, src string) []Piece {
	switch {
	case len(src) > maxCode || lang == "":
	case lang == "go" || lang == "golang":
		return goPieces(src)
	default:
		if lexer := h.lexer(lang); lexer != nil {
			if it, err := lexer.Tokenise(nil, src); err == nil {
				var list []Piece
				for t := it(); t != chroma.EOF; t = it() {
					list = append(list, Piece{t.Value, kindOf(t.Type)})
				}
				return trimEnd(list)
			}
		}
	}
	return []Piece{{src, Plain}}
}

// lexer loads the grammar of a language.
func (h *Highlighter) lexer(lang string) chroma.Lexer {
	file, ok := lexerNames[lang]
	if !ok {
		return nil
	}
	if l, ok := h.lexers[file]; ok {
		return l
	}
	if h.lexers == nil {
		h.lexers = map[string]chroma.Lexer{}
	}
	var lexer chroma.Lexer
	if l, err := chroma.NewXMLLexer(lexerFiles, "lexers/"+file+".xml"); err == nil {
		// Some grammars embed others; those are shown without colors.
		l.SetRegistry(chroma.NewLexerRegistry())
		lexer = chroma.Coalesce(l)
	}
	h.lexers[file] = lexer
	return lexer
}

// kindOf is the kind of a token of a grammar.
func kindOf(t chroma.TokenType) Kind {
	switch {
	case t == chroma.GenericInserted:
		return Inserted
	case t == chroma.GenericDeleted:
		return Deleted
	case t == chroma.GenericSubheading || t == chroma.GenericHeading:
		return Heading
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Keyword):
		return Keyword
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber):
		return Number
	case t == chroma.NameFunction || t == chroma.NameClass || t == chroma.NameTag || t == chroma.NameDecorator:
		return Name
	case t == chroma.NameBuiltin || t == chroma.NameAttribute || t == chroma.NameVariable:
		return Builtin
	}
	return Plain
}

// goPieces splits Go.
func goPieces(src string) []Piece {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	var out []Piece
	at := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		from := file.Offset(pos)
		to := min(from+max(len(lit), len(tok.String())), len(src))
		if tok == token.SEMICOLON && lit == "\n" || tok == token.ILLEGAL || from < at {
			continue
		}
		if lit != "" {
			to = min(from+len(lit), len(src))
		}
		kind := Plain
		switch {
		case tok == token.COMMENT:
			kind = Comment
		case tok.IsKeyword():
			kind = Keyword
		case tok == token.STRING || tok == token.CHAR:
			kind = String
		case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
			kind = Number
		}
		out = append(out, Piece{src[at:from], Plain}, Piece{src[from:to], kind})
		at = to
	}
	return append(out, Piece{src[at:], Plain})
}

// trimEnd removes the newline that grammars want at the end.
func trimEnd(list []Piece) []Piece {
	if n := len(list) - 1; n >= 0 {
		list[n].Text = strings.TrimSuffix(list[n].Text, "\n")
	}
	return list
}
