// Package symbols is the standard library as interpreted plugins see it: literal
// tables of what each package exports, turned into values only for the packages
// that are asked for. It decides nothing: what a plugin may import, and which
// functions act differently inside a plugin, is settled by package plugin.
package symbols

//go:generate go run ../../cmd/stdsymbols

import (
	"go/constant"
	"go/token"
	"reflect"
	"slices"
	"strings"
)

// symbol is one exported name: a function, the address of a variable, a nil
// pointer to a type, or a constant. Everything is laid out by the compiler;
// nothing runs when the program starts.
type symbol struct {
	name  string
	value any
}

// pkg is one package.
type pkg struct {
	path    string
	name    string
	symbols []symbol
	needs   []string // Packages whose interfaces this one's signatures mention.
}

// Constants without a type, and a float as it is written.
type (
	stringConst string
	boolConst   bool
	intConst    int64
	uintConst   uint64
	floatConst  string
)

// Package is one package of the standard library, ready for an interpreter.
type Package struct {
	Name    string
	Symbols map[string]reflect.Value
	Needs   []string // Packages whose Wrappers calls of this one may need.
}

// Lookup makes the table of a package. ok is false for a package that is not
// offered. The result belongs to the caller.
func Lookup(path string) (p Package, ok bool) {
	row, ok := find(path)
	if !ok {
		return Package{}, false
	}
	p = Package{Name: row.name, Needs: row.needs, Symbols: make(map[string]reflect.Value, len(row.symbols))}
	for _, s := range row.symbols {
		p.Symbols[s.name] = reflected(s.value)
	}
	return p, true
}

// Wrappers is the part of a package that lets interpreted types implement its
// interfaces.
func Wrappers(path string) (p Package, ok bool) {
	row, ok := find(path)
	if !ok {
		return Package{}, false
	}
	p = Package{Name: row.name, Symbols: map[string]reflect.Value{}}
	for _, s := range row.symbols {
		if strings.HasPrefix(s.name, "_") {
			p.Symbols[s.name] = reflected(s.value)
		}
	}
	return p, true
}

// Offered reports whether there is a table for a package.
func Offered(path string) bool {
	_, ok := find(path)
	return ok
}

// Standard reports whether a path names a package of the standard library,
// offered or not.
func Standard(path string) bool {
	_, left := slices.BinarySearch(missing, path)
	return left || Offered(path)
}

// Paths lists the packages that are offered.
func Paths() []string {
	list := []string{syscalls.path}
	for _, p := range packages {
		list = append(list, p.path)
	}
	slices.Sort(list)
	return list
}

func find(path string) (pkg, bool) {
	if path == syscalls.path {
		return syscalls, len(syscalls.symbols) > 0
	}
	i, ok := slices.BinarySearchFunc(packages, path, func(p pkg, path string) int { return strings.Compare(p.path, path) })
	if !ok {
		return pkg{}, false
	}
	return packages[i], true
}

// syscalls is apart because it differs between systems.
var syscalls = pkg{path: "syscall", name: "syscall", symbols: t_syscall}

// reflected is a symbol in the form the interpreter wants.
func reflected(value any) reflect.Value {
	switch v := value.(type) {
	case stringConst:
		return reflect.ValueOf(constant.MakeString(string(v)))
	case boolConst:
		return reflect.ValueOf(constant.MakeBool(bool(v)))
	case intConst:
		return reflect.ValueOf(constant.MakeInt64(int64(v)))
	case uintConst:
		return reflect.ValueOf(constant.MakeUint64(uint64(v)))
	case floatConst:
		return reflect.ValueOf(constant.MakeFromLiteral(string(v), token.FLOAT, 0))
	}
	r := reflect.ValueOf(value)
	if r.Kind() == reflect.Pointer && !r.IsNil() {
		return r.Elem() // A variable, not a type.
	}
	return r
}
