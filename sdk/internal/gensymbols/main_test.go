package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpToDate regenerates symbols.go and compares. SD-03
func TestUpToDate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..")
	want, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "symbols.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("symbols.go is out of date: run `go generate ./...` in the sdk directory")
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want, err string }{
		{"type T struct{}", `"T": reflect.ValueOf((*T)(nil)),`, ""},
		{"type t struct{}", "", ""},
		{"func F() {}", `"F": reflect.ValueOf(F),`, ""},
		{"type t int\nfunc (t) M() {}", "", ""},
		{"var V int", `"V": reflect.ValueOf(&V).Elem(),`, ""},
		{`const A R = "a"`, `"A": reflect.ValueOf(A),`, ""},
		{`const A = R("a")`, `"A": reflect.ValueOf(A),`, ""},
		{`const A = "a"`, `"A": reflect.ValueOf(constant.MakeString(A)),`, ""},
		{`const A = 1`, `"A": reflect.ValueOf(constant.MakeInt64(A)),`, ""},
		{
			"const B, A = 1, 2",
			"\"A\": reflect.ValueOf(constant.MakeInt64(A)),\n\"B\": reflect.ValueOf(constant.MakeInt64(B)),", "",
		},
		{`const a = b + c`, "", ""},
		{`const A = b + c`, "", "constant A"},
		{"type I interface{ M() }", "", "type I"},
		{"type G[T any] struct{}", "", "type G"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n\n"+tt.source+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		lines, err := symbols(dir, false)
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.source, got, tt.want)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.source, err, tt.err)
		}
	}
	if _, err := symbols(t.TempDir(), false); err == nil {
		t.Error("empty directory: no error")
	}
}
