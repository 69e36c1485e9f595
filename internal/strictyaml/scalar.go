package strictyaml

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/idelchi/aura/internal/wording"
)

func (d *Decoder) text(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode || (n.Tag != "!!str" && n.Tag != "!!timestamp" && n.Tag != "!!merge") {
		d.Wrong(n, path, "a string")
		return
	}
	if enum, ok := tag.Lookup("enum"); ok && n.Value != "" {
		if !d.OneOf(n, path, strings.Fields(enum)) {
			return
		}
	}
	v.SetString(n.Value)
}

// OneOf reports whether the text n is one of allowed; another one is a mistake.
func (d *Decoder) OneOf(n *yaml.Node, path string, allowed []string) bool {
	if slices.Contains(allowed, n.Value) {
		return true
	}
	d.Errorf(
		n,
		path,
		"%q is not one of %s%s",
		wording.Short(n.Value),
		strings.Join(allowed, ", "),
		wording.Suggest(n.Value, allowed),
	)
	return false
}

func (d *Decoder) boolean(n *yaml.Node, v reflect.Value, path string) {
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on":
		v.SetBool(true)
	case "false", "no", "off":
		v.SetBool(false)
	default:
		d.Wrong(n, path, "true or false")
	}
}

func (d *Decoder) integer(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		d.Wrong(n, path, "an integer")
		return
	}
	i, err := strconv.ParseInt(n.Value, 0, v.Type().Bits())
	if err != nil {
		d.Errorf(n, path, "%s is too large for an integer", wording.Short(n.Value))
		return
	}
	if d.within(n, float64(i), path, tag) {
		v.SetInt(i)
	}
}

func (d *Decoder) float(n *yaml.Node, v reflect.Value, path string) {
	f, err := parseFloat(n.Value)
	if n.Kind != yaml.ScalarNode || (n.Tag != "!!int" && n.Tag != "!!float") || err != nil || math.IsNaN(f) ||
		math.IsInf(f, 0) {
		d.Wrong(n, path, "a number")
		return
	}
	v.SetFloat(f)
}

func (d *Decoder) duration(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	const want = `a duration such as "90s" or whole seconds`
	var span time.Duration
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!int":
		seconds, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil || seconds > math.MaxInt64/int64(time.Second) || seconds < math.MinInt64/int64(time.Second) {
			d.Errorf(n, path, "%s seconds are too long", wording.Short(n.Value))
			return
		}
		span = time.Duration(seconds) * time.Second
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		var err error
		if span, err = time.ParseDuration(n.Value); err != nil {
			d.Errorf(n, path, "want %s, got %q", want, wording.Short(n.Value))
			return
		}
	default:
		d.Wrong(n, path, want)
		return
	}
	if span < 0 && tag.Get("min") != "-1" {
		d.Errorf(n, path, "must not be negative")
		return
	}
	v.SetInt(int64(span))
}

// within checks a number against the limits of its field.
func (d *Decoder) within(n *yaml.Node, f float64, path string, tag reflect.StructTag) bool {
	if low, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil && f < low {
		d.Errorf(n, path, "%s is too small (at least %s)", n.Value, tag.Get("min"))
		return false
	}
	if high, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil && f > high {
		d.Errorf(n, path, "%s is too large (at most %s)", n.Value, tag.Get("max"))
		return false
	}
	return true
}

// Wrong reports a value of the wrong type and, where a small change would do, that change.
func (d *Decoder) Wrong(n *yaml.Node, path, want string) {
	got, fix := "a mapping", ""
	switch {
	case n.Kind == yaml.SequenceNode:
		got = "a list"
	case n.Kind == yaml.ScalarNode:
		got = scalars[n.Tag]
		if got == "" {
			got = "a value with tag " + n.Tag
		}
		switch value := wording.Short(n.Value); {
		case want == "a list":
			fix = " (write [" + value + "])"
		case want == "a string":
			fix = " (write " + strconv.Quote(value) + ")"
		case n.Tag == "!!str":
			got += " " + strconv.Quote(value)
		}
	}
	d.Errorf(n, path, "want %s, got %s%s", want, got, fix)
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
