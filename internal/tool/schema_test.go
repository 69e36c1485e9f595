package tool

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/idelchi/aura/sdk"
)

const notes = `{
  "type": "object",
  "properties": {
    "path":  {"type": "string", "description": "Where.", "minLength": 1},
    "mode":  {"type": "string", "enum": ["a", "b"]},
    "count": {"type": "integer", "minimum": 1, "maximum": 10},
    "ratio": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "deep":  {"type": "boolean"},
    "fixed": {"const": 7},
    "name":  {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
    "items": {"type": "array", "minItems": 1, "maxItems": 3,
              "items": {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"], "additionalProperties": false}}
  },
  "required": ["path"]
}`

// TL-22: every problem is reported at once, with the place.
func TestCheck(t *testing.T) {
	tests := []struct {
		name, args string
		want       []string
	}{
		{
			"good",
			`{"path":"x","mode":"a","count":3,"ratio":null,"deep":true,"fixed":7,"name":"abc","items":[{"content":"c"}]}`,
			nil,
		},
		{"integral float", `{"path":"x","count":3.0}`, nil},
		{"nothing", `{}`, []string{`missing required parameter "path"`}},
		{
			"everything at once",
			`{"pth":"x","mode":"x","count":"3","items":[{"content":"a"},{"content":"b"},{"content":5}]}`,
			[]string{
				`missing required parameter "path"`,
				`count: expected integer, got string`,
				`items[2].content: expected string, got number`,
				`mode: "x" is not one of a, b`,
				`unknown parameter "pth" (did you mean "path"?)`,
			},
		},
		{"fraction", `{"path":"x","count":1.5}`, []string{`count: expected integer, got number`}},
		{
			"range",
			`{"path":"x","count":0,"ratio":1}`,
			[]string{`count: 0 is less than the minimum 1`, `ratio: 1 is not less than 1`},
		},
		{"large", `{"path":"x","count":9999999}`, []string{`count: 9999999 is more than the maximum 10`}},
		{
			"range above",
			`{"path":"x","count":11,"ratio":0}`,
			[]string{`count: 11 is more than the maximum 10`, `ratio: 0 is not more than 0`},
		},
		{"type list", `{"path":"x","ratio":"1"}`, []string{`ratio: expected number or null, got string`}},
		{"empty text", `{"path":""}`, []string{`path: must not be empty`}},
		{"null", `{"path":null}`, []string{`path: expected string, got null`}},
		{"const", `{"path":"x","fixed":8}`, []string{`fixed: 8 is not one of 7`}},
		{
			"text rules",
			`{"path":"x","name":"ABCD"}`,
			[]string{`name: expected at most 3 characters, got 4`, `name: "ABCD" does not match the pattern ^[a-z]+$`},
		},
		{"too few", `{"path":"x","items":[]}`, []string{`items: expected at least 1 items, got 0`}},
		{
			"too many",
			`{"path":"x","items":[{"content":""},{"content":""},{"content":""},{"content":""}]}`,
			[]string{`items: expected at most 3 items, got 4`},
		},
		{
			"nested unknown",
			`{"path":"x","items":[{"content":"","contnt":1}]}`,
			[]string{`items[0]: unknown parameter "contnt" (did you mean "content"?)`},
		},
		{"nested missing", `{"path":"x","items":[{}]}`, []string{`items[0]: missing required parameter "content"`}},
		{"not an array", `{"path":"x","items":{"content":"x"}}`, []string{`items: expected array, got object`}},
	}
	schema := MustSchema(notes)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := schema.Check(decode(t, tt.args)); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestCheckComposed(t *testing.T) {
	tests := []struct {
		name, schema, args string
		want               []string
	}{
		{"anyOf ok", `{"properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"x":null}`, nil},
		{"anyOf none", `{"properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"x":1}`,
			[]string{`x: fits none of the 2 allowed forms; nearest: x: expected string, got number`}},
		{"oneOf two", `{"properties":{"x":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`, `{"x":1}`,
			[]string{`x: fits 2 forms where exactly one is allowed`}},
		{"allOf", `{"properties":{"x":{"allOf":[{"minimum":2},{"maximum":0}]}}}`, `{"x":1}`,
			[]string{`x: 1 is less than the minimum 2`, `x: 1 is more than the maximum 0`}},
		{
			"ref",
			`{"properties":{"x":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`,
			`{"x":1}`,
			[]string{`x: expected string, got number`},
		},
		{
			"old ref",
			`{"properties":{"x":{"$ref":"#/definitions/a~1b"}},"definitions":{"a/b":{"type":"string"}}}`,
			`{"x":1}`,
			[]string{`x: expected string, got number`},
		},
		{
			"tree",
			`{"properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object","properties":{"sub":{"$ref":"#/$defs/t"}},"additionalProperties":false}}}`,
			`{"t":{"sub":{"sub":{"x":1}}}}`,
			[]string{`t.sub.sub: unknown parameter "x"`},
		},
		{"unknown ref", `{"properties":{"x":{"$ref":"http://else"}}}`, `{"x":1}`, nil},
		{"false", `{"properties":{"x":false}}`, `{"x":1}`, []string{`x: no value is allowed here`}},
		{
			"additional schema",
			`{"additionalProperties":{"type":"string"}}`,
			`{"x":1,"y":"z"}`,
			[]string{`x: expected string, got number`},
		},
		{
			"pattern properties",
			`{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`,
			`{"x-a":1,"y":1}`,
			[]string{`x-a: expected string, got number`, `unknown parameter "y"`},
		},
		{
			"nonsense keywords",
			`{"properties":{"x":{"type":5,"enum":"a","minimum":"1","pattern":"(","required":3,"items":[1],"minLength":-1}}}`,
			`{"x":1}`,
			nil,
		},
		{"properties of nonsense", `{"properties":[1],"additionalProperties":true}`, `{"x":1}`, nil},
		{"not an object", `{"properties":{"x":{"properties":{"y":{}}}}}`, `{"x":"text"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := MustSchema(tt.schema).Check(decode(t, tt.args)); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestUnknownParameters(t *testing.T) {
	tests := []struct {
		name, schema string
		opts         []Option
		refused      bool
	}{
		{"own", `{"type":"object"}`, nil, true},
		{"own, says true", `{"type":"object","additionalProperties":true}`, nil, false},
		{"own, composed", `{"allOf":[{"properties":{"x":{}}}]}`, nil, false},
		{"foreign", `{"type":"object"}`, []Option{Open}, false},
		{"foreign, says false", `{"type":"object","additionalProperties":false}`, []Option{Open}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ParseSchema([]byte(tt.schema), tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(s.Check(map[string]any{"x": 1.0})) > 0; got != tt.refused {
				t.Errorf("refused = %v, want %v", got, tt.refused)
			}
		})
	}
	var none *Schema
	if got := none.Check(map[string]any{"x": 1}); len(got) != 1 {
		t.Errorf("nil schema: %v", got)
	}
	if got := none.Check(nil); got != nil {
		t.Errorf("nil schema, no arguments: %v", got)
	}
}

// A schema whose references double at every level must not cost more than the budget.
func TestCheckIsBounded(t *testing.T) {
	s := MustSchema(
		`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"minProperties":1}],"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#"}]}}}`,
	)
	s.Check(map[string]any{"x": 1})
	many := make([]any, 1000)
	got := MustSchema(`{"properties":{"x":{"items":{"type":"string"}}}}`).Check(map[string]any{"x": many})
	if len(got) != maxProblems {
		t.Errorf("%d problems listed, want %d", len(got), maxProblems)
	}
}

// Arguments that a handler written in Go made are judged by what they are in JSON.
func TestCheckGoValues(t *testing.T) {
	type word string
	s := MustSchema(
		`{"properties":{"s":{"type":"string","enum":["x"]},"i":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"object","properties":{"k":{"type":"integer"}}}}}`,
	)
	good := map[string]any{"s": word("x"), "i": json.Number("4"), "l": []string{"a"}, "o": map[string]int{"k": 1}}
	if got := s.Check(good); got != nil {
		t.Errorf("good: %v", got)
	}
	bad := map[string]any{"s": struct{}{}, "i": float32(1.5), "l": []int{1}, "o": map[int]int{}}
	if got := s.Check(bad); len(got) != 4 {
		t.Errorf("bad: %v", got)
	}
}

func TestParseSchemaErrors(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"empty", ``, "unexpected end"},
		{"broken", `{"type":`, "unexpected end"},
		{"list", `[]`, "expected a JSON object, got array"},
		{"null", ` null`, "expected a JSON object, got null"},
		{"other type", `{"type":"string"}`, `type is "string"`},
		{"huge", `{"x":"` + strings.Repeat("x", maxSchema) + `"}`, "more than the allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseSchema([]byte(tt.raw)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestMustSchema(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong literal must not go unnoticed")
		}
	}()
	MustSchema(`{"type":`).Params()
}

// TL-20 TL-21 TL-50: what models get for a plugin's tool.
func TestFromSDK(t *testing.T) {
	if got := string(FromSDK(sdk.ToolParameters{Type: "object"}).Raw()); got != `{"type":"object","properties":{}}` {
		t.Errorf("empty: %s", got)
	}
	var none *Schema
	if got := string(none.Raw()); got != `{"type":"object","properties":{}}` {
		t.Errorf("nil: %s", got)
	}
	s := FromSDK(sdk.ToolParameters{
		Properties: map[string]sdk.ToolProperty{
			"path":   {Type: "string", Description: "a <b> & c"},
			"action": {Type: "string", Enum: []any{"read", "write"}},
			"list":   {Type: "array"},
		},
		Required: []string{"action"},
	})
	want := `{"type":"object","properties":{"action":{"type":"string","enum":["read","write"]},"list":{"type":"array","items":{}},"path":{"type":"string","description":"a <b> & c"}},"required":["action"]}`
	if got := string(s.Raw()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := s.Check(map[string]any{"action": "fly", "x": 1}); len(got) != 2 {
		t.Errorf("problems: %v", got)
	}
	if got := FromSDK(
		sdk.ToolParameters{Properties: map[string]sdk.ToolProperty{"f": {Type: "string", Enum: []any{func() {}}}}},
	); len(
		got.Params(),
	) != 1 {
		t.Errorf("enum without a JSON form: %s", got.Raw())
	}
}

// TL-47: words of a command line become the types of the schema.
func TestCoerce(t *testing.T) {
	s := MustSchema(`{"properties":{
		"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},
		"l":{"type":"array"},"o":{"type":"object"},"e":{"enum":[1,"two"]},"any":{},
		"opt":{"anyOf":[{"type":"integer"},{"type":"null"}]},"mixed":{"type":["string","integer"]}}}`)
	got, err := s.Coerce(map[string]string{
		"s":     "12",
		"i":     "12",
		"n":     "1.5",
		"b":     "yes",
		"l":     `["a",1]`,
		"o":     `{"k":[]}`,
		"e":     "1",
		"any":   `{"x":1}`,
		"opt":   "null",
		"mixed": "abc",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"s": "12", "i": 12.0, "n": 1.5, "b": true, "l": []any{"a", 1.0}, "o": map[string]any{"k": []any{}}, "e": 1.0,
		"any": map[string]any{"x": 1.0}, "opt": nil, "mixed": "abc",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if problems := s.Check(got); problems != nil {
		t.Errorf("coerced arguments do not pass: %v", problems)
	}
	_, err = s.Coerce(
		map[string]string{"i": "x", "n": "NaN", "b": "maybe", "l": "a,b", "o": "null", "opt": "x", "z": ""},
	)
	for _, part := range []string{
		`i: "x" is not an integer`, `n: "NaN" is not a number`, `b: "maybe" is not a boolean`,
		`l: "a,b" is not a JSON array`, `o: "null" is not a JSON object`, `opt: "x" is not an integer`,
		`unknown parameter "z"`,
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
}

func TestParams(t *testing.T) {
	got := MustSchema(notes).Params()
	names := make([]string, len(got))
	for i, p := range got {
		names[i] = p.Name + ":" + p.Type
	}
	want := "path:string mode:string count:integer ratio:number or null deep:boolean fixed:any name:string " +
		"items:array of object"
	if strings.Join(names, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(names, " "), want)
	}
	if !got[0].Required || got[0].Description != "Where." || got[1].Required ||
		!slices.Equal(got[1].Enum, []string{"a", "b"}) {
		t.Errorf("details: %+v", got[:2])
	}
}

func TestArgs(t *testing.T) {
	if got := ArgsJSON(map[string]any{"b": "<&>", "a": []int{1}}); got != `{"a":[1],"b":"<&>"}` {
		t.Error(got)
	}
	if got := ArgsJSON(map[string]any{"f": func() {}, "a": 1}); got != `{"a":1,"f":null}` {
		t.Error(got)
	}
	if got := ArgsJSON(nil); got != `{}` {
		t.Error(got)
	}
	original := map[string]any{
		"l": []any{map[string]any{"k": "v"}},
		"s": []string{"a"},
		"m": map[string][]int{"x": {1}},
		"n": nil,
		"p": []*int{nil},
	}
	before := ArgsJSON(original)
	clone := CloneArgs(original)
	if !reflect.DeepEqual(clone, original) {
		t.Fatalf("clone differs: %v", clone)
	}
	clone["l"].([]any)[0].(map[string]any)["k"] = "changed"
	clone["s"].([]string)[0] = "changed"
	clone["m"].(map[string][]int)["x"][0] = 2
	if after := ArgsJSON(original); after != before {
		t.Errorf("original changed: %s", after)
	}
	if CloneArgs(nil) != nil {
		t.Error("nil must stay nil")
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(notes, `{"path":"x","items":[{"content":5}]}`)
	f.Add(`{"$ref":"#","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{"a":[[[]]]}`)
	f.Add(`{"properties":{"x":{"oneOf":[{"type":["string","null"]},false]}}}`, `{"x":null}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		s, err := ParseSchema([]byte(schema))
		if err != nil {
			return
		}
		var m map[string]any
		if json.Unmarshal([]byte(args), &m) != nil {
			return
		}
		first := s.Check(m)
		if second := s.Check(CloneArgs(m)); !slices.Equal(first, second) {
			t.Fatalf("not deterministic: %q and %q", first, second)
		}
		for _, p := range s.Params() {
			_, _ = s.Coerce(map[string]string{p.Name: args})
		}
	})
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func BenchmarkCheck(b *testing.B) {
	s := MustSchema(notes)
	args := map[string]any{"path": "x", "mode": "a", "items": []any{map[string]any{"content": "c"}}}
	for b.Loop() {
		s.Check(args)
	}
}
