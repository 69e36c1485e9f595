package markdown_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/markdown"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, src   string
		front, body string
		frontLine   int
		bodyLine    int
	}{
		{"empty", "", "", "", 0, 1},
		{"no frontmatter", "# Title\ntext\n", "", "# Title\ntext", 0, 1},
		{"frontmatter", "---\nname: a\n---\nbody\n", "name: a\n", "body", 2, 4},
		{"blank lines before the body", "---\nname: a\n---\n\n\nbody\n\n", "name: a\n", "body", 2, 6},
		{"indented body keeps its indent", "---\n---\n    code\n", "", "    code", 2, 3},
		{"CRLF", "---\r\nname: a\r\n---\r\none\r\ntwo\r\n", "name: a\n", "one\ntwo", 2, 4},
		{"BOM", "\xef\xbb\xbf---\nname: a\n---\nbody", "name: a\n", "body", 2, 4},
		{"BOM without frontmatter", "\xef\xbb\xbfbody", "", "body", 0, 1},
		{"empty frontmatter", "---\n---\n", "", "", 2, 3},
		{"no body, no last line end", "---\nname: a\n---", "name: a\n", "", 2, 4},
		{"rule in the body", "---\na: 1\n---\none\n---\ntwo\n", "a: 1\n", "one\n---\ntwo", 2, 4},
		{"rule without frontmatter", "one\n---\ntwo\n", "", "one\n---\ntwo", 0, 1},
		{"blanks after the fence", "--- \na: 1\n---\t\nb", "a: 1\n", "b", 2, 4},
		{"four dashes are no fence", "----\na\n----\n", "", "----\na\n----", 0, 1},
		{"fence inside a value", "---\na: |\n  ---\n---\nb", "a: |\n  ---\n", "b", 2, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := markdown.Split([]byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if string(doc.Front) != tt.front || doc.Body != tt.body || doc.FrontLine != tt.frontLine ||
				doc.BodyLine != tt.bodyLine {
				t.Errorf("got %+v, front %q", doc, doc.Front)
			}
		})
	}
}

func TestSplitUnterminated(t *testing.T) {
	for _, src := range []string{"---", "---\n", "---\nname: a\n", "---\nname: a\n----\nbody\n"} {
		_, err := markdown.Split([]byte(src))
		e, ok := errors.AsType[*markdown.Error](err)
		if !ok || e.Line != 1 || !strings.Contains(err.Error(), "not closed") {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "---\na: 1\n---\nb\n", "---\r\n---\r\n", "\xef\xbb\xbf---\n---", "x\n---\n", "---\n\n\n---\n\n \nz",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, err := markdown.Split(src)
		if err != nil {
			return
		}
		if doc.BodyLine < 1 || (doc.FrontLine != 0 && doc.FrontLine != 2) {
			t.Fatalf("lines: %+v", doc)
		}
		// The body starts where BodyLine says it does.
		lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(src), "\xef\xbb\xbf"), "\r\n", "\n"), "\n")
		first, _, _ := strings.Cut(doc.Body, "\n")
		if doc.Body != "" && !strings.HasPrefix(lines[doc.BodyLine-1], first) {
			t.Fatalf("line %d is %q, body starts with %q", doc.BodyLine, lines[doc.BodyLine-1], first)
		}
		if strings.Contains(doc.Body, "\r\n") {
			return // "\r\r\n" loses one carriage return at each split.
		}
		// A body is plain text: splitting it again with a fence in front gives it back.
		again, err := markdown.Split([]byte("---\n---\n" + doc.Body))
		if err != nil || again.Body != doc.Body {
			t.Fatalf("again: %q != %q (%v)", again.Body, doc.Body, err)
		}
	})
}
