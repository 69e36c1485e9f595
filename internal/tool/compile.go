package tool

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// maxDepth bounds how deep schemas and the values they describe may nest.
const maxDepth = 64

// node is one compiled (sub)schema. A keyword with a value that makes no sense is
// treated as absent: the schema's owner judges the call too.
type node struct {
	never       bool // The schema `false`.
	description string
	ref         string
	types       []string
	values      []any // enum, or the one value of const.
	object      *objectRules
	array       *arrayRules
	number      *numberRules
	text        *textRules
	anyOf       []*node
	oneOf       []*node
	allOf       []*node

	definitions map[string]*node // Only at the root: targets of $ref.
}

type objectRules struct {
	props      []property
	patterns   []patternProperty
	required   []string
	additional *node // Schema of names not listed; nil when not said.
	closed     bool  // No names but those listed.
}

type property struct {
	name string
	node *node
}

type patternProperty struct {
	re   *regexp.Regexp
	node *node
}

type arrayRules struct {
	items    *node
	min, max *int
}

type numberRules struct {
	min, max             *float64
	aboveMin, belowLimit *float64 // exclusiveMinimum, exclusiveMaximum
}

type textRules struct {
	min, max *int
	pattern  *regexp.Regexp
}

// keywords is the part of JSON Schema that is understood.
type keywords struct {
	Description any             `json:"description"`
	Ref         any             `json:"$ref"`
	Type        any             `json:"type"`
	Enum        any             `json:"enum"`
	Const       json.RawMessage `json:"const"`
	AnyOf       json.RawMessage `json:"anyOf"`
	OneOf       json.RawMessage `json:"oneOf"`
	AllOf       json.RawMessage `json:"allOf"`
	objectKeywords
	arrayKeywords
	scalarKeywords
}

