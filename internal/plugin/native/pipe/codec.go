// Package pipe is how aura and a plugin that runs as a process of its own speak
// with each other: the encoding of SDK values, the frames, and both ends of a call.
// It starts no process and knows nothing about hooks, tools and commands.
//
// Its source is compiled into every such plugin, together with the SDK, so that
// both ends always agree. It imports nothing else than that and the standard
// library.
//
// The lines of JSON that aura and Python speak would do, and be less code, but not fast
// enough. BenchmarkWire, least of several runs on two cores of a server that others
// used too: one call with a context of 4 KB takes 23 µs and 78 µs as JSON, of which
// decoding alone is 60 µs; without the history, which most plugins do not look at, it
// takes 18 µs and 36 µs. The limit is 60 µs. Values of type any would also lose their
// types: numbers of a plugin's configuration would not be what they are for an
// interpreted plugin.
package pipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/idelchi/aura/sdk"
)

// maxDepth bounds how deep values may be nested.
const maxDepth = 200

var (
	errShort = errors.New("the message is cut off or not valid")
	errDeep  = fmt.Errorf("values are nested more than %d deep", maxDepth)
)

// codec encodes and decodes values. A value is the sequence of its parts: both ends
// have the same types and need no names. It is safe for concurrent use.
type codec struct {
	omit  []string // Fields of sdk.Context that are written as if they were empty.
	exact []*plan  // Of exactTypes.

	mu    sync.Mutex
	plans map[reflect.Type]*plan
}

// plan is how one type is written and read.
type plan struct {
	put func(b []byte, v reflect.Value, depth int) ([]byte, error)
	get func(d *decoder, v reflect.Value, depth int) error // v can be set.
}

// decoder reads what is left of a message.
type decoder struct {
	rest []byte
	text string // Ends as rest does, if its strings are to be parts of one.
}

// newDecoder reads a message. The strings of a small one share its memory: that is
// a third of the cost, and whoever keeps one of them keeps little else.
func newDecoder(message []byte) *decoder {
	d := &decoder{rest: message}
	if len(message) <= 16<<10 {
		d.text = string(message)
	}
	return d
}

func newCodec() *codec {
	c := &codec{plans: map[reflect.Type]*plan{}}
	for _, t := range exactTypes() {
		c.exact = append(c.exact, c.plan(t))
	}
	return c
}

// append encodes a value.
func (c *codec) append(b []byte, v reflect.Value) ([]byte, error) {
	return c.planned(v.Type()).put(b, v, 0)
}

// read decodes a value, which can be set.
func (c *codec) read(d *decoder, v reflect.Value) error { return c.planned(v.Type()).get(d, v, 0) }

