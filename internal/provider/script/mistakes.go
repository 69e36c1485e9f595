package script

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/wording"
)

// decodeError reports the errors of the YAML decoder in our own words. where
// maps positions to the keys that are written there.
func (p *parser) decodeError(err error, where map[[2]int]string) {
	if list, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(list.Errors) > 0 {
		for _, e := range list.Errors {
			text := reword(e.Message)
			if key := where[[2]int{e.Mark.Line, e.Mark.Column}]; key != "" {
				text = key + ": " + text
			}
			p.fail(e.Mark.Line, "%s", text)
		}
		return
	}
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		text := e.Message
		if e.ContextMsg != "" {
			text = e.ContextMsg + ": " + text
		}
		p.fail(e.Mark.Line, "%s", text)
		return
	}
	p.fail(1, "%s", plain(err))
}

// plain is err without the prefix of the library.
func plain(err error) string {
	if list, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(list.Errors) > 0 {
		return reword(list.Errors[0].Message)
	}
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

// shapes say what a Go type looks like in YAML.
var shapes = map[string]string{
	"time.Duration": "a duration such as 500ms or 2s",
	"int":           "a whole number",
	"int64":         "a whole number",
	"bool":          "true or false",
	"string":        "text",
	"[]string":      "a list of texts",
	"[]script.call": "a list of calls, each with a name",
	"script.file":   "a mapping with the key turns",
	"script.turn":   "a mapping such as {text: Hello}",
}

// reword turns a message of the decoder into one for people who do not read Go.
func reword(msg string) string {
	if key, typ, ok := cutAround(msg, "field ", " not found in type "); ok {
		return fmt.Sprintf("unknown key %q%s", key, hint(key, keysOf(typ)))
	}
	if got, typ, ok := cutAround(msg, "cannot construct ", " into "); ok {
		tag, text, quoted := strings.Cut(got, " ")
		switch {
		case quoted:
			got = strings.ReplaceAll(text, "`", "\"")
		case tag == "!!seq":
			got = "a list"
		case tag == "!!map":
			got = "a mapping"
		}
		want := shapes[strings.TrimPrefix(typ, "*")]
		if want == "" {
			want = "a mapping"
		}
		return fmt.Sprintf("expected %s, got %s", want, got)
	}
	if strings.Contains(msg, "no documents in stream") {
		return "the script is empty (the smallest one is `turns: [{text: Hello}]`)"
	}
	return strings.TrimPrefix(msg, "yaml: ")
}

// cutAround splits "<prefix>A<sep>B" into A and B.
func cutAround(s, prefix, sep string) (string, string, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return "", "", false
	}
	i := strings.LastIndex(rest, sep)
	if i < 0 {
		return "", "", false
	}
	return rest[:i], rest[i+len(sep):], true
}

// keysOf lists the keys of one of our types, by its Go name.
func keysOf(name string) []string {
	for _, t := range []reflect.Type{
		reflect.TypeFor[file](), reflect.TypeFor[model](), reflect.TypeFor[turn](), reflect.TypeFor[call](),
		reflect.TypeFor[failure](), reflect.TypeFor[usage](), reflect.TypeFor[expect](),
	} {
		if t.String() != name {
			continue
		}
		var keys []string
		for f := range t.Fields() {
			if key := f.Tag.Get("yaml"); key != "" {
				keys = append(keys, key)
			}
		}
		return keys
	}
	return nil
}

// paths maps the position of every key and value to a name such as "turn 2: delay".
func paths(root *yaml.Node) map[[2]int]string {
	out := map[[2]int]string{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		at := [2]int{n.Line, n.Column}
		if _, known := out[at]; !known {
			out[at] = path
		}
		switch n.Kind {
		case yaml.DocumentNode:
			for _, c := range n.Content {
				walk(c, path)
			}
		case yaml.SequenceNode:
			for i, c := range n.Content {
				if path == "turns" {
					walk(c, fmt.Sprintf("turn %d", i+1))
				} else {
					walk(c, fmt.Sprintf("%s[%d]", path, i+1))
				}
			}
		case yaml.MappingNode:
			// The first key sits where its mapping does; unknown keys are reported
			// there, with the path of the mapping.
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := n.Content[i]
				out[[2]int{key.Line, key.Column}] = path
				sub := key.Value
				if path != "" {
					sub = path + ": " + sub
				}
				walk(n.Content[i+1], sub)
			}
		}
	}
	walk(root, "")
	return out
}

// hint names the nearest allowed word, or all of them where none is near.
func hint(got string, allowed []string) string {
	return wording.Hint(got, "known", slices.Sorted(slices.Values(allowed)))
}
