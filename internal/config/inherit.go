package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/strictyaml"
	"github.com/idelchi/aura/internal/wording"
)

// definition is an agent or mode as its file says it, before inheritance.
type definition struct {
	Identity
	source    Source
	isDefault bool
	line      int        // Of the file, on which the document of the node starts.
	node      *yaml.Node // Frontmatter.
	body      string
}

// define makes the definition of a file and checks what agents and modes share.
func (l *loader) define(what string, f File, v any, id *Identity) *definition {
	d, n, doc, ok := l.markdown(f, v)
	if !ok {
		l.broken[what+"s"] = true
		return nil
	}
	def := &definition{
		Identity: *id, node: n, line: d.Line, body: doc.Body,
		source: Source{File: f.Path, Home: f.Home, Line: 1, BodyFile: f.Path, BodyLine: doc.BodyLine},
	}
	switch {
	case n == nil:
		l.errs.Add(f.Path, 1, "", "no frontmatter (start the file with ---, name: ..., ---)")
	case def.Name == "":
		l.errs.Add(f.Path, max(doc.FrontLine, 1), "name", "missing")
	}
	if def.Name == "" {
		l.broken[what+"s"] = true
		return nil
	}
	l.checkTemplate(def.source, def.body, nil)
	return def
}

func (l *loader) agent(f File) {
	var a Agent
	def := l.define("agent", f, &a, &a.Identity)
	if def == nil {
		return
	}
	def.isDefault = a.Default
	l.duplicate("agent", l.agents, def)
	for _, other := range l.agents {
		if a.Default && other.isDefault && other.source.Home == f.Home {
			l.errs.Add(
				f.Path,
				lineOf(def, "default"),
				"default",
				"agent %q in %s is the default already",
				other.Name,
				other.source.File,
			)
		}
	}
	l.agents = append(l.agents, def)
}

func (l *loader) mode(f File) {
	var m Mode
	if def := l.define("mode", f, &m, &m.Identity); def != nil {
		l.duplicate("mode", l.modes, def)
		l.modes = append(l.modes, def)
	}
}

func (l *loader) prompt(f File) {
	var p Prompt
	_, _, doc, ok := l.markdown(f, &p)
	if !ok {
		l.broken["prompts"] = true
		return
	}
	if p.Name == "" {
		base := filepath.Base(f.Path)
		p.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	p.Body = doc.Body
	p.Source = Source{File: f.Path, Home: f.Home, Line: 1, BodyFile: f.Path, BodyLine: doc.BodyLine}
	l.checkTemplate(p.Source, p.Body, TemplateParts())
	for _, other := range l.prompts {
		if other.Source.Home == f.Home && strings.EqualFold(other.Name, p.Name) {
			l.errs.Add(
				f.Path,
				max(doc.FrontLine, 1),
				"name",
				"prompt %q is already defined in %s",
				p.Name,
				other.Source.File,
			)
		}
	}
	l.prompts = append(l.prompts, p)
}

func (l *loader) duplicate(what string, defs []*definition, def *definition) {
	for _, other := range defs {
		if other.source.Home == def.source.Home && strings.EqualFold(other.Name, def.Name) {
			l.errs.Add(
				def.source.File,
				lineOf(def, "name"),
				"name",
				"%s %q is already defined in %s",
				what,
				def.Name,
				other.source.File,
			)
			return
		}
	}
}

func lineOf(def *definition, path ...string) int {
	if n := strictyaml.Find(def.node, path...); n != nil {
		return def.decoder(nil).LineOf(n)
	}
	return 1
}

// assemble applies inheritance and shadowing and fills the lists of the Config.
func (l *loader) assemble() {
	agents := assembleKind(l, "agent", l.agents, buildAgent)
	l.cfg.Agents, l.cfg.builtin.agents = effective(agents, func(a Agent) (string, Source) { return a.Name, a.Source })
	modes := assembleKind(l, "mode", l.modes, buildMode)
	l.cfg.Modes, l.cfg.builtin.modes = effective(modes, func(m Mode) (string, Source) { return m.Name, m.Source })
	l.cfg.Prompts, l.cfg.builtin.prompts = effective(
		l.prompts,
		func(p Prompt) (string, Source) { return p.Name, p.Source },
	)
}

// effective splits off the built-in items and gives the list that counts: the last of
// each name, sorted, built-in ones only when there is nothing else.
func effective[T any](all []T, of func(T) (string, Source)) (list, builtin []T) {
	for _, item := range all {
		if _, source := of(item); source.Builtin() {
			builtin = append(builtin, item)
			continue
		}
		name, _ := of(item)
		same := func(other T) bool { n, _ := of(other); return strings.EqualFold(n, name) }
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i] = item
		} else {
			list = append(list, item)
		}
	}
	if len(list) == 0 {
		list = slices.Clone(builtin)
	}
	slices.SortStableFunc(list, func(a, b T) int {
		x, _ := of(a)
		y, _ := of(b)
		return compareFold(x, y)
	})
	return list, builtin
}

