package lifecycle

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/idelchi/aura/sdk"
)

// shape is what a row knows about its types, for code that treats all moments alike.
// It is made by row.
type shape struct {
	Events []PythonEvent // Python events, in the order in which handlers of one extension run.

	data     reflect.Type // Pointer to the SDK context.
	base     int          // Index of sdk.Context in it.
	function reflect.Type // Go plugin function.
	apply    func(data any, r *Reply) (next any, changed bool)
	sample   func(c sdk.Context, s Sample) any
	adapt    func(fn any, around Around) (Handler, bool)
}

// PythonEvent is Python for code that treats all moments alike.
type PythonEvent struct {
	Name   string
	Fields func(ev *Event) any  // Its attributes, as a value that encodes to a JSON object.
	Match  func(ev *Event) bool // Whether it happens; nil: always.
	view   reflect.Type         // A struct whose fields with a JSON name are the attributes.
}

// Around runs a call into a plugin. data points to the plugin's own copy of the moment's
// context, which may be completed before call is run.
type Around func(ctx context.Context, data any, call func(context.Context) error) error

// row completes a row by its types.
func row[C, R any](r Row, t Types[C, R]) Row {
	if r.Order == nil {
		r.Order = before
	}
	r.data = reflect.TypeFor[*C]()
	base, ok := r.data.Elem().FieldByName("Context")
	if !ok || len(base.Index) != 1 {
		panic(fmt.Sprintf("lifecycle: %s does not embed sdk.Context", r.data.Elem()))
	}
	r.base = base.Index[0]
	for _, p := range t.Python {
		r.Events = append(r.Events, p.erase())
	}
	r.apply = t.erasedApply
	r.sample = func(c sdk.Context, s Sample) any {
		d := new(C)
		*r.contextOf(d) = c
		if t.Sample != nil {
			t.Sample(d, s)
		}
		return d
	}
	r.function, r.adapt = t.function()
	return r
}

// contextOf returns the snapshot inside of data of this row.
func (s *shape) contextOf(data any) *sdk.Context {
	return reflect.ValueOf(data).Elem().Field(s.base).Addr().Interface().(*sdk.Context)
}

// Sample makes up data to try a handler with: a pointer to the moment's SDK context.
func (s *shape) Sample(c sdk.Context, with Sample) any { return s.sample(c, with) }

// Signature is the type that a Go plugin function must have.
func (s *shape) Signature() string { return s.function.String() }

// FunctionType is that type.
func (s *shape) FunctionType() reflect.Type { return s.function }

// Context is the name of the type that the Go plugin function takes.
func (s *shape) Context() string { return s.function.In(1).String() }

// Result is the name of the type that the Go plugin function returns beside an error;
// empty if it only observes.
func (s *shape) Result() string {
	if s.function.NumOut() == 1 {
		return ""
	}
	return s.function.Out(0).String()
}

// Adapt makes a handler of fn, a function that a Go plugin exports. It reports false if
// fn has another signature.
func (s *shape) Adapt(fn any, around Around) (Handler, bool) { return s.adapt(fn, around) }

// erasedApply is Apply on a copy of data.
func (t *Types[C, R]) erasedApply(data any, r *Reply) (any, bool) {
	if t.Apply == nil {
		return data, false
	}
	next := *data.(*C)
	if !t.Apply(&next, r) {
		return data, false
	}
	return &next, true
}

// function is the type of the Go plugin function, and what makes a handler of one.
func (t *Types[C, R]) function() (reflect.Type, func(any, Around) (Handler, bool)) {
	if reflect.TypeFor[R]() == reflect.TypeFor[None]() {
		type function = func(context.Context, C) error
		return reflect.TypeFor[function](), func(fn any, around Around) (Handler, bool) {
			f, ok := fn.(function)
			return handlerOf(around, func(ctx context.Context, x *exchange[C, R]) error { return f(ctx, x.data) },
				func(*R) Reply { return Reply{} }), ok
		}
	}
	reply := t.Reply
	if reply == nil {
		reply = func(r *R) Reply { return Reply{Result: *any(r).(*sdk.Result)} }
	}
	type function = func(context.Context, C) (R, error)
	return reflect.TypeFor[function](), func(fn any, around Around) (Handler, bool) {
		f, ok := fn.(function)
		return handlerOf(around, func(ctx context.Context, x *exchange[C, R]) (err error) {
			x.result, err = f(ctx, x.data)
			return err
		}, reply), ok
	}
}

// exchange is what goes into a call and what comes back. It outlives a call that is
// given up.
type exchange[C, R any] struct {
	data   C
	result R
}

// handlerOf makes a handler of a function that works on a copy of the data.
func handlerOf[C, R any](
	around Around, f func(context.Context, *exchange[C, R]) error, reply func(*R) Reply,
) Handler {
	var spare atomic.Pointer[exchange[C, R]] // Of a call that has returned: they are large.
	return HandlerFunc(func(ctx context.Context, ev *Event) (Reply, error) {
		data, ok := ev.Data.(*C)
		if !ok {
			return Reply{}, fmt.Errorf("unexpected data %T", ev.Data)
		}
		x := spare.Swap(nil)
		if x == nil {
			x = new(exchange[C, R])
		}
		x.data = *data
		if err := around(ctx, &x.data, func(ctx context.Context) error { return f(ctx, x) }); err != nil {
			return Reply{}, err
		}
		out := reply(&x.result)
		*x = exchange[C, R]{} // Keeps nothing of the conversation.
		spare.Store(x)
		return out, nil
	})
}

// erase is p without its type.
func (p Python[C]) erase() PythonEvent {
	e := PythonEvent{Name: p.Name, view: reflect.TypeFor[C]()}
	if p.Fields == nil {
		e.Fields = func(ev *Event) any { return attributesOf(reflect.ValueOf(ev.Data).Elem()) }
	} else {
		e.Fields = func(ev *Event) any { return p.Fields(ev.Data.(*C), ev.changed) }
		e.view = reflect.TypeOf(p.Fields(new(C), false))
	}
	if p.Match != nil {
		e.Match = func(ev *Event) bool { return p.Match(ev.Data.(*C)) }
	}
	return e
}

// Attribute is one attribute of a Python event.
type Attribute struct {
	Name string
	Type reflect.Type
}

// Attributes lists what handlers of the event see.
func (e *PythonEvent) Attributes() []Attribute {
	var list []Attribute
	for f := range e.view.Fields() {
		if name := attribute(&f); name != "" {
			list = append(list, Attribute{name, f.Type})
		}
	}
	return list
}

// attributesOf are the fields of an SDK context that are not in sdk.Context.
func attributesOf(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if name := attribute(&f); name != "" {
			out[name] = v.Field(i).Interface()
		}
	}
	return out
}

// attribute is the JSON name of a field; empty for the snapshot.
func attribute(f *reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
