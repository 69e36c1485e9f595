package pipe

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Values of type any begin with what they are: one of these, or tagExact plus the
// place in exactTypes.
const (
	tagNil = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagString
	tagList
	tagMap
	tagExact
)

// exactTypes are the other types that arrive as what they were.
func exactTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[int8](),
		reflect.TypeFor[int16](),
		reflect.TypeFor[int32](),
		reflect.TypeFor[int64](),
		reflect.TypeFor[uint](),
		reflect.TypeFor[uint8](),
		reflect.TypeFor[uint16](),
		reflect.TypeFor[uint32](),
		reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](),
		reflect.TypeFor[[]byte](),
		reflect.TypeFor[[]string](),
		reflect.TypeFor[[]int](),
		reflect.TypeFor[[]float64](),
		reflect.TypeFor[[]bool](),
		reflect.TypeFor[[]map[string]any](),
		reflect.TypeFor[map[string]string](),
		reflect.TypeFor[map[string]int](),
		reflect.TypeFor[time.Time](),
		reflect.TypeFor[time.Duration](),
	}
}

// putAny writes the value of an interface.
func (c *codec) putAny(b []byte, v reflect.Value, depth int) ([]byte, error) {
	if v.IsNil() {
		return append(b, tagNil), nil
	}
	return c.appendAny(b, v.Interface(), depth)
}

func (c *codec) appendAny(b []byte, v any, depth int) (_ []byte, err error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	switch v := v.(type) {
	case nil:
		return append(b, tagNil), nil
	case bool:
		if v {
			return append(b, tagTrue), nil
		}
		return append(b, tagFalse), nil
	case int:
		return binary.AppendVarint(append(b, tagInt), int64(v)), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, tagFloat), math.Float64bits(v)), nil
	case string:
		return appendString(append(b, tagString), v), nil
	case []any:
		b = append(b, tagList)
		if v == nil {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(len(v))+1)
		for i, e := range v {
			if b, err = c.appendAny(b, e, depth+1); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return b, nil
	case map[string]any:
		return c.appendMap(append(b, tagMap), v, depth)
	}
	return c.appendOther(b, reflect.ValueOf(v), depth)
}

func (c *codec) appendMap(b []byte, m map[string]any, depth int) (_ []byte, err error) {
	if m == nil {
		return append(b, 0), nil
	}
	b = binary.AppendUvarint(b, uint64(len(m))+1)
	for k, e := range m {
		if b, err = c.appendAny(appendString(b, k), e, depth+1); err != nil {
			return nil, fmt.Errorf("[%q]: %w", k, err)
		}
	}
	return b, nil
}

// appendOther writes a value of a type that is not one of those in JSON: as it is, or
// as what comes nearest.
func (c *codec) appendOther(b []byte, v reflect.Value, depth int) ([]byte, error) {
	for i, t := range exactTypes() {
		if v.Type() == t {
			return c.exact[i].put(append(b, byte(tagExact+i)), v, depth+1)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return c.appendAny(b, v.Bool(), depth+1)
	case reflect.String:
		return c.appendAny(b, v.String(), depth+1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return c.appendAny(b, int(v.Int()), depth+1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return c.appendAny(b, v.Uint(), depth+1)
	case reflect.Float32, reflect.Float64:
		return c.appendAny(b, v.Float(), depth+1)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, tagNil), nil
		}
		return c.appendAny(b, v.Elem().Interface(), depth+1)
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return c.appendAny(b, list, depth+1)
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			m[fmt.Sprint(it.Key())] = it.Value().Interface()
		}
		return c.appendAny(b, m, depth+1)
	}
	return nil, fmt.Errorf("a value of type %s cannot be handed over", v.Type())
}

// getAny reads the value of an interface.
func (c *codec) getAny(d *decoder, v reflect.Value, depth int) error {
	x, err := c.readAny(d, depth)
	if err != nil {
		return err
	}
	if x == nil {
		v.SetZero()
		return nil
	}
	v.Set(reflect.ValueOf(x))
	return nil
}

func (c *codec) readAny(d *decoder, depth int) (any, error) {
	tag, err := d.byte()
	if err != nil || depth > maxDepth {
		return nil, cmpErr(err, errDeep)
	}
	switch tag {
	case tagNil:
		return nil, nil
	case tagFalse, tagTrue:
		return tag == tagTrue, nil
	case tagInt:
		x, err := d.int()
		return int(x), err
	case tagFloat:
		return d.float()
	case tagString:
		return d.string()
	case tagList:
		return c.readList(d, depth)
	case tagMap:
		return c.readMap(d, depth)
	}
	types := exactTypes()
	if int(tag)-tagExact >= len(types) {
		return nil, errShort
	}
	t := types[tag-tagExact]
	v := reflect.New(t).Elem()
	if err := c.exact[tag-tagExact].get(d, v, depth+1); err != nil {
		return nil, err
	}
	return v.Interface(), nil
}

func (c *codec) readList(d *decoder, depth int) (any, error) {
	n, err := d.length()
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return []any(nil), nil
	}
	list := make([]any, 0, min(n, 1024))
	for range n {
		e, err := c.readAny(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (c *codec) readMap(d *decoder, depth int) (map[string]any, error) {
	n, err := d.length()
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, nil
	}
	m := make(map[string]any, min(n, 1024))
	for range n {
		k, err := d.string()
		if err != nil {
			return nil, err
		}
		if m[k], err = c.readAny(d, depth+1); err != nil {
			return nil, err
		}
	}
	return m, nil
}
