package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idelchi/aura/internal/jsontext"
	"github.com/idelchi/aura/internal/wording"
)

const (
	maxProblems = 50
	// maxSteps bounds the work of one check: a schema can refer to itself in ways
	// that double the work at every level. What is beyond it is not checked.
	maxSteps = 100_000
)

// checker walks a value along a schema.
type checker struct {
	root     *node
	budget   int
	problems []string
}

func (c *checker) add(path, format string, a ...any) {
	if len(c.problems) >= maxProblems {
		return
	}
	text := fmt.Sprintf(format, a...)
	if path != "" {
		text = path + ": " + text
	}
	c.problems = append(c.problems, text)
}

func (c *checker) check(n *node, path string, v any, depth int) {
	c.budget--
	if n == nil || depth > maxDepth || c.budget < 0 {
		return
	}
	if n.never {
		c.add(path, "no value is allowed here")
		return
	}
	v, kind := normal(v)
	if len(n.types) > 0 && !slices.ContainsFunc(n.types, func(t string) bool { return fits(t, kind) }) {
		if kind == "integer" {
			kind = "number" // The difference only matters where an integer was expected.
		}
		c.add(path, "expected %s, got %s", strings.Join(n.types, " or "), kind)
		return
	}
	if n.values != nil && !slices.ContainsFunc(n.values, func(want any) bool { return equal(want, v) }) {
		c.add(path, "%s is not one of %s", shown(v), list(n.values))
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(n.object, path, v, depth)
	case []any:
		c.array(n.array, path, v, depth)
	case string:
		c.text(n.text, path, v)
	case float64:
		c.number(n.number, path, v)
	}
	if n.ref != "" {
		c.check(c.root.definitions[n.ref], path, v, depth+1)
	}
	for _, sub := range n.allOf {
		c.check(sub, path, v, depth+1)
	}
	c.alternatives(n.anyOf, false, path, v, depth)
	c.alternatives(n.oneOf, true, path, v, depth)
}

