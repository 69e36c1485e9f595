package tui

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/idelchi/aura/internal/highlight"
	"github.com/idelchi/aura/internal/terminal"
	"github.com/idelchi/aura/internal/width"
)

// painter draws Markdown and code. What it needs is made when it is first needed.
type painter struct {
	parser      parser.Parser
	highlighter highlight.Highlighter
}

// markdown draws a text. If fence is not empty, the text is the middle of a code
// block that this line opened.
func (p *painter) markdown(src, fence string, limit int) []string {
	limit = max(limit, 8)
	if fence != "" {
		lines := strings.Split(strings.TrimSuffix(src, "\n"), "\n")
		if n := len(lines) - 1; fenceMark(lines[n]) != "" && strings.Trim(lines[n], "`~ ") == "" {
			lines = lines[:n]
		}
		if len(lines) == 0 {
			return nil
		}
		return p.code(language(fence), strings.Join(lines, "\n"), limit)
	}
	if p.parser == nil {
		p.parser = parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(strike{}, 500))...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)
	}
	var out []string
	for _, part := range splitTables(src) {
		var lines []string
		if part.table != nil {
			lines = p.table(part.table, limit)
		} else {
			d := &document{painter: p, src: []byte(part.text)}
			lines = d.children(p.parser.Parse(text.NewReader(d.src)), limit, true)
		}
		if len(out) > 0 && len(lines) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// language is the name behind a fence.
func language(fence string) string {
	name := strings.TrimLeft(fence, "`~ ")
	if i := strings.IndexAny(name, " \t{,"); i >= 0 {
		name = name[:i]
	}
	return strings.ToLower(name)
}

// document is Markdown that is being drawn.
type document struct {
	*painter
	src []byte
}

// children draws the blocks inside a block, with blank lines between them if loose.
func (d *document) children(n ast.Node, limit int, loose bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := d.block(c, limit)
		if len(lines) == 0 {
			continue
		}
		if loose && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func (d *document) block(n ast.Node, limit int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return wrap(d.inline(n, bold.with(magenta)), limit)
	case *ast.Paragraph, *ast.TextBlock:
		return wrap(d.inline(n, none), limit)
	case *ast.List:
		return d.list(n, limit)
	case *ast.Blockquote:
		return prefixed(d.children(n, max(limit-2, 8), true), grey.paint("▎ "), grey.paint("▎ "))
	case *ast.FencedCodeBlock:
		return d.code(strings.ToLower(string(n.Language(d.src))), d.raw(n), limit)
	case *ast.CodeBlock:
		return d.code("", d.raw(n), limit)
	case *ast.ThematicBreak:
		return []string{grey.paint(strings.Repeat("─", min(limit, 40)))}
	case *ast.HTMLBlock:
		return wrapText(strings.TrimRight(d.raw(n), "\n"), grey, limit)
	}
	return d.children(n, limit, true)
}

// raw is the source of a block that is not parsed.
func (d *document) raw(n ast.Node) string {
	var b strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		s := lines.At(i)
		b.Write(s.Value(d.src))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (d *document) list(n *ast.List, limit int) []string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		w := len([]rune(mark))
		lines := d.children(item, max(limit-w, 8), !n.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if !n.IsTight && len(out) > 0 {
			out = append(out, "")
		}
		if !n.IsOrdered() {
			mark, lines[0] = box(mark, lines[0])
		}
		out = append(out, prefixed(lines, cyan.paint(mark), strings.Repeat(" ", w))...)
	}
	return out
}

// box makes a list item that begins with [ ] or [x] one with a box for its mark.
func box(mark, line string) (string, string) {
	for sign, box := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if rest, ok := strings.CutPrefix(line, sign); ok {
			return box, rest
		}
	}
	return mark, line
}

// prefixed puts a mark before the first line, and another one before the others.
func prefixed(lines []string, first, rest string) []string {
	for i := range lines {
		if i == 0 {
			lines[i] = first + lines[i]
		} else {
			lines[i] = rest + lines[i]
		}
	}
	return lines
}

// inline is the text inside a block.
func (d *document) inline(n ast.Node, style sgr) []span {
	var out []span
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, d.span(c, style)...)
	}
	for i := range out {
		out[i].text = width.ExpandTabs(out[i].text)
	}
	return out
}

func (d *document) span(c ast.Node, style sgr) []span {
	switch c := c.(type) {
	case *ast.Text:
		out := []span{{unescape(c.Value(d.src), c.IsRaw()), style}}
		switch {
		case c.HardLineBreak():
			out = append(out, span{"\n", none})
		case c.SoftLineBreak():
			out = append(out, span{" ", style})
		}
		return out
	case *ast.String:
		return []span{{string(c.Value), style}}
	case *ast.CodeSpan:
		var b strings.Builder
		for t := c.FirstChild(); t != nil; t = t.NextSibling() {
			if s, ok := t.(*ast.Text); ok {
				b.Write(s.Value(d.src))
			}
		}
		return []span{{strings.ReplaceAll(b.String(), "\n", " "), style.with(cyan)}}
	case *ast.Emphasis:
		if c.Level > 1 {
			return d.inline(c, style.with(bold))
		}
		return d.inline(c, style.with(italic))
	case *extended.Strikethrough:
		return d.inline(c, style.with(struck))
	case *ast.Link:
		out := d.inline(c, style.with(underline))
		if url := terminal.Clean(string(c.Destination)); len(out) != 1 || out[0].text != url {
			out = append(out, span{" (" + url + ")", grey})
		}
		return out
	case *ast.AutoLink:
		return []span{{string(c.Label(d.src)), style.with(underline)}}
	case *ast.Image:
		return []span{{"[image: ", grey}, {terminal.Clean(string(c.Destination)), grey}, {"]", grey}}
	case *ast.RawHTML:
		var b strings.Builder
		for i := range c.Segments.Len() {
			s := c.Segments.At(i)
			b.Write(s.Value(d.src))
		}
		return []span{{b.String(), style}}
	}
	return d.inline(c, style)
}

