package tool

import (
	"reflect"

	"github.com/idelchi/aura/internal/jsontext"
)

// ArgsJSON is args as JSON with sorted keys and without HTML escapes; nil is {}.
// A value that JSON has no form for is replaced by null.
func ArgsJSON(args map[string]any) string {
	if args == nil {
		return "{}"
	}
	text, err := jsontext.Marshal(args)
	if err == nil {
		return string(text)
	}
	clean := make(map[string]any, len(args))
	for name, v := range args {
		if _, err := jsontext.Marshal(v); err == nil {
			clean[name] = v
		} else {
			clean[name] = nil
		}
	}
	text, err = jsontext.Marshal(clean)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// CloneArgs copies args with every map and slice inside, so that a change of the
// copy is not seen in the original. nil stays nil.
func CloneArgs(args map[string]any) map[string]any {
	if args == nil {
		return nil
	}
	out := make(map[string]any, len(args))
	for name, v := range args {
		out[name] = cloneValue(v, 0)
	}
	return out
}

// cloneValue copies v. Whatever is nested deeper than any JSON text can be is
// shared: only a value that contains itself goes that deep.
func cloneValue(v any, depth int) any {
	if depth > 10_000 {
		return v
	}
	switch t := v.(type) {
	case nil, bool, string, float64, int, int64:
		return v
	case []any:
		if t == nil {
			return t
		}
		out := make([]any, len(t))
		for i := range t {
			out[i] = cloneValue(t[i], depth+1)
		}
		return out
	case map[string]any:
		if t == nil {
			return t
		}
		out := make(map[string]any, len(t))
		for name, sub := range t {
			out[name] = cloneValue(sub, depth+1)
		}
		return out
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Slice && !r.IsNil():
		out := reflect.MakeSlice(r.Type(), r.Len(), r.Len())
		for i := range r.Len() {
			set(out.Index(i), r.Index(i), depth)
		}
		return out.Interface()
	case r.Kind() == reflect.Map && !r.IsNil():
		out := reflect.MakeMapWithSize(r.Type(), r.Len())
		for _, key := range r.MapKeys() {
			value := reflect.New(r.Type().Elem()).Elem()
			set(value, r.MapIndex(key), depth)
			out.SetMapIndex(key, value)
		}
		return out.Interface()
	}
	return v
}

func set(to, from reflect.Value, depth int) {
	if sub := cloneValue(from.Interface(), depth+1); sub != nil {
		to.Set(reflect.ValueOf(sub))
	}
}
