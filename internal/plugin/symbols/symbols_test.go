package symbols_test

import (
	"go/constant"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/plugin/symbols"
)

// PL-20 PL-53: every table can be made, and what it needs is there.
func TestTables(t *testing.T) {
	t.Parallel()
	paths := symbols.Paths()
	if !slices.IsSorted(paths) || len(paths) < 100 {
		t.Fatalf("%d packages, sorted %v", len(paths), slices.IsSorted(paths))
	}
	for _, name := range paths {
		p, ok := symbols.Lookup(name)
		if !ok && name == "syscall" {
			continue // Not on this system.
		}
		base := path.Base(name)
		if !ok || p.Name != base && base != "v2" || !symbols.Offered(name) || !symbols.Standard(name) {
			t.Errorf("%s: %v, package %s", name, ok, p.Name)
		}
		for symbol, v := range p.Symbols {
			if !v.IsValid() {
				t.Errorf("%s.%s has no value", name, symbol)
			}
		}
		for _, need := range p.Needs {
			if w, ok := symbols.Wrappers(need); ok && len(w.Symbols) == 0 {
				t.Errorf("%s needs %s, which has no interfaces", name, need)
			}
		}
	}
	for _, name := range []string{"C", "nosuch", "", "fmt/", "github.com/x/y"} {
		if symbols.Standard(name) && name != "C" || symbols.Offered(name) {
			t.Errorf("%q is offered", name)
		}
	}
	for _, name := range []string{"image/png", "unsafe", "testing", "go/ast"} {
		if !symbols.Standard(name) || symbols.Offered(name) {
			t.Errorf("%s: standard %v, offered %v", name, symbols.Standard(name), symbols.Offered(name))
		}
	}
}

// A table belongs to who asked for it.
func TestTablesAreCopies(t *testing.T) {
	t.Parallel()
	a, _ := symbols.Lookup("os")
	delete(a.Symbols, "Getenv")
	if b, _ := symbols.Lookup("os"); !b.Symbols["Getenv"].IsValid() {
		t.Error("the second table lacks what was taken out of the first")
	}
}

// Functions, variables, types and constants come in the form that interpreters
// want.
func TestForms(t *testing.T) {
	t.Parallel()
	get := func(pkg, name string) reflect.Value {
		p, _ := symbols.Lookup(pkg)
		return p.Symbols[name]
	}
	if f, ok := get("strings", "ToUpper").Interface().(func(string) string); !ok || f("a") != "A" {
		t.Error("strings.ToUpper is not a function")
	}
	if v := get("os", "Args"); !v.CanSet() || v.Len() != len(os.Args) {
		t.Error("os.Args is not the variable")
	}
	if v := get("strings", "Builder"); v.Type() != reflect.TypeFor[*strings.Builder]() || !v.IsNil() {
		t.Error("strings.Builder is not a type")
	}
	for name, want := range map[string]string{"MaxInt64": "9223372036854775807", "MaxUint64": "18446744073709551615", "Pi": "3.14159"} {
		if c, ok := get("math", name).Interface().(constant.Value); !ok || !strings.HasPrefix(c.String(), want[:min(len(want), len(c.String()))]) {
			t.Errorf("math.%s is %v", name, get("math", name))
		}
	}
	if c, ok := get("os", "PathSeparator").Interface().(constant.Value); !ok || c.ExactString() != constant.MakeInt64(os.PathSeparator).ExactString() {
		t.Errorf("os.PathSeparator is %v", get("os", "PathSeparator"))
	}
	if v, ok := get("os", "ModeDir").Interface().(os.FileMode); !ok || v != os.ModeDir {
		t.Errorf("os.ModeDir is %v", get("os", "ModeDir"))
	}
	if w, _ := symbols.Wrappers("io"); !w.Symbols["_Reader"].IsValid() || w.Symbols["ReadAll"].IsValid() {
		t.Error("the wrappers of io are wrong")
	}
}
