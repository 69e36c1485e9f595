package plugin

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/idelchi/aura/internal/tool"
	"github.com/idelchi/aura/sdk"
)

// isolation prepares values of one type, an SDK context, for a plugin: they get its
// config values, and share nothing with the host that the plugin might change.
type isolation struct {
	config  map[string]any
	context []int  // Where the snapshot is.
	copy    copier // nil: there is nothing to copy.
}

// isolate makes the isolation for values of type t, which is sdk.Context or embeds it.
// What the plugin's code never selects it cannot change, and shares: copying the
// history of a long session for every call of every plugin would be most of the cost
// of having plugins.
func (p *plugin) isolate(t reflect.Type) isolation {
	i := isolation{config: p.config}
	if t != reflect.TypeFor[sdk.Context]() {
		f, _ := t.FieldByName("Context")
		i.context = f.Index
	}
	if p.reaches != nil {
		i.copy = copierOf(t, p.reaches)
	}
	return i
}

// apply prepares what data points to, which is a copy of the host's value.
func (i *isolation) apply(data any) {
	v := reflect.ValueOf(data).Elem()
	v.FieldByIndex(i.context).Addr().Interface().(*sdk.Context).PluginConfig = i.config
	if i.copy != nil {
		i.copy(v)
	}
}

// copier puts copies in the place of parts of a value that others share.
type copier func(v reflect.Value)

// copierOf makes what copies the parts of a type that code reaches: of structs, their
// fields with that name and type. It is nil if there are none.
func copierOf(t reflect.Type, reaches func(name string, t reflect.Type) bool) copier {
	var parts []copier
	for f := range t.Fields() {
		if !f.IsExported() {
			continue // As in time.Time. Others would not be values of the SDK.
		}
		if c := fieldCopier(f, reaches); c != nil {
			parts = append(parts, func(v reflect.Value) { c(v.FieldByIndex(f.Index)) })
		}
	}
	if parts == nil {
		return nil
	}
	return func(v reflect.Value) {
		for _, c := range parts {
			c(v)
		}
	}
}

func fieldCopier(f reflect.StructField, reaches func(name string, t reflect.Type) bool) copier {
	switch f.Type.Kind() {
	case reflect.Struct:
		return copierOf(f.Type, reaches)
	case reflect.Map, reflect.Slice:
		if !reaches(f.Name, f.Type) {
			return nil
		}
	case reflect.Array, reflect.Chan, reflect.Func, reflect.Interface, reflect.Pointer, reflect.UnsafePointer:
		panic(fmt.Sprintf("plugin: a copy of %s %s is not provided for", f.Name, f.Type))
	default:
		return nil
	}
	switch {
	case f.Type == reflect.TypeFor[map[string]any]():
		return copyOf(tool.CloneArgs)
	case f.Type == reflect.TypeFor[map[string]int]():
		return copyOf(maps.Clone[map[string]int])
	case f.Type == reflect.TypeFor[map[string]string]():
		return copyOf(maps.Clone[map[string]string])
	case f.Type == reflect.TypeFor[[]string]():
		return copyOf(slices.Clone[[]string])
	case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
		return sliceCopier(f.Type, copierOf(f.Type.Elem(), reaches))
	}
	panic(fmt.Sprintf("plugin: a copy of %s %s is not provided for", f.Name, f.Type))
}

// copyOf replaces a value by what clone makes of it.
func copyOf[T any](clone func(T) T) copier {
	return func(v reflect.Value) {
		p := v.Addr().Interface().(*T)
		*p = clone(*p)
	}
}

// sliceCopier copies slices of structs, and the parts of each element.
func sliceCopier(t reflect.Type, element copier) copier {
	return func(v reflect.Value) {
		if v.IsNil() {
			return
		}
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(out, v)
		v.Set(out)
		if element == nil {
			return
		}
		for i := range out.Len() {
			element(out.Index(i))
		}
	}
}

// reaches is what the code could change of the values that it gets: what it selects.
// Code that reflects can reach what it does not name, and so can a decoder, which fills
// the maps and slices that are there.
func (p *interpreted) reaches(name string, t reflect.Type) bool {
	return p.reflects() || p.interp.Selects(name, t)
}

// reflects reports whether the code uses reflection, or functions that do and write.
func (p *interpreted) reflects() bool {
	type unmarshal = func([]byte, any) error
	return p.src.hides || slices.Contains(p.src.std, "reflect") ||
		p.interp.Selects("Unmarshal", reflect.TypeFor[unmarshal]()) ||
		p.interp.Selects("Decode", reflect.TypeOf((*json.Decoder).Decode)) ||
		p.interp.Selects("Decode", reflect.TypeOf((*xml.Decoder).Decode)) ||
		p.interp.Selects("DecodeElement", reflect.TypeOf((*xml.Decoder).DecodeElement))
}
