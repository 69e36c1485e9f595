package tool

import "github.com/idelchi/aura/internal/jsontext"

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
func CloneArgs(args map[string]any) map[string]any { return jsontext.Clone(args) }
