package plugin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// refusal is what a source must not use.
type refusal struct {
	functions map[string][]string // By import path; they need unsafe mode.
	builtins  []string            // The interpreter does not know them.
}

// diagnose looks for what a source must not use. The interpreter finds it too, but
// words it in its own way. nil means that nothing was found.
func diagnose(src *source, r refusal) error {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, f := range src.files {
		pkg := strings.TrimPrefix(path.Dir(name), "src/")
		if file, err := parser.ParseFile(fset, src.shown(pkg, path.Base(name)), f.Data, 0); err == nil {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b *ast.File) int {
		return strings.Compare(fset.Position(a.Package).Filename, fset.Position(b.Package).Filename)
	})
	for _, f := range files {
		if err := r.diagnose(fset, f, files); err != nil {
			return err
		}
	}
	return nil
}

func (r refusal) diagnose(fset *token.FileSet, f *ast.File, all []*ast.File) (err error) {
	names := importNames(f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && x.Obj == nil && slices.Contains(r.functions[names[x.Name]], n.Sel.Name) {
				err = &unsafeError{fmt.Sprintf("%s: %s.%s", fset.Position(n.Pos()), x.Name, n.Sel.Name)}
			}
		case *ast.CallExpr:
			fn, ok := n.Fun.(*ast.Ident)
			if ok && fn.Obj == nil && slices.Contains(r.builtins, fn.Name) && !declares(all, fn.Name) {
				err = fmt.Errorf(
					"%s: the interpreter does not know the builtin %s (%s)",
					fset.Position(n.Pos()),
					fn.Name,
					wayOut,
				)
			}
		}
		return err == nil
	})
	return err
}

// importNames are the import paths of a file by the names they have in it.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// declares reports whether a file declares a function of that name.
func declares(files []*ast.File, name string) bool {
	return slices.ContainsFunc(files, func(f *ast.File) bool { return f.Scope != nil && f.Scope.Lookup(name) != nil })
}
