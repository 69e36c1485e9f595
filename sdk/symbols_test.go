package sdk_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/idelchi/aura/sdk"
	"github.com/idelchi/aura/sdk/version"
)

// exported lists the exported types and constants in the files of a directory.
func exported(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE && d.Tok != token.CONST {
				continue
			}
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// Every exported type and constant can be reached by plugins. SD-03
func TestSymbolsComplete(t *testing.T) {
	t.Parallel()
	for key, dir := range map[string]string{
		"github.com/idelchi/aura/sdk/sdk":             ".",
		"github.com/idelchi/aura/sdk/version/version": "version",
	} {
		table, names := sdk.Symbols[key], exported(t, dir)
		for _, name := range names {
			if v, ok := table[name]; ast.IsExported(name) && (!ok || !v.IsValid()) {
				t.Errorf("%s: no %s", key, name)
			}
		}
		if len(names) == 0 || len(table) > len(names) {
			t.Errorf("%s: %d symbols for %d names", key, len(table), len(names))
		}
	}
}

// The symbols are the compiled types and values. SD-02 SD-03 SD-69
func TestSymbolsIdentity(t *testing.T) {
	t.Parallel()
	table := sdk.Symbols["github.com/idelchi/aura/sdk/sdk"]
	for name, want := range map[string]reflect.Type{
		"Context":          reflect.TypeFor[*sdk.Context](),
		"BeforeToolResult": reflect.TypeFor[*sdk.BeforeToolResult](),
		"Role":             reflect.TypeFor[*sdk.Role](),
	} {
		if got := table[name].Type(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got, ok := table["RoleUser"].Interface().(sdk.Role); !ok || got != "user" {
		t.Errorf("RoleUser = %v", table["RoleUser"])
	}
	if got, ok := table["RoleAssistant"].Interface().(sdk.Role); !ok || got != "assistant" {
		t.Errorf("RoleAssistant = %v", table["RoleAssistant"])
	}
	for _, c := range []struct {
		value reflect.Value
		want  string
	}{
		{table["TypeSynthetic"], "synthetic"},
		{sdk.Symbols["github.com/idelchi/aura/sdk/version/version"]["Version"], version.Version},
	} {
		if got, ok := c.value.Interface().(constant.Value); !ok || constant.StringVal(got) != c.want {
			t.Errorf("untyped constant is %v, want %q", c.value, c.want)
		}
	}
	if version.Version != "0.1.0" {
		t.Errorf("version %q", version.Version)
	}
}
