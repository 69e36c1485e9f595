package jsontext

import "reflect"

// Clone copies an object with every map and slice inside, so that a change of the copy is
// not seen in the original. nil stays nil.
func Clone(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	out := make(map[string]any, len(object))
	for name, v := range object {
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
