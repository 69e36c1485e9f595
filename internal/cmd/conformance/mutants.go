package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// mutant is one small change of a source file.
type mutant struct {
	file       string // As the coverage profile names it, below the root of the repository.
	line       int
	column     int
	start, end int // Bytes to be replaced.
	text       string
	what       string // What is changed, for readers.
}

// apply returns the changed file.
func (m mutant) apply(source []byte) []byte {
	out := append([]byte{}, source[:m.start]...)
	out = append(out, m.text...)
	return append(out, source[m.end:]...)
}

// opposite are the operators that take each other's place.
var opposite = map[token.Token]token.Token{
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GEQ, token.GEQ: token.LSS,
	token.GTR: token.LEQ, token.LEQ: token.GTR,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutants returns all small changes of a Go file. Not every one compiles.
func mutants(file string, source []byte) ([]mutant, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	m := &maker{file: file, source: source, positions: set.File(tree.FileStart)}
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			ast.Inspect(f.Body, m.visit)
		}
	}
	return m.list, nil
}

// maker collects the changes of one file.
type maker struct {
	file      string
	source    []byte
	positions *token.File
	list      []mutant
}

func (m *maker) add(from, to token.Pos, text, what string) {
	p := m.positions.Position(from)
	m.list = append(m.list, mutant{m.file, p.Line, p.Column, p.Offset, m.positions.Offset(to), text, what})
}

// code is the source of a node.
func (m *maker) code(n ast.Node) string {
	return string(m.source[m.positions.Offset(n.Pos()):m.positions.Offset(n.End())])
}

// visit adds the changes of one node.
func (m *maker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		m.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.negate(n.Cond)
		}
	case *ast.BinaryExpr:
		if op, ok := opposite[n.Op]; ok {
			m.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String(), fmt.Sprintf("%s becomes %s", n.Op, op))
		}
	case *ast.BasicLit:
		m.literal(n)
	case *ast.Ident:
		if other, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			m.add(n.Pos(), n.End(), other, n.Name+" becomes "+other)
		}
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.CommClause:
		m.statements(n.Body)
	case *ast.ReturnStmt:
		m.result(n)
	case *ast.Field: // Tags and types of local structs are no behavior.
		return false
	}
	return true
}

func (m *maker) negate(cond ast.Expr) {
	m.add(cond.Pos(), cond.End(), "!("+m.code(cond)+")", "condition "+m.code(cond)+" negated")
}

// replacement takes the place of any text.
const replacement = "mutated"

// literal changes a constant.
func (m *maker) literal(l *ast.BasicLit) {
	switch l.Kind {
	case token.STRING:
		if _, err := strconv.Unquote(l.Value); err == nil {
			m.add(l.Pos(), l.End(), strconv.Quote(replacement), l.Value+" changed")
		}
	case token.INT:
		m.add(l.Pos(), l.End(), "("+l.Value+"+1)", l.Value+" becomes "+l.Value+"+1")
	}
}

// statements drops what is done for its effect.
func (m *maker) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.BranchStmt:
		default:
			continue
		}
		m.add(s.Pos(), s.End(), "", "dropped: "+m.code(s))
	}
}

// result turns a returned error into none.
func (m *maker) result(r *ast.ReturnStmt) {
	if len(r.Results) == 0 {
		return
	}
	last := r.Results[len(r.Results)-1]
	name, call := last, false
	if c, ok := last.(*ast.CallExpr); ok {
		name, call = c.Fun, true
	}
	switch code := m.code(name); {
	case !call && code == "err", call && (code == "fmt.Errorf" || code == "errors.New"):
		m.add(last.Pos(), last.End(), "nil", "returned error becomes nil")
	}
}
