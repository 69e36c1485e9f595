package lifecycle

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// The encoder of large events means the same as encoding/json.
func FuzzEncode(f *testing.F) {
	f.Add("plain", "key", `"quoted" \ and`+"\n\x00é\u2028", 1.5)
	f.Add("", "", "\xff", math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, name, key, text string, number float64) {
		if math.IsNaN(number) || math.IsInf(number, 0) {
			number = 0
		}
		args := map[string]any{key: text, "deep": map[string]any{text: []any{name, number, nil, true}, "": key}}
		for _, e := range []interface{ AppendJSON([]byte) []byte }{
			callEvent{name, key, args, text}, resultEvent{text, name, key, args, true, key, number}, callEvent{Arguments: map[string]any{}}, chunkEvent{text, key, true},
		} {
			want, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			got := e.AppendJSON(nil)
			var x, y any
			if err := json.Unmarshal(got, &x); err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			if err := json.Unmarshal(want, &y); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(x, y) {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
