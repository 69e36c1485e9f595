package tui

import (
	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strike parses ~~text~~. A single tilde means "about" more often than not.
type strike struct{}

func (strike) Trigger() []byte { return []byte{'~'} }

func (strike) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := parser.ScanDelimiter(line, before, 2, strike{})
	if n == nil || n.OriginalLength != 2 || before == '~' {
		return nil
	}
	n.Segment = segment.WithStop(segment.Start + n.OriginalLength)
	block.Advance(n.OriginalLength)
	pc.PushDelimiter(n)
	return n
}

func (strike) IsDelimiter(b byte) bool { return b == '~' }

func (strike) CanOpenCloser(opener, closer *parser.Delimiter) bool { return opener.Char == closer.Char }

func (strike) OnMatch(int) ast.Node { return extended.NewStrikethrough() }
