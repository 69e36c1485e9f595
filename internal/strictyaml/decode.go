// Package strictyaml decodes YAML that users write: unknown and duplicate keys, wrong
// types and values out of range are mistakes with a file, a line and a hint, and all of
// them are reported together. It knows nothing of what is decoded.
package strictyaml

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/wording"
)

// MaxDepth is how deep values may be nested.
const MaxDepth = 64

const maxNodes = 100_000 // Values in one document, aliases expanded.

// Defaulter is implemented by pointer types that do not start empty: SetDefaults is
// called on every new element of a map or list before its keys are read.
type Defaulter interface{ SetDefaults() }

// Decode reads one YAML document strictly into the value v points to. Keys that are
// written overwrite, lists replace, maps merge, and a key without a value changes
// nothing. Unknown and duplicate keys, wrong types and values outside the struct tags
// `enum:"a b"`, `min:"0"` and `max:"100"` are mistakes; all are reported together as
// Errors. line is the line of file on which src starts, from 1.
//
// A time.Duration is written as "90s" or as whole seconds. An `any` receives int,
// float64, bool, string, []any, map[string]any or nil; dates stay text.
func Decode(file string, line int, src []byte, v any) error {
	var errs Errors
	d := &Decoder{File: file, Line: line, Errors: &errs}
	if n := d.Parse(src); n != nil {
		d.Decode(n, v, "")
	}
	return errs.Err()
}

// NodeDecoder is implemented by pointer types that read their own YAML. n is neither an
// alias nor null; path is where it is, for messages.
type NodeDecoder interface {
	DecodeYAML(d *Decoder, n *yaml.Node, path string)
}

// Decoder reads the values of one document. It is used by one goroutine.
type Decoder struct {
	File   string  // For messages.
	Line   int     // Line of File on which the document starts, from 1, which 0 means too.
	Errors *Errors // Takes the mistakes.

	used  int // Values that have been read.
	depth int
}

// LineOf is the line of a value in the file, 0 where it has none.
func (d *Decoder) LineOf(n *yaml.Node) int {
	if n == nil || n.Line == 0 {
		return 0
	}
	return n.Line + d.shift()
}

// shift is how many lines of the file come before the document.
func (d *Decoder) shift() int { return max(d.Line-1, 0) }

// Errorf reports a mistake in the value n at path.
func (d *Decoder) Errorf(n *yaml.Node, path, format string, args ...any) {
	d.Errors.Add(d.File, d.LineOf(n), path, format, args...)
}

// Parse gives the root value of a document, nil when it is empty or broken.
func (d *Decoder) Parse(src []byte) *yaml.Node {
	if len(strings.TrimSpace(string(src))) == 0 {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		d.syntax(src, err)
		return nil
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil
	}
	return doc.Content[0]
}

// enter counts a value against the limits that stop alias bombs and self-references.
// Every enter that succeeds is followed by d.depth--.
func (d *Decoder) enter(n *yaml.Node, path string) bool {
	if d.depth == MaxDepth {
		d.spend(n, path, maxNodes)
		return false
	}
	if !d.spend(n, path, 1) {
		return false
	}
	d.depth++
	return true
}

// spend counts values against the limit. Going over it is reported once and ends the decoding.
func (d *Decoder) spend(n *yaml.Node, path string, count int) bool {
	if d.used+count < maxNodes {
		d.used += count
		return true
	}
	if d.used < maxNodes {
		d.used = maxNodes
		d.Errorf(n, wording.Short(path), "too large or nested too deeply (aliases count with what they stand for)")
	}
	return false
}

// Decode reads n into the value v points to and reports whether that went without a
// mistake.
func (d *Decoder) Decode(n *yaml.Node, v any, path string) bool {
	before := len(*d.Errors)
	d.decode(n, reflect.ValueOf(v).Elem(), path, "")
	return len(*d.Errors) == before
}

// decode reads n into v. tag holds the limits of the struct field v came from.
func (d *Decoder) decode(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if !d.enter(n, path) {
		return
	}
	defer func() { d.depth-- }()
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if custom, ok := v.Addr().Interface().(NodeDecoder); ok {
		if n.Tag != "!!null" {
			custom.DecodeYAML(d, n, path)
		}
		return
	}
	if n.Tag == "!!null" {
		return
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d.duration(n, v, path, tag)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		d.decode(n, elem.Elem(), path, tag)
		v.Set(elem)
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	case reflect.Slice:
		d.list(n, v, path, tag)
	case reflect.Interface:
		if value := d.value(n, path); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	case reflect.String:
		d.text(n, v, path, tag)
	case reflect.Bool:
		d.boolean(n, v, path)
	case reflect.Int, reflect.Int64:
		d.integer(n, v, path, tag)
	case reflect.Float64:
		d.float(n, v, path)
	default:
		panic("strictyaml: no YAML for " + v.Type().String())
	}
}

