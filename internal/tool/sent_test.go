package tool

import (
	"encoding/json"
	"testing"
)

// TL-20: what servers are known to refuse is not sent, everything else goes as it is.
func TestSent(t *testing.T) {
	const whole = ` {"properties": {"n": {"maximum": 1.50, "type": "number"}}, "type": "object", "x": 1}`
	tests := []struct{ name, raw, want string }{
		{"whole", whole, whole},
		{"empty", `{}`, emptySchema},
		{"no properties", `{"type":"object"}`, emptySchema},
		{"no type", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"null", `{"type":null,"properties":null}`, emptySchema},
		{"several types", `{"type":["object","null"],"properties":{}}`, emptySchema},
		{
			"alternatives",
			`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"const":1.0}}},7]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"const":1.0}}}`,
		},
		{
			"lists",
			`{"type":"object","properties":{"a":{"type":"array"},"b":{"anyOf":[{"type":["array","null"]}]},"c":{"type":"array","items":{"type":"array"}}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"anyOf":[{"type":["array","null"],"items":{}}]},"c":{"type":"array","items":{"type":"array","items":{}}}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ParseSchema([]byte(tt.raw), Open)
			if err != nil {
				t.Fatal(err)
			}
			got := string(s.Sent())
			if tt.raw == tt.want && got != tt.raw {
				t.Errorf("got %s, want it unchanged", got)
			}
			var g, w any
			if json.Unmarshal([]byte(got), &g) != nil || json.Unmarshal([]byte(tt.want), &w) != nil {
				t.Fatalf("got %s", got)
			}
			a, _ := json.Marshal(g)
			b, _ := json.Marshal(w)
			if string(a) != string(b) {
				t.Errorf("got  %s\nwant %s", a, b)
			}
			if string(s.Raw()) != tt.raw {
				t.Errorf("raw: %s", s.Raw())
			}
		})
	}
	var none *Schema
	if got := string(none.Sent()); got != emptySchema {
		t.Errorf("nil: %s", got)
	}
}