type objectKeywords struct {
	Properties           json.RawMessage `json:"properties"`
	PatternProperties    json.RawMessage `json:"patternProperties"`
	Required             any             `json:"required"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

type arrayKeywords struct {
	Items    json.RawMessage `json:"items"`
	MinItems any             `json:"minItems"`
	MaxItems any             `json:"maxItems"`
}

type scalarKeywords struct {
	Minimum          any `json:"minimum"`
	Maximum          any `json:"maximum"`
	ExclusiveMinimum any `json:"exclusiveMinimum"`
	ExclusiveMaximum any `json:"exclusiveMaximum"`
	MinLength        any `json:"minLength"`
	MaxLength        any `json:"maxLength"`
	Pattern          any `json:"pattern"`
}

// compile reads one schema; what it cannot read accepts everything.
func compile(raw json.RawMessage, depth int) *node {
	n := &node{}
	if depth > maxDepth {
		return n
	}
	if string(bytes.TrimSpace(raw)) == "false" {
		n.never = true
		return n
	}
	var k keywords
	if json.Unmarshal(raw, &k) != nil {
		return n
	}
	n.description, _ = k.Description.(string)
	n.ref, _ = k.Ref.(string)
	switch t := k.Type.(type) {
	case string:
		n.types = []string{t}
	case []any:
		n.types = texts(t)
	}
	n.values, _ = k.Enum.([]any)
	if k.Const != nil {
		var v any
		if json.Unmarshal(k.Const, &v) == nil {
			n.values = []any{v}
		}
	}
	n.object = compileObject(k.objectKeywords, depth)
	if items := bytes.TrimSpace(k.Items); len(items) > 0 || k.MinItems != nil || k.MaxItems != nil {
		n.array = &arrayRules{min: count(k.MinItems), max: count(k.MaxItems)}
		// The old form, a list of schemas by position, is not checked.
		if len(items) > 0 && items[0] != '[' {
			n.array.items = compile(items, depth+1)
		}
	}
	if k.Minimum != nil || k.Maximum != nil || k.ExclusiveMinimum != nil || k.ExclusiveMaximum != nil {
		n.number = &numberRules{
			number(k.Minimum),
			number(k.Maximum),
			number(k.ExclusiveMinimum),
			number(k.ExclusiveMaximum),
		}
	}
	if k.MinLength != nil || k.MaxLength != nil || k.Pattern != nil {
		n.text = &textRules{min: count(k.MinLength), max: count(k.MaxLength)}
		if p, ok := k.Pattern.(string); ok {
			// Schemas are written for another dialect; what Go cannot read is not checked.
			n.text.pattern, _ = regexp.Compile(p)
		}
	}
	n.anyOf = compileList(k.AnyOf, depth)
	n.oneOf = compileList(k.OneOf, depth)
	n.allOf = compileList(k.AllOf, depth)
	return n
}

func compileObject(k objectKeywords, depth int) *objectRules {
	if k.Properties == nil && k.PatternProperties == nil && k.Required == nil && k.AdditionalProperties == nil {
		return nil
	}
	o := &objectRules{props: ordered(k.Properties, depth)}
	for _, p := range ordered(k.PatternProperties, depth) {
		if re, err := regexp.Compile(p.name); err == nil {
			o.patterns = append(o.patterns, patternProperty{re, p.node})
		}
	}
	if list, ok := k.Required.([]any); ok {
		o.required = texts(list)
	}
	if k.AdditionalProperties != nil {
		o.additional = compile(k.AdditionalProperties, depth+1)
		o.closed = o.additional.never
	}
	return o
}

// ordered reads an object of schemas in the order of the text. A name that is
// given twice has the last meaning, as in encoding/json.
func ordered(raw json.RawMessage, depth int) []property {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var props []property
	index := map[string]int{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return props
		}
		var sub json.RawMessage
		if dec.Decode(&sub) != nil {
			return props
		}
		p := property{name, compile(sub, depth+1)}
		if i, twice := index[name]; twice {
			props[i] = p
			continue
		}
		index[name] = len(props)
		props = append(props, p)
	}
	return props
}

func compileList(raw json.RawMessage, depth int) []*node {
	var list []json.RawMessage
	if raw == nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	nodes := make([]*node, len(list))
	for i, sub := range list {
		nodes[i] = compile(sub, depth+1)
	}
	return nodes
}

// defs compiles the definitions that $ref can name.
func (n *node) defs(raw json.RawMessage) {
	var top struct {
		Defs        json.RawMessage `json:"$defs"`
		Definitions json.RawMessage `json:"definitions"`
	}
	if json.Unmarshal(raw, &top) != nil {
		return
	}
	n.definitions = map[string]*node{"#": n}
	for prefix, text := range map[string]json.RawMessage{"#/$defs/": top.Defs, "#/definitions/": top.Definitions} {
		for _, p := range ordered(text, 0) {
			name := strings.ReplaceAll(strings.ReplaceAll(p.name, "~", "~0"), "/", "~1")
			n.definitions[prefix+name] = p.node
		}
	}
}

// combined reports whether the node is put together from others.
func (n *node) combined() bool { return len(n.anyOf)+len(n.oneOf)+len(n.allOf) > 0 }

// property finds what the node says about a name; nil if nothing.
func (n *node) property(name string) *node {
	if n.object == nil {
		return nil
	}
	return n.object.property(name)
}

func (o *objectRules) property(name string) *node {
	i := slices.IndexFunc(o.props, func(p property) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return o.props[i].node
}

func (n *node) refusesUnknown() bool { return n.object != nil && n.object.closed }

func (n *node) names() []string {
	if n.object == nil {
		return nil
	}
	return n.object.names()
}

func (o *objectRules) names() []string {
	names := make([]string, len(o.props))
	for i, p := range o.props {
		names[i] = p.name
	}
	return names
}

// effectiveTypes is every type that n allows, also by way of anyOf, oneOf and $ref;
// string and null come last because they are the last to try. Empty: any.
func effectiveTypes(root, n *node) []string {
	var types []string
	budget := 100 // Schemas may refer to themselves.
	var collect func(n *node)
	collect = func(n *node) {
		if budget--; n == nil || budget < 0 {
			return
		}
		for _, t := range n.types {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
		if n.ref != "" {
			collect(root.definitions[n.ref])
		}
		for _, sub := range slices.Concat(n.anyOf, n.oneOf) {
			if budget < 0 {
				return
			}
			collect(sub)
		}
	}
	collect(n)
	rank := func(t string) int { return slices.Index([]string{"string", "null"}, t) }
	slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) })
	return types
}

// typeName says in words what a parameter takes.
func typeName(root, n *node) string {
	types := effectiveTypes(root, n)
	if len(types) == 0 {
		return "any"
	}
	for i, t := range types {
		if t == "array" && n.array != nil && n.array.items != nil {
			if of := effectiveTypes(root, n.array.items); len(of) == 1 {
				types[i] = "array of " + of[0]
			}
		}
	}
	return strings.Join(types, " or ")
}

func texts(list []any) []string {
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func number(v any) *float64 {
	if f, ok := v.(float64); ok {
		return &f
	}
	return nil
}

func count(v any) *int {
	if f, ok := v.(float64); ok && f >= 0 && f < 1<<31 {
		n := int(f)
		return &n
	}
	return nil
}
