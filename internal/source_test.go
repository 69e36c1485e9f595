package internal_test

import (
	"bytes"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// foreign are the names of directories whose files are not ours, or are wrong on purpose.
var foreign = []string{".git", "third_party", "vendor", "testdata", "node_modules", "__pycache__"}

// files calls f with each file of the repository that people wrote and whose name ends
// in one of the suffixes. Names are relative to the root, with slashes.
func files(t *testing.T, suffixes []string, f func(name string, text []byte)) {
	t.Helper()
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(foreign, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) }):
			return nil
		}
		// Not by way of root: the go command must see what is read, or it takes an
		// old result of this test for a new one.
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err == nil && !generated.Match(text) {
			f(name, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// columns is how wide a line of Go may be, with tabs of tabWidth.
const (
	columns  = 120
	tabWidth = 4
)

// reshaped are directories whose lines are wrapped when the work on them is done.
var reshaped = []string{
	"internal/agent", "internal/app", "internal/cli", "internal/lifecycle", "internal/plain", "internal/plugin",
	"internal/pyext", "internal/tui",
}

// below reports whether a file is in one of the directories, at any depth.
func below(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name+"/", dir+"/") })
}

// Lines fit into 120 columns. Raw strings may be wider: they are what they are.
func TestColumns(t *testing.T) {
	t.Parallel()
	files(t, []string{".go"}, func(name string, text []byte) {
		if below(name, reshaped) {
			return
		}
		for _, line := range wide(text) {
			t.Errorf("%s:%d: more than %d columns", name, line, columns)
		}
	})
}

// wide returns the lines of a Go file that are too long.
func wide(text []byte) (lines []int) {
	raw := rawStrings(text)
	offset := 0
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		width := 0
		for at := 0; at < len(line); {
			r, size := utf8.DecodeRune(line[at:])
			if r == '\n' {
				break
			}
			if width++; r == '\t' {
				width += tabWidth - 1
			}
			if width > columns {
				position := offset + at
				if !slices.ContainsFunc(raw, func(s [2]int) bool { return s[0] <= position && position < s[1] }) {
					lines = append(lines, i+1)
				}
				break
			}
			at += size
		}
		offset += len(line)
	}
	return lines
}

// rawStrings returns where the raw string literals of a Go file begin and end, with the
// punctuation behind them.
func rawStrings(text []byte) (spans [][2]int) {
	tokens(text, func(file *token.File, pos token.Pos, tok token.Token, literal string) {
		if tok == token.STRING && literal[0] == '`' {
			start := file.Offset(pos)
			end := start + len(literal)
			for end < len(text) && strings.ContainsRune(",)}:", rune(text[end])) {
				end++
			}
			spans = append(spans, [2]int{start, end})
		}
	})
	return spans
}

// tokens calls f with each token of a Go file but its comments.
func tokens(text []byte, f func(file *token.File, pos token.Pos, tok token.Token, literal string)) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		f(file, pos, tok, literal)
	}
}

func TestWide(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", columns)
	for name, tt := range map[string]struct {
		text string
		want []int
	}{
		"short":         {"package p // " + long[13:], nil},
		"long":          {"package p // " + long[12:], []int{1}},
		"tabs":          {"package p\n\t// " + long[7:] + "\n\t// " + long[6:] + "\n", []int{3}},
		"runes":         {"package p\n// " + strings.Repeat("ü", columns-3) + "\n", nil},
		"raw":           {"package p\nvar a = `" + long + "`\n", nil},
		"lines of raw":  {"package p\nvar a = `\n" + long + "y\n`\n", nil},
		"after raw":     {"package p\nvar a = `a` // " + long + "\n", []int{2}},
		"plain string":  {"package p\nvar a = \"" + long + "\"\n", []int{2}},
		"quoted in raw": {"package p\nvar a = `// \"\n`\nvar b = 1 // " + long + "\n", []int{4}},
	} {
		if got := wide([]byte(tt.text)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: lines %v, want %v", name, got, tt.want)
		}
	}
}

// avoided are words that are not used here, and what to write. A pattern matches where a
// word begins, also inside of a name: "relief" matches reliefNote.
var avoided = []struct {
	pattern string
	instead string
	names   bool // Only in names of Go; elsewhere the word is in order.
}{
	{`the[\s/#*]+person\b`, "the user", false},
	{`malfunct`, "failure or error", false},
	{`doomed`, "what happens to it", false},
	{`autopsy`, "cause or diagnosis", false},
	{`relief`, "what is done", false},
	{`mend_?call`, "repairCall", false},
	{`former`, "a noun for what it is", true},
}

// unnamed are directories whose words are chosen anew when the work on them is done.
var unnamed = []string{"ARCHITECTURE.md", "internal/agent", "internal/plugin", "internal/pyext"}

// Names, comments, messages and pages use the words that a reader expects.
func TestWords(t *testing.T) {
	t.Parallel()
	files(t, []string{".go", ".md", ".py", ".yaml", ".txtar"}, func(name string, text []byte) {
		if name == "internal/source_test.go" || below(name, unnamed) {
			return
		}
		for _, a := range avoided {
			in := string(text)
			if a.names {
				in = names(name, text)
			}
			for _, line := range uses(in, a.pattern) {
				t.Errorf("%s:%d: %s: write %s", name, line, a.pattern, a.instead)
			}
		}
	})
}

// uses returns the lines in which a word that matches the pattern begins.
func uses(text, pattern string) (lines []int) {
	// Small letters in place of (?i): a pattern that begins with a literal is found at once.
	for _, m := range regexp.MustCompile(pattern).FindAllStringIndex(lower(text), -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:m[0]])
		first, _ := utf8.DecodeRuneInString(text[m[0]:])
		if !unicode.IsLetter(before) || unicode.IsLower(before) && unicode.IsUpper(first) {
			lines = append(lines, 1+strings.Count(text[:m[0]], "\n"))
		}
	}
	return lines
}

// lower is a text with ASCII letters made small, so that every byte stays in its place.
func lower(text string) string {
	out := []byte(text)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// names returns the names in a Go file, each in the line where it stands; nothing of
// other files.
func names(name string, text []byte) string {
	if path.Ext(name) != ".go" {
		return ""
	}
	var b strings.Builder
	line := 1
	tokens(text, func(file *token.File, pos token.Pos, tok token.Token, literal string) {
		for ; line < file.Line(pos); line++ {
			b.WriteByte('\n')
		}
		if tok == token.IDENT {
			b.WriteString(literal + " ")
		}
	})
	return b.String()
}

func TestUses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, pattern string
		want          []int
	}{
		{"a relief\nreliefNote noRelief", `relief`, []int{1, 2, 2}},
		{"unrelief", `relief`, nil},
		{"// the\n// person", `the[\s/#*]+person\b`, []int{1}},
		{"the personal one", `the[\s/#*]+person\b`, nil},
		{names("a.go", []byte("package p\n// the former\nvar former = transformer(\"former\")")), `former`, []int{3}},
		{names("a.md", []byte("former")), `former`, nil},
	} {
		if got := uses(tt.text, tt.pattern); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %q: lines %v, want %v", tt.pattern, tt.text, got, tt.want)
		}
	}
}
