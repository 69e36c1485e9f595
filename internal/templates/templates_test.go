package templates_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/templates"
)

func TestFunctions(t *testing.T) {
	tpl, err := templates.New("t").Parse(
		`{{ join .L ", " | upper }}|{{ lower "A" }}|{{ trim " b " }}|{{ indent 2 "a\n\nb" }}|{{ .M.none }}|`,
	)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tpl.Execute(&b, map[string]any{"L": []string{"x", "y"}, "M": map[string]string{}}); err != nil {
		t.Fatal(err)
	}
	if want := "X, Y|a|b|  a\n\n  b||"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

func TestMistake(t *testing.T) {
	_, err := templates.New("body").Parse("one\n{{ if }}")
	if line, msg := templates.Mistake("body", err); line != 2 || msg != " missing value for if" {
		t.Errorf("got %d, %q", line, msg)
	}
	if line, msg := templates.Mistake("body", errors.New("other")); line != 1 || msg != "other" {
		t.Errorf("got %d, %q", line, msg)
	}
}