// unescape resolves backslashes and entities. An entity can be any character: what
// could drive the terminal is removed again.
func unescape(src []byte, raw bool) string {
	if raw {
		return string(src)
	}
	src = util.ResolveNumericReferences(util.UnescapePunctuations(src))
	return terminal.Clean(string(util.ResolveEntityNames(src)))
}

// tablePart is a piece of Markdown: text, or the cells of a table.
type tablePart struct {
	text  string
	table [][]string
}

// splitTables takes the tables out of a text: a row of cells, a row of dashes, and
// more rows. Inside of code there are none.
func splitTables(src string) []tablePart {
	if !strings.Contains(src, "|") || !strings.Contains(src, "---") {
		return []tablePart{{text: src}}
	}
	var parts []tablePart
	var plainText strings.Builder
	lines := strings.SplitAfter(src, "\n")
	fence := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if mark := fenceMark(line); mark != "" {
			if fence == "" {
				fence = mark
			} else if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		}
		if fence != "" || i+1 >= len(lines) || !strings.Contains(line, "|") || !dashes(lines[i+1]) {
			plainText.WriteString(line)
			continue
		}
		if plainText.Len() > 0 {
			parts = append(parts, tablePart{text: plainText.String()})
			plainText.Reset()
		}
		rows := [][]string{tableCells(line)}
		for i += 2; i < len(lines) && strings.Contains(lines[i], "|"); i++ {
			rows = append(rows, tableCells(lines[i]))
		}
		i--
		parts = append(parts, tablePart{table: rows})
	}
	if strings.TrimSpace(plainText.String()) != "" {
		parts = append(parts, tablePart{text: plainText.String()})
	}
	return parts
}

// dashes reports whether a line separates the head of a table from its rows.
func dashes(line string) bool {
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|:- \t\n") == ""
}

func tableCells(line string) []string {
	line = strings.TrimSpace(strings.ReplaceAll(line, `\|`, "\x00"))
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
	}
	return cells
}

// table draws rows in columns as wide as they need, and narrower where there is no room.
func (p *painter) table(rows [][]string, limit int) []string {
	columns := len(rows[0])
	need := make([]int, columns)
	drawn := make([][][]span, len(rows))
	for i, row := range rows {
		drawn[i] = make([][]span, columns)
		for j := range columns {
			if j >= len(row) {
				continue
			}
			style := none
			if i == 0 {
				style = bold
			}
			d := &document{painter: p, src: []byte(row[j])}
			root := p.parser.Parse(text.NewReader(d.src))
			w := 0
			for c := root.FirstChild(); c != nil; c = c.NextSibling() {
				drawn[i][j] = append(drawn[i][j], d.inline(c, style)...)
			}
			for _, s := range drawn[i][j] {
				w += width.Of(s.text)
			}
			need[j] = max(need[j], w)
		}
	}
	shrink(need, max(limit-2*(columns-1), columns))
	var out []string
	for i := range drawn {
		out = append(out, tableRow(drawn[i], need)...)
		if i == 0 {
			var rule []string
			for _, w := range need {
				rule = append(rule, strings.Repeat("─", w))
			}
			out = append(out, grey.paint(strings.Join(rule, "  ")))
		}
	}
	return out
}

// shrink makes the widest columns narrower until all fit.
func shrink(need []int, limit int) {
	for {
		sum, widest := 0, 0
		for i, w := range need {
			sum += w
			if w > need[widest] {
				widest = i
			}
		}
		if sum <= limit || need[widest] <= 4 {
			return
		}
		need[widest] -= min(max(1, (sum-limit)/2), need[widest]-4)
	}
}

// tableRow draws one row, over as many lines as its fullest cell needs.
func tableRow(cells [][]span, widths []int) []string {
	wrapped := make([][]string, len(cells))
	height := 1
	for j := range cells {
		wrapped[j] = wrap(cells[j], max(widths[j], 1))
		height = max(height, len(wrapped[j]))
	}
	out := make([]string, height)
	for k := range out {
		var b strings.Builder
		for j := range cells {
			line := ""
			if k < len(wrapped[j]) {
				line = wrapped[j][k]
			}
			b.WriteString(line)
			if j < len(cells)-1 {
				b.WriteString(strings.Repeat(" ", max(0, widths[j]-width.OfStyled(line))+2))
			}
		}
		out[k] = b.String()
	}
	return out
}
