package config

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

const (
	maxNodes = 100_000 // Values in one document, aliases expanded.
	maxDepth = 64
)

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
	d := newDecoder(file, line-1, &errs)
	if n := d.parse(src); n != nil {
		d.decode(n, reflect.ValueOf(v).Elem(), "", "")
	}
	return errs.err()
}

// nodeDecoder is a type that reads its own YAML.
type nodeDecoder interface {
	decodeNode(d *decoder, n *yaml.Node, path string)
}

type decoder struct {
	file  string
	shift int // Lines before the document in its file.
	errs  *Errors
	nodes int // Values that may still be read.
	depth int
}

func newDecoder(file string, shift int, errs *Errors) *decoder {
	return &decoder{file: file, shift: shift, errs: errs, nodes: maxNodes}
}

func (d *decoder) errorf(n *yaml.Node, path, format string, args ...any) {
	line := 0
	if n != nil && n.Line > 0 {
		line = n.Line + d.shift
	}
	d.errs.add(d.file, line, path, format, args...)
}

// parse gives the root value of a document, nil when it is empty or broken.
func (d *decoder) parse(src []byte) *yaml.Node {
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
func (d *decoder) enter(n *yaml.Node, path string) bool {
	if d.depth == maxDepth {
		d.spend(n, path, maxNodes)
		return false
	}
	if !d.spend(n, path, 1) {
		return false
	}
	d.depth++
	return true
}

// spend takes count values off the limit. Going over it is reported once and ends the decoding.
func (d *decoder) spend(n *yaml.Node, path string, count int) bool {
	if d.nodes > count {
		d.nodes -= count
		return true
	}
	if d.nodes > 0 {
		d.nodes = 0
		d.errorf(n, short(path), "too large or nested too deeply (aliases count with what they stand for)")
	}
	return false
}

// decode reads n into v. tag holds the limits of the struct field v came from.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if !d.enter(n, path) {
		return
	}
	defer func() { d.depth-- }()
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if custom, ok := v.Addr().Interface().(nodeDecoder); ok {
		if n.Tag != "!!null" {
			custom.decodeNode(d, n, path)
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
		panic("config: no YAML for " + v.Type().String())
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

func (d *decoder) structure(n *yaml.Node, v reflect.Value, path string) {
	byName := map[string]field{}
	names := fields(v, nil, byName)
	d.pairs(n, path, func(key, value *yaml.Node, path string) {
		f, ok := byName[key.Value]
		if !ok {
			d.errorf(key, path, "unknown key%s", hint(key.Value, "keys", names))
			return
		}
		d.decode(value, f.value, path, f.tag)
	})
}

// pairs calls do for every key of a mapping, `<<` merges included, each key once.
func (d *decoder) pairs(n *yaml.Node, path string, do func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, path, "a mapping (key: value)")
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
			d.errorf(key, path, "key must be plain text")
			continue
		}
		if key.Tag == "!!merge" {
			continue
		}
		if line, dup := seen[key.Value]; dup {
			d.errorf(key, join(path, key.Value), "duplicate key (first on line %d)", line+d.shift)
			continue
		}
		seen[key.Value] = key.Line
		do(key, value, join(path, key.Value))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			d.merge(n.Content[i+1], path, seen, do)
		}
	}
}

// merge adds the keys of a `<<` value that are not written beside it.
func (d *decoder) merge(n *yaml.Node, path string, seen map[string]int, do func(key, value *yaml.Node, path string)) {
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
	d.pairs(n, path, func(key, value *yaml.Node, path string) {
		if _, dup := seen[key.Value]; !dup {
			seen[key.Value] = key.Line
			do(key, value, path)
		}
	})
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	d.pairs(n, path, func(key, value *yaml.Node, path string) {
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

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, path, "a list")
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
			d.errorf(item, at, "empty list item")
			continue
		}
		d.decode(item, elem.Elem(), at, tag)
		out = reflect.Append(out, elem.Elem())
	}
	v.Set(out)
}

// value reads free-form YAML.
func (d *decoder) value(n *yaml.Node, path string) any {
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
			d.wrong(n, path, "a number")
		}
		return f
	}
	return n.Value
}