func (c *checker) object(o *objectRules, path string, v map[string]any, depth int) {
	if o == nil {
		return
	}
	for _, name := range o.required {
		if _, ok := v[name]; !ok {
			c.add(path, "missing required parameter %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		sub := o.property(name)
		known := sub != nil
		if known {
			c.check(sub, join(path, name), v[name], depth+1)
		}
		for _, p := range o.patterns {
			if p.re.MatchString(name) {
				known = true
				c.check(p.node, join(path, name), v[name], depth+1)
			}
		}
		switch {
		case known:
		case o.closed:
			c.add("", "%s", unknown(path, name, o.names()))
		default:
			c.check(o.additional, join(path, name), v[name], depth+1)
		}
	}
}

func (c *checker) array(a *arrayRules, path string, v []any, depth int) {
	if a == nil {
		return
	}
	if a.min != nil && len(v) < *a.min {
		c.add(path, "expected at least %d items, got %d", *a.min, len(v))
	}
	if a.max != nil && len(v) > *a.max {
		c.add(path, "expected at most %d items, got %d", *a.max, len(v))
	}
	if a.items == nil {
		return
	}
	for i, item := range v {
		if c.budget < 0 || len(c.problems) >= maxProblems {
			return
		}
		c.check(a.items, fmt.Sprintf("%s[%d]", path, i), item, depth+1)
	}
}

func (c *checker) text(t *textRules, path, v string) {
	if t == nil {
		return
	}
	length := utf8.RuneCountInString(v)
	switch {
	case t.min != nil && length < *t.min && length == 0:
		c.add(path, "must not be empty")
	case t.min != nil && length < *t.min:
		c.add(path, "expected at least %d characters, got %d", *t.min, length)
	}
	if t.max != nil && length > *t.max {
		c.add(path, "expected at most %d characters, got %d", *t.max, length)
	}
	if t.pattern != nil && !t.pattern.MatchString(v) {
		c.add(path, "%s does not match the pattern %s", shown(v), t.pattern)
	}
}

func (c *checker) number(r *numberRules, path string, v float64) {
	if r == nil {
		return
	}
	if r.min != nil && v < *r.min {
		c.add(path, "%s is less than the minimum %s", decimal(v), decimal(*r.min))
	}
	if r.max != nil && v > *r.max {
		c.add(path, "%s is more than the maximum %s", decimal(v), decimal(*r.max))
	}
	if r.aboveMin != nil && v <= *r.aboveMin {
		c.add(path, "%s is not more than %s", decimal(v), decimal(*r.aboveMin))
	}
	if r.belowLimit != nil && v >= *r.belowLimit {
		c.add(path, "%s is not less than %s", decimal(v), decimal(*r.belowLimit))
	}
}

// decimal writes a number as people do, with an exponent only where there is no end.
func decimal(v float64) string {
	if a := math.Abs(v); a >= 1e21 || a != 0 && a < 1e-9 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// alternatives wants one of the nodes to accept v, or exactly one. When none
// does, the problems are those of the one that came nearest.
func (c *checker) alternatives(nodes []*node, exactlyOne bool, path string, v any, depth int) {
	if len(nodes) == 0 {
		return
	}
	var nearest []string
	matched := 0
	for _, n := range nodes {
		trial := checker{root: c.root, budget: c.budget}
		trial.check(n, path, v, depth+1)
		c.budget = trial.budget
		if len(trial.problems) == 0 {
			matched++
			if !exactlyOne {
				return
			}
		} else if nearest == nil || len(trial.problems) < len(nearest) {
			nearest = trial.problems
		}
	}
	switch {
	case matched == 0 && len(nodes) == 1:
		c.problems = append(c.problems, nearest[:min(len(nearest), maxProblems-min(len(c.problems), maxProblems))]...)
	case matched == 0:
		c.add(path, "fits none of the %d allowed forms; nearest: %s", len(nodes), strings.Join(nearest, "; "))
	case matched > 1 && exactlyOne:
		c.add(path, "fits %d forms where exactly one is allowed", matched)
	}
}

// normal reduces a value to what JSON decoding makes and names its type. Handlers
// written in Go may have put anything into the arguments.
func normal(v any) (any, string) {
	switch t := v.(type) {
	case nil:
		return nil, "null"
	case bool:
		return t, "boolean"
	case string:
		return t, "string"
	case float64:
		if t == math.Trunc(t) && !math.IsInf(t, 0) {
			return t, "integer"
		}
		return t, "number"
	case []any:
		return t, "array"
	case map[string]any:
		return t, "object"
	case json.Number:
		f, err := t.Float64()
		if err != nil {
			return string(t), "string"
		}
		return normal(f)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Bool:
		return r.Bool(), "boolean"
	case reflect.String:
		return r.String(), "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(r.Int()), "integer"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(r.Uint()), "integer"
	case reflect.Float32, reflect.Float64:
		return normal(r.Float())
	case reflect.Slice, reflect.Array:
		items := make([]any, r.Len())
		for i := range items {
			items[i] = r.Index(i).Interface()
		}
		return items, "array"
	case reflect.Map:
		if r.Type().Key().Kind() == reflect.String {
			object := make(map[string]any, r.Len())
			for _, key := range r.MapKeys() {
				object[key.String()] = r.MapIndex(key).Interface()
			}
			return object, "object"
		}
	}
	return v, r.Type().String()
}

func fits(want, kind string) bool {
	return want == kind || want == "number" && kind == "integer"
}

func equal(a, b any) bool {
	a, _ = normal(a)
	b, _ = normal(b)
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	}
	return reflect.DeepEqual(a, b)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func unknown(path, name string, known []string) string {
	text := fmt.Sprintf("unknown parameter %q", name)
	if path != "" {
		text = path + ": " + text
	}
	return text + wording.Suggest(name, known)
}

// shown is a value in a message, short.
func shown(v any) string {
	text, err := jsontext.Marshal(v)
	if err != nil {
		text = fmt.Append(nil, v)
	}
	if len(text) > 80 {
		return wording.Head(string(text), 77) + "..."
	}
	return string(text)
}

// bare is a JSON value without the quotes of a string.
func bare(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return shown(v)
}

func list(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = bare(v)
	}
	return strings.Join(words, ", ")
}

// NameHint is what to say about a tool that does not exist: the name that was probably
// meant, else otherwise.
func NameHint(name string, names []string, otherwise string) string {
	return cmp.Or(wording.DidYouMean(name, names), otherwise)
}
