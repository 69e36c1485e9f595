package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/sdk"
)

// emptySchema is what a tool without a schema takes: nothing.
const emptySchema = `{"type":"object","properties":{}}`

// maxSchema bounds the text of a schema that comes from elsewhere.
const maxSchema = 1 << 20

// Schema is the JSON Schema of a tool's arguments. The text is what models get,
// see Sent; it is compiled for checking on first use. A nil Schema is one of
// a tool that takes no arguments. A Schema may be used by several goroutines.
//
// Parameters that the schema does not list are refused, unless it says otherwise
// with additionalProperties or was made with Open.
type Schema struct {
	raw     json.RawMessage
	open    bool
	literal bool // Not looked at yet.

	once sync.Once
	root *node

	fixed sync.Once
	sent  json.RawMessage
}

// Option changes how a schema is read.
type Option uint8

// Open is for schemas of others, such as MCP servers: unknown parameters pass
// unless the schema itself says `additionalProperties: false`.
const Open Option = 1

// Param describes one parameter for a listing.
type Param struct {
	Name        string
	Type        string // For example "string", "array of object", "string or null"; "any" when not said.
	Description string
	Required    bool
	Enum        []string // Allowed values, as JSON except that strings are bare.
}

// ParseSchema takes the text of a schema. It fails unless the text is a JSON
// object that describes an object. Keywords it does not know are ignored.
func ParseSchema(raw []byte, opts ...Option) (*Schema, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("schema: %d bytes are more than the allowed %d", len(raw), maxSchema)
	}
	var top struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) {
			return nil, fmt.Errorf("schema: expected a JSON object, got %s", typeErr.Value)
		}
		return nil, fmt.Errorf("schema: %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("null")) {
		return nil, errors.New("schema: expected a JSON object, got null")
	}
	if name, ok := top.Type.(string); ok && name != "object" {
		return nil, fmt.Errorf(`schema: arguments are an object, but type is %q (expected "object")`, name)
	}
	return &Schema{raw: slices.Clone(raw), open: slices.Contains(opts, Open)}, nil
}

// MustSchema is ParseSchema for a literal. It costs nothing at start-up: a literal
// that is wrong panics when the schema is first used to check or list parameters.
func MustSchema(raw string) *Schema {
	return &Schema{raw: json.RawMessage(raw), literal: true}
}

// FromSDK makes the schema of a plugin's tool. The text depends on nothing but p.
func FromSDK(p sdk.ToolParameters) *Schema {
	type property struct {
		Type        string    `json:"type,omitempty"`
		Description string    `json:"description,omitempty"`
		Enum        []any     `json:"enum,omitempty"`
		Items       *struct{} `json:"items,omitempty"`
	}
	object := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required,omitempty"`
	}{"object", make(map[string]property, len(p.Properties)), p.Required}
	for name, from := range p.Properties {
		to := property{Type: from.Type, Description: from.Description, Enum: from.Enum}
		if from.Type == "array" {
			// Some providers refuse an array that does not mention its items.
			to.Items = new(struct{})
		}
		object.Properties[name] = to
	}
	raw, err := jsontext.Marshal(object)
	if err != nil {
		// Only an enum value can be something JSON has no form for: drop the enums.
		for name, prop := range object.Properties {
			prop.Enum = nil
			object.Properties[name] = prop
		}
		raw, _ = jsontext.Marshal(object)
	}
	return &Schema{raw: raw}
}

// Raw is the text of the schema, as it was given. It must not be changed.
func (s *Schema) Raw() json.RawMessage {
	if s == nil || len(s.raw) == 0 {
		return json.RawMessage(emptySchema)
	}
	return s.raw
}

// Check lists everything that is wrong with args, each with the place it is about;
// nil means that they satisfy the schema. At most 50 problems are listed.
func (s *Schema) Check(args map[string]any) []string {
	c := checker{root: s.compiled(), budget: maxSteps}
	if args == nil {
		args = map[string]any{}
	}
	c.check(c.root, "", args, 0)
	return c.problems
}

