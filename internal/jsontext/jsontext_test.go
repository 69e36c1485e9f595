package jsontext

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestAppendValue(t *testing.T) {
	tests := []struct {
		in   any
		want string
	}{
		{
			nil,
			"null",
		},
		{true, "true"},
		{3, "3"},
		{1.5, "1.5"},
		{1e21, "1e+21"},
		{1e-7, "1e-07"},
		{float64(1 << 53), "9007199254740992"},
		{math.NaN(), "null"},
		{"a\"\\\n\r\t\x01<é\xff", `"a\"\\\n\r\t\u0001<é\ufffd"`},
		{
			[]any{"a", 1.0},
			`["a",1]`,
		},
		{[]any(nil), "null"},
		{map[string]any{"b": nil, "a": []any{}}, `{"a":[],"b":null}`},
		{map[string]any(nil), "{}"},
		{[]string{"x"}, `["x"]`},
		{json.Number("12"), "12"},
		{make(chan int), "null"},
	}
	for _, tt := range tests {
		if got := string(AppendValue(nil, tt.in)); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\x00\x1f\x7f\xff\xf0\x9f\xa6\x8a\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for _, r := range s {
			want.WriteRune(r)
		}
		if !reflect.DeepEqual(got, want.String()) {
			t.Errorf("got %q, want %q", got, want.String())
		}
	})
}
