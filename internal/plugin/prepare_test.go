package plugin

import (
	"bytes"
	"go/parser"
	"go/token"
	"testing"
)

// Whatever is valid Go stays valid Go with its lines where they were, and has no
// parameter without a usable name; what is not is an error.
func FuzzPrepare(f *testing.F) {
	for _, text := range []string{
		"package p\n\nimport \"context\"\n\nfunc F(context.Context, ...int) (_ int, err error) { return 0, nil }\n",
		"package p\n\nfunc (T) M(_, _ int, x string) {}\n\ntype T struct{}\n",
		"package p\n\nvar f = func(func(int) string, _ struct{ _ int }) { select {} }\n",
		"package p\n\nfunc F[T any, _ any](T) {}\n", "package p\n\nfunc F(\n\tint, // é\n\tstring,\n) {\n}\n",
		"package q\n", "package p (", "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &source{module: "p", pkg: "p"}
		_, out, err := s.parse("p", "main.go", text)
		if err != nil {
			return
		}
		if bytes.Count(out, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Errorf("lines moved:\n%s\n%s", text, out)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "main.go", out, parser.SkipObjectResolution); err != nil {
			t.Errorf("%v\n%s\n%s", err, text, out)
		}
		_, again, err := (&source{module: "p", pkg: "p"}).parse("p", "main.go", out)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("not finished: %v\n%s\n%s", err, out, again)
		}
	})
}