// field is a struct field that a key names.
type field struct {
	value reflect.Value
	tag   reflect.StructTag
}

// fields lists the keys of a struct in order, those of inlined structs in place.
func fields(v reflect.Value, names []string, byName map[string]field) []string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			names = fields(v.Field(i), names, byName)
		case name != "" && name != "-":
			names = append(names, name)
			byName[name] = field{v.Field(i), f.Tag}
		}
	}
	return names
}

func (d *Decoder) structure(n *yaml.Node, v reflect.Value, path string) {
	byName := map[string]field{}
	names := fields(v, nil, byName)
	d.Pairs(n, path, func(key, value *yaml.Node, path string) {
		f, ok := byName[key.Value]
		if !ok {
			d.Errorf(key, path, "unknown key%s", wording.Hint(key.Value, "keys", names))
			return
		}
		d.decode(value, f.value, path, f.tag)
	})
}

// Pairs calls do for every key of a mapping, `<<` merges included, each key once.
func (d *Decoder) Pairs(n *yaml.Node, path string, do func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		d.Wrong(n, path, "a mapping (key: value)")
		return
	}
	if !d.spend(n, path, len(n.Content)/2) {
		return
	}
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			d.Errorf(key, path, "key must be plain text")
			continue
		}
		if key.Tag == "!!merge" {
			continue
		}
		if line, dup := seen[key.Value]; dup {
			d.Errorf(key, Join(path, key.Value), "duplicate key (first on line %d)", line+d.shift())
			continue
		}
		seen[key.Value] = key.Line
		do(key, value, Join(path, key.Value))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			d.merge(n.Content[i+1], path, seen, do)
		}
	}
}

// merge adds the keys of a `<<` value that are not written beside it.
func (d *Decoder) merge(n *yaml.Node, path string, seen map[string]int, do func(key, value *yaml.Node, path string)) {
	if !d.enter(n, path) {
		return
	}
	defer func() { d.depth-- }()
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.SequenceNode {
		for _, part := range n.Content {
			d.merge(part, path, seen, do)
		}
		return
	}
	d.Pairs(n, path, func(key, value *yaml.Node, path string) {
		if _, dup := seen[key.Value]; !dup {
			seen[key.Value] = key.Line
			do(key, value, path)
		}
	})
}

func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	d.Pairs(n, path, func(key, value *yaml.Node, path string) {
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		elem := reflect.New(v.Type().Elem())
		if old := v.MapIndex(reflect.ValueOf(key.Value)); old.IsValid() && elem.Elem().Kind() == reflect.Map {
			elem.Elem().Set(old)
		} else if def, ok := elem.Interface().(Defaulter); ok {
			def.SetDefaults()
		}
		d.decode(value, elem.Elem(), path, "")
		v.SetMapIndex(reflect.ValueOf(key.Value), elem.Elem())
	})
}

func (d *Decoder) list(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.SequenceNode {
		d.Wrong(n, path, "a list")
		return
	}
	out := reflect.MakeSlice(v.Type(), 0, min(len(n.Content), 1024))
	for i, item := range n.Content {
		at := path + "[" + strconv.Itoa(i) + "]"
		elem := reflect.New(v.Type().Elem())
		if def, ok := elem.Interface().(Defaulter); ok {
			def.SetDefaults()
		}
		if item.Tag == "!!null" && v.Type().Elem().Kind() != reflect.Interface {
			d.Errorf(item, at, "empty list item")
			continue
		}
		d.decode(item, elem.Elem(), at, tag)
		out = reflect.Append(out, elem.Elem())
	}
	v.Set(out)
}

// value reads free-form YAML.
func (d *Decoder) value(n *yaml.Node, path string) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		d.mapping(n, reflect.ValueOf(&m).Elem(), path)
		return m
	case yaml.SequenceNode:
		s := []any{}
		d.list(n, reflect.ValueOf(&s).Elem(), path, "")
		return s
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		d.boolean(n, reflect.ValueOf(&b).Elem(), path)
		return b
	case "!!int":
		var i int
		d.integer(n, reflect.ValueOf(&i).Elem(), path, "")
		return i
	case "!!float":
		f, err := parseFloat(n.Value)
		if err != nil {
			d.Wrong(n, path, "a number")
		}
		return f
	}
	return n.Value
}