func assembleKind[T any](l *loader, what string, defs []*definition, build func([]*definition) T) []T {
	in := &inheritance{l: l, what: what, defs: defs, cyclic: map[*definition]bool{}}
	out := make([]T, 0, len(defs))
	for _, def := range defs {
		in.order, in.seen = nil, map[*definition]bool{}
		in.visit(def, nil)
		out = append(out, build(in.order))
	}
	return out
}

// inheritance puts a definition and its ancestors in the order in which they apply.
type inheritance struct {
	l      *loader
	what   string
	defs   []*definition
	cyclic map[*definition]bool // Members of cycles that were reported.
	seen   map[*definition]bool
	order  []*definition
}

// visit adds the ancestors of def, then def, each once. path leads from the first
// definition to def; mistakes of others are reported when it is their turn to be first.
func (in *inheritance) visit(def *definition, path []*definition) {
	if in.seen[def] {
		return
	}
	path = append(slices.Clip(path), def)
	for i, name := range def.Inherit {
		parent := in.parent(def, name)
		if parent == nil {
			if len(path) == 1 && !in.l.broken[in.what+"s"] {
				in.unknown(def, i, name)
			}
			continue
		}
		if slices.Contains(path, parent) {
			if parent == path[0] && !in.cyclic[parent] {
				in.cycle(path)
			}
			continue
		}
		in.visit(parent, path)
	}
	in.seen[def] = true
	in.order = append(in.order, def)
}

// parent finds a definition by name, that of the last home first. A definition that
// inherits its own name means the one it shadows.
func (in *inheritance) parent(def *definition, name string) *definition {
	own := strings.EqualFold(def.Name, name)
	below := slices.Index(in.defs, def)
	for i, candidate := range slices.Backward(in.defs) {
		shadowed := i < below && candidate.source.Home != def.source.Home
		if strings.EqualFold(candidate.Name, name) && (!own || shadowed) {
			return candidate
		}
	}
	if own && slices.ContainsFunc(in.defs, func(d *definition) bool { return d == def }) {
		return def // Nothing to mean but itself: a cycle.
	}
	return nil
}

func (in *inheritance) unknown(def *definition, i int, name string) {
	var names []string
	for _, d := range in.defs {
		if d != def && !containsFold(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	in.l.errs.Add(def.source.File, itemLine(def, "inherit", i), "inherit["+strconv.Itoa(i)+"]", "no %s %q%s",
		in.what, wording.Short(name), wording.Hint(name, in.what+"s", names))
}

func (in *inheritance) cycle(path []*definition) {
	var names []string
	for _, d := range path {
		in.cyclic[d] = true
		names = append(names, d.Name)
	}
	names = append(names, path[0].Name)
	in.l.errs.Add(
		path[0].source.File,
		lineOf(path[0], "inherit"),
		"inherit",
		"%ss inherit in a circle: %s",
		in.what,
		strings.Join(names, " -> "),
	)
}

func itemLine(def *definition, key string, i int) int {
	if n := strictyaml.Find(def.node, key); n != nil && i < len(n.Content) {
		return def.decoder(nil).LineOf(n.Content[i])
	}
	return lineOf(def, key)
}

// buildAgent decodes a chain of definitions over each other, the agent itself last.
func buildAgent(chain []*definition) Agent {
	var a Agent
	for _, def := range chain {
		a.Name, a.Inherit, a.Hide, a.Default = "", nil, false, false
		body, bodyFrom := a.Body, a.Source
		def.decode(&a)
		a.Source, a.Body = def.source, def.body
		if def.body == "" && body != "" {
			a.Body, a.Source.BodyFile, a.Source.BodyLine = body, bodyFrom.BodyFile, bodyFrom.BodyLine
		}
	}
	return a
}

// buildMode does the same for modes.
func buildMode(chain []*definition) Mode {
	var m Mode
	for _, def := range chain {
		m.Name, m.Inherit, m.Hide = "", nil, false
		body, bodyFrom := m.Body, m.Source
		def.decode(&m)
		m.Source, m.Body = def.source, def.body
		if def.body == "" && body != "" {
			m.Body, m.Source.BodyFile, m.Source.BodyLine = body, bodyFrom.BodyFile, bodyFrom.BodyLine
		}
	}
	return m
}

func (def *definition) decoder(errs *Errors) *strictyaml.Decoder {
	return &strictyaml.Decoder{File: def.source.File, Line: def.line, Errors: errs}
}

// decode writes the keys of the definition over v. Its mistakes were reported before.
func (def *definition) decode(v any) {
	var known Errors
	def.decoder(&known).Decode(def.node, v, "")
}
