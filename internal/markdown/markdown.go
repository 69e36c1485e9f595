// Package markdown splits Markdown files into their YAML frontmatter and their body.
// It neither decodes the YAML nor renders the Markdown.
package markdown

import (
	"bytes"
	"fmt"
)

// Document is a Markdown file taken apart.
type Document struct {
	Front     []byte // YAML between the two `---` lines; nil without frontmatter.
	FrontLine int    // Line of the file on which Front starts, from 1; 0 without frontmatter.
	Body      string // Everything after the frontmatter, line ends as "\n", outer blank lines removed.
	BodyLine  int    // Line of the file on which Body starts, from 1.
}

// Error is a mistake in the shape of a file.
type Error struct {
	Line int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Split takes a file apart. Frontmatter exists when the very first line is `---`; it
// ends at the next line that is `---`. A later `---` belongs to the body. A byte order
// mark and CRLF line ends are accepted. The only error is an *Error for frontmatter
// that never ends.
func Split(src []byte) (Document, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))

	first, rest, more := bytes.Cut(src, []byte("\n"))
	if !fence(first) {
		body, line := trim(src, 1)
		return Document{Body: body, BodyLine: line}, nil
	}
	unterminated := &Error{Line: 1, Msg: "frontmatter is not closed (no second `---` line)"}
	if !more {
		return Document{}, unterminated
	}

	for start, line := 0, 2; ; line++ {
		text, _, more := bytes.Cut(rest[start:], []byte("\n"))
		next := start + len(text) + 1
		if fence(text) {
			body, at := trim(rest[min(next, len(rest)):], line+1)
			return Document{Front: rest[:start:start], FrontLine: 2, Body: body, BodyLine: at}, nil
		}
		if !more {
			return Document{}, unterminated
		}
		start = next
	}
}

// fence accepts trailing blanks because editors leave them and nobody sees them.
func fence(line []byte) bool {
	return bytes.Equal(bytes.TrimRight(line, " \t\r"), []byte("---"))
}

// trim removes blank lines around a body and says on which line the rest starts.
func trim(body []byte, line int) (string, int) {
	for {
		text, rest, more := bytes.Cut(body, []byte("\n"))
		if !more || len(bytes.TrimSpace(text)) > 0 {
			break
		}
		body = rest
		line++
	}
	return string(bytes.TrimRight(body, " \t\r\n")), line
}