// appendAll encodes values one after another.
func (c *codec) appendAll(b []byte, list []reflect.Value) (_ []byte, err error) {
	for _, v := range list {
		if b, err = c.append(b, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// readAll decodes values one after another.
func (c *codec) readAll(d *decoder, list []reflect.Value) error {
	for _, v := range list {
		if err := c.read(d, v); err != nil {
			return err
		}
	}
	return nil
}

// planned returns the plan of a type. Plans are complete when others see them.
func (c *codec) planned(t reflect.Type) *plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan(t)
}

// plan returns the plan of a type. The caller holds mu, or is the only one.
func (c *codec) plan(t reflect.Type) *plan {
	if p, ok := c.plans[t]; ok {
		return p
	}
	p := &plan{}
	c.plans[t] = p // Before its parts: a type may contain itself.
	switch {
	case t == reflect.TypeFor[time.Time]():
		p.put, p.get = putTime, getTime
	case t == reflect.TypeFor[[]byte]():
		p.put, p.get = putBytes, getBytes
	case t == reflect.TypeFor[[]string]():
		p.put, p.get = putStrings, getStrings
	case t == reflect.TypeFor[map[string]any](): // The arguments of tools.
		p.put = func(b []byte, v reflect.Value, depth int) ([]byte, error) {
			return c.appendMap(b, v.Interface().(map[string]any), depth)
		}
		p.get = func(d *decoder, v reflect.Value, depth int) error {
			m, err := c.readMap(d, depth)
			v.Set(reflect.ValueOf(m))
			return err
		}
	default:
		c.build(p, t)
	}
	return p
}

func (c *codec) build(p *plan, t reflect.Type) {
	switch t.Kind() {
	case reflect.Bool:
		p.put, p.get = putBool, getBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.put, p.get = putInt, getInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.put, p.get = putUint, getUint
	case reflect.Float32, reflect.Float64:
		p.put, p.get = putFloat, getFloat
	case reflect.String:
		p.put, p.get = putString, getString
	case reflect.Slice:
		c.slice(p, t)
	case reflect.Map:
		c.mapping(p, t)
	case reflect.Pointer:
		c.pointer(p, t)
	case reflect.Struct:
		c.structure(p, t)
	case reflect.Interface:
		p.put, p.get = c.putAny, c.getAny
	default:
		err := fmt.Errorf("a value of type %s cannot be handed over", t)
		p.put = func([]byte, reflect.Value, int) ([]byte, error) { return nil, err }
		p.get = func(*decoder, reflect.Value, int) error { return err }
	}
}

// The lengths of slices and maps are one more than they are: nil is 0.

func (c *codec) slice(p *plan, t reflect.Type) {
	elem := c.plan(t.Elem())
	p.put = func(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
		if depth > maxDepth {
			return nil, errDeep
		}
		if v.IsNil() {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		for i := range v.Len() {
			if b, err = elem.put(b, v.Index(i), depth+1); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	p.get = func(d *decoder, v reflect.Value, depth int) error {
		n, err := d.length()
		if err != nil || depth > maxDepth {
			return cmpErr(err, errDeep)
		}
		if n < 0 {
			v.SetZero()
			return nil
		}
		// Room for what such a message usually holds, not for what this one claims.
		v.Set(reflect.MakeSlice(t, min(n, 1024), min(n, 1024)))
		for i := range n {
			if i == v.Len() {
				v.Grow(1)
				v.SetLen(min(v.Cap(), n))
			}
			if err := elem.get(d, v.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *codec) mapping(p *plan, t reflect.Type) {
	key, elem := c.plan(t.Key()), c.plan(t.Elem())
	p.put = func(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
		if depth > maxDepth {
			return nil, errDeep
		}
		if v.IsNil() {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		for it := v.MapRange(); it.Next(); {
			if b, err = key.put(b, it.Key(), depth+1); err != nil {
				return nil, err
			}
			if b, err = elem.put(b, it.Value(), depth+1); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	p.get = func(d *decoder, v reflect.Value, depth int) error {
		n, err := d.length()
		if err != nil || depth > maxDepth {
			return cmpErr(err, errDeep)
		}
		if n < 0 {
			v.SetZero()
			return nil
		}
		m := reflect.MakeMapWithSize(t, min(n, 1024))
		k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		for range n {
			k.SetZero()
			e.SetZero()
			if err := key.get(d, k, depth+1); err != nil {
				return err
			}
			if err := elem.get(d, e, depth+1); err != nil {
				return err
			}
			m.SetMapIndex(k, e)
		}
		v.Set(m)
		return nil
	}
}

func (c *codec) pointer(p *plan, t reflect.Type) {
	elem := c.plan(t.Elem())
	p.put = func(b []byte, v reflect.Value, depth int) ([]byte, error) {
		switch {
		case depth > maxDepth:
			return nil, errDeep
		case v.IsNil():
			return append(b, 0), nil
		}
		return elem.put(append(b, 1), v.Elem(), depth+1)
	}
	p.get = func(d *decoder, v reflect.Value, depth int) error {
		there, err := d.byte()
		if err != nil || depth > maxDepth {
			return cmpErr(err, errDeep)
		}
		if there == 0 {
			v.SetZero()
			return nil
		}
		e := reflect.New(t.Elem())
		if err := elem.get(d, e.Elem(), depth+1); err != nil {
			return err
		}
		v.Set(e)
		return nil
	}
}

func (c *codec) structure(p *plan, t reflect.Type) {
	type part struct {
		index int
		*plan
	}
	var parts []part
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		p := c.plan(f.Type)
		if t == reflect.TypeFor[sdk.Context]() && slices.Contains(c.omit, f.Name) {
			put, zero := p.put, reflect.Zero(f.Type)
			p = &plan{func(b []byte, _ reflect.Value, depth int) ([]byte, error) { return put(b, zero, depth) }, p.get}
		}
		parts = append(parts, part{i, p})
	}
	p.put = func(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
		for _, f := range parts {
			if b, err = f.put(b, v.Field(f.index), depth+1); err != nil {
				return nil, fmt.Errorf("%s: %w", t.Field(f.index).Name, err)
			}
		}
		return b, nil
	}
	p.get = func(d *decoder, v reflect.Value, depth int) error {
		for _, f := range parts {
			if err := f.get(d, v.Field(f.index), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
}

// cmpErr is the first error that is one.
func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
