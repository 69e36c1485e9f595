package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
)

// Report takes a mistake in a definition. key is a key of it, such as "schedule",
// "foreach.files" or "commands[1]".
type Report func(key, format string, args ...any)

// Definition is what a file of another package holds by name: a pointer to a struct
// with yaml tags, among them `inherit`.
type Definition[T any] interface {
	*T
	// Parents are the definitions whose keys apply where this one writes none.
	Parents() []string
	// Adopt makes the value of the parents, or an empty one, that of a definition,
	// before its own keys are written over it.
	Adopt(name string, source Source)
	// Check reports mistakes in the keys that a definition writes itself.
	Check(Report)
}

// maxDefinitions bounds the definitions of one kind; what they inherit is followed
// from each of them.
const maxDefinitions = 1000

// LoadDefinitions decodes the files of a kind, such as "task", that map names to
// definitions: strictly, with inheritance, sorted by name, those of later homes in
// place of earlier ones. The keys agent, mode and features may only name what the
// configuration has. All mistakes are reported together, as Errors.
func LoadDefinitions[T any, P Definition[T]](c *Config, kind string) ([]T, error) {
	l := &loader{cfg: c, broken: map[string]bool{}}
	n := named[T, P]{loader: l, kind: kind}
	for _, f := range c.Files[kind+"s"] {
		n.file(f)
	}
	all := assembleKind(l, kind, n.defs, n.build)
	for i, def := range n.defs {
		for _, other := range n.defs[:i] {
			if other.source.Home == def.source.Home && strings.EqualFold(other.Name, def.Name) {
				l.errs.Add(
					def.source.File,
					def.source.Line,
					def.Name,
					"%s is already defined in %s:%d",
					kind,
					other.source.File,
					other.source.Line,
				)
				break
			}
		}
	}
	if err := l.errs.Err(); err != nil {
		return nil, err
	}
	type item struct {
		def   *definition
		value T
	}
	items := make([]item, len(all))
	for i := range all {
		items[i] = item{n.defs[i], all[i]}
	}
	list, _ := effective(items, func(i item) (string, Source) { return i.def.Name, i.def.source })
	out := make([]T, len(list))
	for i := range list {
		out[i] = list[i].value
	}
	return out, nil
}

// named is the state of one LoadDefinitions.
type named[T any, P Definition[T]] struct {
	*loader
	kind string
	defs []*definition
}

func (l *named[T, P]) file(f File) {
	d, n := l.yaml(f)
	if n == nil {
		l.broken[l.kind+"s"] = l.broken[l.kind+"s"] || d == nil
		return
	}
	d.Pairs(n, "", func(key, value *yaml.Node, path string) {
		for value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if strings.TrimSpace(key.Value) == "" {
			d.Errorf(key, "", "a %s needs a name", l.kind)
		}
		var own T
		d.Decode(value, &own, path)
		P(&own).Check(reporter(d, value, path))
		for _, ref := range []reference{{[]string{"agent"}, "agents"}, {[]string{"mode"}, "modes"}} {
			v := strictyaml.Find(value, ref.path...)
			if ref.kind != "modes" || v == nil || !strings.EqualFold(v.Value, "none") {
				l.cfg.checkReference(d, value, path, ref, nil)
			}
		}
		l.cfg.checkFeatureNames(d, strictyaml.Find(value, "features"), strictyaml.Join(path, "features"), nil)
		switch n := len(l.defs); {
		case n < maxDefinitions:
			l.defs = append(l.defs, &definition{
				Identity: Identity{Name: key.Value, Inherit: P(&own).Parents()}, node: value,
				source: Source{File: f.Path, Home: f.Home, Line: key.Line},
			})
		case !l.broken[l.kind+"s"]:
			l.broken[l.kind+"s"] = true
			d.Errorf(key, path, "more than %d %ss", maxDefinitions, l.kind)
		}
	})
}

// build decodes a chain of definitions over each other.
func (l *named[T, P]) build(chain []*definition) T {
	var v T
	for _, def := range chain {
		P(&v).Adopt(def.Name, def.source)
		def.decode(&v)
	}
	return v
}

// reporter finds the lines of mistakes in a definition.
func reporter(d *strictyaml.Decoder, value *yaml.Node, path string) Report {
	return func(key, format string, args ...any) {
		name, index, _ := strings.Cut(strings.TrimSuffix(key, "]"), "[")
		at := value
		if n := strictyaml.Find(value, strings.Split(name, ".")...); n != nil {
			at = n
			if i, err := strconv.Atoi(index); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
				at = n.Content[i]
			}
		}
		d.Errorf(at, strictyaml.Join(path, key), format, args...)
	}
}
