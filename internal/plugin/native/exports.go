package native

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/idelchi/aura/internal/plugin/native/pipe"
)

// parsePackage parses the files of the plugin's own package that take part.
func parsePackage(t *Tree) (files []*ast.File, err error) {
	for _, f := range t.Files {
		if path.Dir(f.Name) != "." || !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		if ok, err := TakesPart(f.Name, f.Text); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		} else if !ok {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// exportedNames are those of the names that the package declares as something that has
// a value.
func exportedNames(files []*ast.File, names []string) []string {
	declared := map[string]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = declared[d.Name.Name] || d.Recv == nil && d.Type.TypeParams == nil
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, n := range v.Names {
							declared[n.Name] = true
						}
					}
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !declared[name] })
}

// unseen are the fields of a context that the functions of those names cannot look at:
// they use nothing of their parameters but fields, and none of these. It is careful:
// whatever it does not understand sees all.
func unseen(files []*ast.File, names []string) []string {
	seen := map[string]bool{}
	functions := 0
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Body == nil || !slices.Contains(names, f.Name.Name) {
				continue
			}
			functions++
			if !onlyFields(f, seen) {
				return nil
			}
		}
	}
	if functions != len(names) { // Some are variables.
		return nil
	}
	return slices.DeleteFunc(pipe.Omittable(), func(name string) bool { return seen[name] })
}

// onlyFields notes the fields that a function uses of the context of the session. It
// reports false if the function does anything else with it.
func onlyFields(f *ast.FuncDecl, seen map[string]bool) bool {
	name := snapshot(f)
	only := true
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == name {
				seen[n.Sel.Name] = true
				only = only && n.Sel.Name != "Context"
				return false
			}
		case *ast.Ident:
			only = only && (n.Name != name || name == "")
		}
		return only
	})
	return only
}

// snapshot is the name of the parameter with the context of the session; empty if
// the function has none or gives it no name. By its place: imports can be renamed.
func snapshot(f *ast.FuncDecl) string {
	var names []string
	for _, p := range f.Type.Params.List {
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
	}
	place := 1
	if f.Name.Name == "ExecuteCommand" {
		place = 2
	}
	if len(names) <= place || names[place] == "_" {
		return ""
	}
	return names[place]
}
