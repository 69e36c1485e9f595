package main

import (
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// add writes the table of one package; keep, if not nil, chooses the symbols.
func (f *file) add(p *types.Package, keep func(types.Object) bool) {
	var wrappers strings.Builder
	fmt.Fprintf(&f.body, "var t%s = []symbol{\n", ident(p.Path()))
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() || keep != nil && !keep(o) {
			continue
		}
		value := f.value(p, o)
		if value == "" {
			continue
		}
		f.imports[p.Path()] = true
		fmt.Fprintf(&f.body, "{%q, %s},\n", name, value)
		if i, ok := implementable(o); ok {
			w := "w" + ident(p.Path()) + "_" + name
			fmt.Fprintf(&f.body, "{%q, (*%s)(nil)},\n", "_"+name, w)
			f.wrapper(&wrappers, w, name, i)
		}
	}
	f.body.WriteString("}\n\n")
	f.body.WriteString(wrappers.String())
}

// value is the expression for a symbol; empty if it has no value at run time.
func (f *file) value(p *types.Package, o types.Object) string {
	name := ident(p.Path()) + "." + o.Name()
	switch o := o.(type) {
	case *types.Const:
		return constantValue(name, o)
	case *types.Var:
		return "&" + name
	case *types.Func:
		if o.Type().(*types.Signature).TypeParams().Len() == 0 {
			return name
		}
	case *types.TypeName:
		if generic(o.Type()) || constraint(o.Type()) {
			return ""
		}
		return "(*" + name + ")(nil)"
	}
	return ""
}

// constantValue keeps untyped constants untyped. Their values are those of the
// platform that the program is built for, except that floats are written out.
func constantValue(name string, o *types.Const) string {
	basic, ok := o.Type().(*types.Basic)
	if !ok || basic.Info()&types.IsUntyped == 0 {
		return name
	}
	switch v := o.Val(); v.Kind() {
	case constant.String:
		return "stringConst(" + name + ")"
	case constant.Bool:
		return "boolConst(" + name + ")"
	case constant.Int:
		if basic.Kind() == types.UntypedFloat {
			return fmt.Sprintf("floatConst(%q)", v.ExactString())
		}
		if _, exact := constant.Int64Val(v); !exact {
			return "uintConst(" + name + ")"
		}
		return "intConst(" + name + ")"
	case constant.Float:
		x, ok := constant.Val(v).(*big.Float)
		if !ok {
			x = new(big.Float).SetRat(constant.Val(v).(*big.Rat))
		}
		return fmt.Sprintf("floatConst(%q)", x.Text('g', int(x.Prec())))
	}
	return ""
}

// generic reports whether a type has parameters of its own.
func generic(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		return t.TypeParams().Len() > 0
	case *types.Alias:
		return t.TypeParams().Len() > 0
	}
	return false
}

// constraint reports whether a type can only constrain type parameters.
func constraint(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// implementable returns the interface that o declares, if a plugin could
// implement it.
func implementable(o types.Object) (*types.Interface, bool) {
	if _, ok := o.(*types.TypeName); !ok || generic(o.Type()) || constraint(o.Type()) {
		return nil, false
	}
	i, ok := o.Type().Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return nil, false
	}
	for m := range i.Methods() {
		if !m.Exported() {
			return nil, false
		}
	}
	return i, true
}

// wrapper writes the type that lends interpreted methods to the interface i: a
// field for each method, in the form that the interpreter expects.
func (f *file) wrapper(b *strings.Builder, w, name string, i *types.Interface) {
	qualify := func(p *types.Package) string {
		f.imports[p.Path()] = true
		return ident(p.Path())
	}
	var methods strings.Builder
	fmt.Fprintf(b, "// %s lends interpreted methods to %s.\ntype %s struct {\nIValue any\n", w, name, w)
	for m := range i.Methods() {
		sig := m.Type().(*types.Signature)
		var params, args, results []string
		for j := range sig.Params().Len() {
			arg, typ := fmt.Sprintf("a%d", j), types.TypeString(sig.Params().At(j).Type(), qualify)
			if sig.Variadic() && j == sig.Params().Len()-1 {
				params, args = append(params, arg+" ..."+strings.TrimPrefix(typ, "[]")), append(args, arg+"...")
				continue
			}
			params, args = append(params, arg+" "+typ), append(args, arg)
		}
		for j := range sig.Results().Len() {
			results = append(results, types.TypeString(sig.Results().At(j).Type(), qualify))
		}
		signature := fmt.Sprintf("(%s) (%s)", strings.Join(params, ", "), strings.Join(results, ", "))
		fmt.Fprintf(b, "W%s func%s\n", m.Name(), signature)
		ret := ""
		if len(results) > 0 {
			ret = "return "
		}
		guard := ""
		if m.Name() == "String" { // Printed while it is being made.
			guard = "if w.WString == nil {\nreturn \"\"\n}\n"
		}
		fmt.Fprintf(
			&methods, "func (w %s) %s%s {\n%s%sw.W%s(%s)\n}\n\n", w, m.Name(), signature, guard, ret, m.Name(),
			strings.Join(args, ", "),
		)
	}
	b.WriteString("}\n\n" + methods.String())
}

// interfacePackages lists the other packages whose interfaces p's own functions,
// methods and fields mention: what a plugin may have to implement in order to
// call p, without importing them.
func interfacePackages(p *types.Package) []string {
	found := map[string]bool{}
	var walk func(t types.Type, depth int)
	tuple := func(t *types.Tuple, depth int) {
		for v := range t.Variables() {
			walk(v.Type(), depth)
		}
	}
	walk = func(t types.Type, depth int) {
		if depth > 8 {
			return
		}
		switch t := t.(type) {
		case *types.Alias:
			walk(types.Unalias(t), depth+1)
		case *types.Named:
			o := t.Obj()
			if _, ok := implementable(o); ok && o.Pkg() != nil && o.Pkg() != p && o.Exported() {
				found[o.Pkg().Path()] = true
			}
		case *types.Pointer:
			walk(t.Elem(), depth+1)
		case *types.Slice:
			walk(t.Elem(), depth+1)
		case *types.Array:
			walk(t.Elem(), depth+1)
		case *types.Chan:
			walk(t.Elem(), depth+1)
		case *types.Map:
			walk(t.Key(), depth+1)
			walk(t.Elem(), depth+1)
		case *types.Signature:
			tuple(t.Params(), depth+1)
			tuple(t.Results(), depth+1)
		case *types.Struct:
			for v := range t.Fields() {
				if v.Exported() {
					walk(v.Type(), depth+1)
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				walk(m.Type(), depth+1)
			}
		}
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		walk(o.Type(), 0)
		named, ok := types.Unalias(o.Type()).(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType {
			continue
		}
		walk(named.Underlying(), 0)
		for m := range named.Methods() {
			if m.Exported() {
				walk(m.Type(), 0)
			}
		}
	}
	maps.DeleteFunc(found, func(path string, _ bool) bool { return strings.Contains(path, "internal") })
	return slices.Sorted(maps.Keys(found))
}