// Params lists the parameters in the order in which the schema declares them.
func (s *Schema) Params() []Param {
	root := s.compiled()
	if root.object == nil {
		return nil
	}
	params := make([]Param, 0, len(root.object.props))
	for _, p := range root.object.props {
		param := Param{
			Name:        p.name,
			Type:        typeName(root, p.node),
			Description: p.node.description,
			Required:    slices.Contains(root.object.required, p.name),
		}
		for _, v := range p.node.values {
			param.Enum = append(param.Enum, bare(v))
		}
		params = append(params, param)
	}
	return params
}

// Coerce turns words of a command line into arguments: each value becomes the type
// that the schema gives its parameter. Arrays and objects are written as JSON.
// All mistakes are reported together. The result still has to pass Check.
func (s *Schema) Coerce(pairs map[string]string) (map[string]any, error) {
	root := s.compiled()
	args := make(map[string]any, len(pairs))
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		prop := root.property(name)
		if prop == nil {
			if root.refusesUnknown() {
				problems = append(problems, errors.New(unknown("", name, root.names())))
				continue
			}
			prop = &node{}
		}
		value, err := coerce(root, prop, pairs[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			continue
		}
		args[name] = value
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return args, nil
}

// compiled is the schema in the form that is checked.
func (s *Schema) compiled() *node {
	if s == nil {
		return &node{object: &objectRules{closed: true}, types: []string{"object"}}
	}
	s.once.Do(func() {
		if s.literal {
			if _, err := ParseSchema(s.raw); err != nil {
				panic(err)
			}
		}
		s.root = compile(s.Raw(), 0)
		if s.root.object == nil {
			s.root.object = &objectRules{}
		}
		o := s.root.object
		// A top level put together from parts cannot know here which names the parts bring.
		composed := s.root.ref != "" || s.root.combined() || len(o.patterns) > 0
		if o.additional == nil && !s.open && !composed {
			o.closed = true
		}
		s.root.defs(s.Raw())
	})
	return s.root
}

// coerce converts one word.
func coerce(root, n *node, word string) (any, error) {
	types := effectiveTypes(root, n)
	for _, v := range n.values {
		if bare(v) == word {
			return v, nil
		}
	}
	if len(types) == 0 {
		var v any
		if json.Unmarshal([]byte(word), &v) == nil {
			return v, nil
		}
		return word, nil
	}
	var first error
	for _, t := range types {
		v, err := convert(t, word)
		if err == nil {
			return v, nil
		}
		if first == nil {
			first = err
		}
	}
	if slices.Contains(types, "string") {
		return word, nil
	}
	return nil, first
}

// convert reads a word as one type; strings are left to the caller because
// everything is one.
func convert(kind, word string) (any, error) {
	switch kind {
	case "integer":
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not an integer", word)
		}
		return float64(n), nil
	case "number":
		f, err := strconv.ParseFloat(word, 64)
		if err != nil || f != f || f-f != 0 {
			return nil, fmt.Errorf("%q is not a number", word)
		}
		return f, nil
	case "boolean":
		switch strings.ToLower(word) {
		case "true", "on", "yes", "1", "enable", "enabled":
			return true, nil
		case "false", "off", "no", "0", "disable", "disabled":
			return false, nil
		}
		return nil, fmt.Errorf("%q is not a boolean (true or false)", word)
	case "null":
		if word == "null" {
			return nil, nil
		}
		return nil, fmt.Errorf("%q is not null", word)
	case "array":
		var list []any
		if err := json.Unmarshal([]byte(word), &list); err != nil || list == nil {
			return nil, fmt.Errorf(`%q is not a JSON array (write it as ["a","b"])`, word)
		}
		return list, nil
	case "object":
		var object map[string]any
		if err := json.Unmarshal([]byte(word), &object); err != nil || object == nil {
			return nil, fmt.Errorf(`%q is not a JSON object (write it as {"key":"value"})`, word)
		}
		return object, nil
	}
	return nil, fmt.Errorf("%q cannot be read as %s", word, kind)
}
