package strictyaml_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/internal/strictyaml"
)

func TestErrorsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	err := strictyaml.Decode("f.yaml", 1, []byte(b.String()), &element{})
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != 101 || lines[100] != "... and 50 more" {
		t.Errorf("got %d lines, last %q", len(lines), lines[len(lines)-1])
	}

	// Merges that merge each other: small to write, endless to follow.
	b.Reset()
	b.WriteString("m0: &m0\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	for i := range 20 {
		fmt.Fprintf(&b, "m%d: &m%d\n  <<: [*m%d, *m%d, *m%d, *m%d]\n", i+1, i+1, i, i, i, i)
	}
	var v map[string]any
	err = strictyaml.Decode("f.yaml", 1, []byte(b.String()), &v)
	if n := strings.Count(fmt.Sprint(err), "too large"); n != 1 {
		t.Errorf("got %.300v", err)
	}
}

type element struct {
	A int `yaml:"a"`
	B int `yaml:"b"`
}

func (e *element) SetDefaults() { e.B = 7 }

func TestDecode(t *testing.T) {
	var v struct {
		Items map[string]element `yaml:"items"`
		List  []element          `yaml:"list"`
		Free  any                `yaml:"free"`
		Span  time.Duration      `yaml:"span"`
		Yes   bool               `yaml:"yes"`
		Float float64            `yaml:"float"`
		Keep  int                `yaml:"keep"`
		Ptr   *int               `yaml:"ptr"`
	}
	v.Keep = 3
	err := strictyaml.Decode("f.yaml", 1, []byte(`
items:
  x: &x {a: 1}
  y: {<<: *x, b: 2}
list: [*x, {b: 1}]
free: {i: 1, f: 1.5, b: true, n: ~, s: "1", d: 2024-01-02, l: [1, a], 5: five, yes: yes, inf: .inf}
span: 90
yes: on
float: 1_0
keep:
ptr: 0
`), &v)
	if err != nil {
		t.Fatal(err)
	}
	if v.Items["x"] != (element{1, 7}) || v.Items["y"] != (element{1, 2}) || v.List[0] != (element{1, 7}) ||
		v.List[1] != (element{0, 1}) {
		t.Errorf("elements: %+v %+v", v.Items, v.List)
	}
	free := v.Free.(map[string]any)
	delete(free, "inf")
	want := map[string]any{
		"i":   1,
		"f":   1.5,
		"b":   true,
		"n":   nil,
		"s":   "1",
		"d":   "2024-01-02",
		"l":   []any{1, "a"},
		"5":   "five",
		"yes": "yes",
	}
	if !reflect.DeepEqual(free, want) {
		t.Errorf("free: %#v", free)
	}
	if v.Span != 90*time.Second || !v.Yes || v.Float != 10 || v.Keep != 3 || v.Ptr == nil {
		t.Errorf("values: %+v", v)
	}
	err = strictyaml.Decode("f.yaml", 10, []byte("x: 1\nitems: {[a]: 1}\n"), &v)
	if want := "f.yaml:10: x: unknown key (keys: items, list, free, span, yes, float, keep, ptr)\n" +
		"f.yaml:11: items: key must be plain text"; fmt.Sprint(
		err,
	) != want {
		t.Errorf("got %v", err)
	}
}