func (d *decoder) text(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode || (n.Tag != "!!str" && n.Tag != "!!timestamp" && n.Tag != "!!merge") {
		d.wrong(n, path, "a string")
		return
	}
	if enum, ok := tag.Lookup("enum"); ok && n.Value != "" {
		if allowed := strings.Fields(enum); !slices.Contains(allowed, n.Value) {
			d.errorf(
				n,
				path,
				"%q is not one of %s%s",
				short(n.Value),
				strings.Join(allowed, ", "),
				suggest(n.Value, allowed),
			)
			return
		}
	}
	v.SetString(n.Value)
}

func (d *decoder) boolean(n *yaml.Node, v reflect.Value, path string) {
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on":
		v.SetBool(true)
	case "false", "no", "off":
		v.SetBool(false)
	default:
		d.wrong(n, path, "true or false")
	}
}

func (d *decoder) integer(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		d.wrong(n, path, "an integer")
		return
	}
	i, err := strconv.ParseInt(n.Value, 0, v.Type().Bits())
	if err != nil {
		d.errorf(n, path, "%s is too large for an integer", short(n.Value))
		return
	}
	if d.within(n, float64(i), path, tag) {
		v.SetInt(i)
	}
}

func (d *decoder) float(n *yaml.Node, v reflect.Value, path string) {
	f, err := parseFloat(n.Value)
	if n.Kind != yaml.ScalarNode || (n.Tag != "!!int" && n.Tag != "!!float") || err != nil || math.IsNaN(f) ||
		math.IsInf(f, 0) {
		d.wrong(n, path, "a number")
		return
	}
	v.SetFloat(f)
}

func (d *decoder) duration(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	const want = `a duration such as "90s" or whole seconds`
	var span time.Duration
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!int":
		seconds, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil || seconds > math.MaxInt64/int64(time.Second) || seconds < math.MinInt64/int64(time.Second) {
			d.errorf(n, path, "%s seconds are too long", short(n.Value))
			return
		}
		span = time.Duration(seconds) * time.Second
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		var err error
		if span, err = time.ParseDuration(n.Value); err != nil {
			d.errorf(n, path, "want %s, got %q", want, short(n.Value))
			return
		}
	default:
		d.wrong(n, path, want)
		return
	}
	if span < 0 && tag.Get("min") != "-1" {
		d.errorf(n, path, "must not be negative")
		return
	}
	v.SetInt(int64(span))
}

// within checks a number against the limits of its field.
func (d *decoder) within(n *yaml.Node, f float64, path string, tag reflect.StructTag) bool {
	if low, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil && f < low {
		d.errorf(n, path, "%s is too small (at least %s)", n.Value, tag.Get("min"))
		return false
	}
	if high, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil && f > high {
		d.errorf(n, path, "%s is too large (at most %s)", n.Value, tag.Get("max"))
		return false
	}
	return true
}

// wrong reports a value of the wrong type and, where a small change would do, that change.
func (d *decoder) wrong(n *yaml.Node, path, want string) {
	got, fix := "a mapping", ""
	switch {
	case n.Kind == yaml.SequenceNode:
		got = "a list"
	case n.Kind == yaml.ScalarNode:
		got = scalars[n.Tag]
		if got == "" {
			got = "a value with tag " + n.Tag
		}
		switch value := short(n.Value); {
		case want == "a list":
			fix = " (write [" + value + "])"
		case want == "a string":
			fix = " (write " + strconv.Quote(value) + ")"
		case n.Tag == "!!str":
			got += " " + strconv.Quote(value)
		}
	}
	d.errorf(n, path, "want %s, got %s%s", want, got, fix)
}

var scalars = map[string]string{
	"!!str": "a string", "!!int": "an integer", "!!float": "a number", "!!bool": "true or false",
	"!!null": "nothing", "!!timestamp": "a date", "!!merge": "a string",
}

func parseFloat(s string) (float64, error) {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf":
		if strings.HasPrefix(s, "-") {
			return math.Inf(-1), nil
		}
		return math.Inf(1), nil
	case ".nan":
		return math.NaN(), nil
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64); err == nil {
		return f, nil
	}
	i, err := strconv.ParseInt(s, 0, 64)
	return float64(i), err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// short keeps foreign text in messages readable.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
