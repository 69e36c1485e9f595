package tui

import (
	"embed"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/alecthomas/chroma/v2"

	"github.com/idelchi/aura/internal/width"
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

// code draws a code block, in colors where its language is known.
func (p *painter) code(lang, src string, limit int) []string {
	src = width.ExpandTabs(src)
	var out []string
	for _, line := range p.highlight(lang, src) {
		for _, row := range foldSpans(line, limit-2) {
			out = append(out, "  "+row)
		}
	}
	return out
}

// highlight returns the lines of the source in spans.
func (p *painter) highlight(lang, src string) [][]span {
	switch {
	case len(src) > maxCode || lang == "":
	case lang == "go" || lang == "golang":
		return splitSpans(goSpans(src))
	default:
		if lexer := p.lexer(lang); lexer != nil {
			if it, err := lexer.Tokenise(nil, src); err == nil {
				var spans []span
				for t := it(); t != chroma.EOF; t = it() {
					spans = append(spans, span{t.Value, tokenStyle(t.Type)})
				}
				return splitSpans(trimEnd(spans))
			}
		}
	}
	return splitSpans([]span{{src, none}})
}

// lexer loads the grammar of a language.
func (p *painter) lexer(lang string) chroma.Lexer {
	file, ok := lexerNames[lang]
	if !ok {
		return nil
	}
	if l, ok := p.lexers[file]; ok {
		return l
	}
	if p.lexers == nil {
		p.lexers = map[string]chroma.Lexer{}
	}
	var lexer chroma.Lexer
	if l, err := chroma.NewXMLLexer(lexerFiles, "lexers/"+file+".xml"); err == nil {
		// Some grammars embed others; those are shown without colors.
		l.SetRegistry(chroma.NewLexerRegistry())
		lexer = chroma.Coalesce(l)
	}
	p.lexers[file] = lexer
	return lexer
}

// tokenStyle is the color of a kind of token.
func tokenStyle(t chroma.TokenType) sgr {
	switch {
	case t == chroma.GenericInserted:
		return green
	case t == chroma.GenericDeleted:
		return red
	case t == chroma.GenericSubheading || t == chroma.GenericHeading:
		return cyan
	case t.InCategory(chroma.Comment):
		return grey
	case t.InCategory(chroma.Keyword):
		return magenta
	case t.InSubCategory(chroma.LiteralString):
		return green
	case t.InSubCategory(chroma.LiteralNumber):
		return yellow
	case t == chroma.NameFunction || t == chroma.NameClass || t == chroma.NameTag || t == chroma.NameDecorator:
		return blue
	case t == chroma.NameBuiltin || t == chroma.NameAttribute || t == chroma.NameVariable:
		return cyan
	}
	return none
}

// goSpans colors Go.
func goSpans(src string) []span {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	var out []span
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
		style := none
		switch {
		case tok == token.COMMENT:
			style = grey
		case tok.IsKeyword():
			style = magenta
		case tok == token.STRING || tok == token.CHAR:
			style = green
		case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
			style = yellow
		}
		out = append(out, span{src[at:from], none}, span{src[from:to], style})
		at = to
	}
	return append(out, span{src[at:], none})
}

// trimEnd removes the newline that grammars want at the end.
func trimEnd(spans []span) []span {
	if n := len(spans) - 1; n >= 0 {
		spans[n].text = strings.TrimSuffix(spans[n].text, "\n")
	}
	return spans
}

// splitSpans cuts spans into lines.
func splitSpans(spans []span) [][]span {
	lines := [][]span{nil}
	for _, s := range spans {
		for i, part := range strings.Split(s.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], span{part, s.style})
			}
		}
	}
	return lines
}
