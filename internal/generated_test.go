package internal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/internal/models"
)

// generatedFile compares a file with what it should be, or writes it with -update.
func generatedFile(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run `make generate`", file)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The events that hooks of the configuration may have are those of the moments.
func TestHookEvents(t *testing.T) {
	t.Parallel()
	var first, rest []string
	for _, row := range lifecycle.Moments() {
		switch row.Hook {
		case "":
		case "pre", "post": // The seeds' own, which errors name first.
			first = append(first, row.Hook)
		default:
			rest = append(rest, row.Hook)
		}
	}
	file := filepath.Join("config", "hooks.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tag := regexp.MustCompile(`yaml:"event" enum:"[^"]*"`)
	if !tag.Match(text) {
		t.Fatalf("%s: the enumeration of the key event is gone", file)
	}
	want := fmt.Sprintf(`yaml:"event" enum:"%s"`, strings.Join(append(first, rest...), " "))
	generatedFile(t, file, tag.ReplaceAllLiteral(text, []byte(want)))
}

// Python has a class for every event, with the attributes that its handlers see.
func TestPythonEvents(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`"""The events of extensions, for editors and type checkers.

Handlers get objects with these attributes; they need not import anything from here.
Written by "make generate" from the table of moments.
"""

`)
	var names []string
	for _, row := range lifecycle.Moments() {
		for _, e := range row.Events {
			names = append(names, e.Name)
			fmt.Fprintf(&b, "\nclass %s:\n    \"\"\"%s: %s.\"\"\"\n\n", className(e.Name), e.Name, row.When)
			for _, a := range e.Attributes() {
				fmt.Fprintf(&b, "    %s: %s\n", a.Name, pythonType(a.Type))
			}
			if len(e.Attributes()) == 0 {
				b.WriteString("    pass\n")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\nEVENTS = {\n")
	for _, name := range names {
		fmt.Fprintf(&b, "    %q: %s,\n", name, className(name))
	}
	b.WriteString("}\n")
	generatedFile(t, filepath.Join("pyext", "python", "agent", "extensions", "events.py"), b.Bytes())
}

// className is tool_call as ToolCall.
func className(event string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(event, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// pythonType is how Python sees a value that crossed as JSON.
func pythonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "str"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "float"
	case reflect.Slice:
		return "list"
	}
	return "dict"
}

// The provider types that the configuration takes are those of the table.
func TestProviderEnum(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range models.ProviderTypes() {
		names = append(names, p.Name)
	}
	file := filepath.Join("config", "provider.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tag := regexp.MustCompile(`yaml:"type" enum:"[^"]*"`)
	if !tag.Match(text) {
		t.Fatalf("%s: the enumeration of the key type is gone", file)
	}
	want := fmt.Sprintf(`yaml:"type" enum:"%s"`, strings.Join(names, " "))
	generatedFile(t, file, tag.ReplaceAllLiteral(text, []byte(want)))
}
