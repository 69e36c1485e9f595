package tool

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/idelchi/aura/internal/jsontext"
)

// Sent is the schema as models get it. It is Raw, byte for byte, unless servers are
// known to refuse that: a top level without type or properties, or put together from
// alternatives, and lists that do not mention their items. One such tool would cost
// every request. Arguments are checked against Raw all the same.
func (s *Schema) Sent() json.RawMessage {
	if s == nil || s.literal {
		return s.Raw()
	}
	s.fixed.Do(func() { s.sent = acceptable(s.Raw()) })
	return s.sent
}

// acceptable returns raw, or what is sent in its place.
func acceptable(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // Limits are passed on as they were written.
	var top map[string]any
	if dec.Decode(&top) != nil || top == nil {
		return json.RawMessage(emptySchema)
	}
	changed := flatten(top)
	if addItems(top, 0) {
		changed = true
	}
	if !changed {
		return raw
	}
	out, err := jsontext.Marshal(top)
	if err != nil {
		return json.RawMessage(emptySchema)
	}
	return out
}

// flatten makes the top level of a schema an object with properties. Of
// alternatives it takes all properties and requires none of them.
func flatten(top map[string]any) (changed bool) {
	if top["type"] != "object" {
		top["type"], changed = "object", true
	}
	properties, ok := top["properties"].(map[string]any)
	if !ok {
		properties = map[string]any{}
		top["properties"], changed = properties, true
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if _, ok := top[key]; !ok {
			continue
		}
		parts, _ := top[key].([]any)
		for _, part := range parts {
			part, _ := part.(map[string]any)
			more, _ := part["properties"].(map[string]any)
			for name, schema := range more {
				if _, ok := properties[name]; !ok {
					properties[name] = schema
				}
			}
		}
		delete(top, key)
		changed = true
	}
	return changed
}

// addItems gives items to the lists in a schema that mention none.
func addItems(v any, depth int) (changed bool) {
	node, ok := v.(map[string]any)
	if !ok || depth > maxDepth {
		return false
	}
	_, items := node["items"]
	_, prefix := node["prefixItems"]
	if !items && !prefix && isArray(node["type"]) {
		node["items"], changed = map[string]any{}, true
	}
	for _, key := range []string{"properties", "$defs", "definitions"} {
		named, _ := node[key].(map[string]any)
		for _, sub := range named {
			changed = addItems(sub, depth+1) || changed
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "prefixItems"} {
		list, _ := node[key].([]any)
		for _, sub := range list {
			changed = addItems(sub, depth+1) || changed
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		changed = addItems(node[key], depth+1) || changed
	}
	return changed
}

func isArray(kind any) bool {
	list, _ := kind.([]any)
	return kind == "array" || slices.Contains(list, any("array"))
}
