package pipe

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// Caller makes calls. The arguments are those after the context; the results, which can
// be set, are those before the error. The error of the function, a *Panic, or whatever
// kept the call from being made is returned.
type Caller interface {
	Call(ctx context.Context, function string, args, results []reflect.Value) error
}

// signature is the type of a function, seen as a call.
type signature struct {
	args    []reflect.Type // After the context.
	results []reflect.Type // Before the error.
	context bool           // The first parameter is one.
	err     bool           // The last result is one.
}

// signatureOf takes a type of functions apart.
func signatureOf(t reflect.Type) (s signature) {
	for i := range t.NumIn() {
		s.args = append(s.args, t.In(i))
	}
	for i := range t.NumOut() {
		s.results = append(s.results, t.Out(i))
	}
	if n := len(s.args); n > 0 && s.args[0] == reflect.TypeFor[context.Context]() {
		s.context, s.args = true, s.args[1:]
	}
	if n := len(s.results); n > 0 && s.results[n-1] == reflect.TypeFor[error]() {
		s.err, s.results = true, s.results[:n-1]
	}
	return s
}

// values makes a zero value of each type, which can be set.
func values(types []reflect.Type) []reflect.Value {
	list := make([]reflect.Value, len(types))
	for i, t := range types {
		list[i] = reflect.New(t).Elem()
	}
	return list
}

// stub makes a function of type t that calls another one. One without an error result
// panics with the error of the call.
func stub(t reflect.Type, name string, through Caller) any {
	s := signatureOf(t)
	return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		ctx := context.Background()
		if s.context {
			ctx, in = in[0].Interface().(context.Context), in[1:]
		}
		out := values(s.results)
		err := through.Call(ctx, name, in, out)
		if err != nil && !s.err {
			panic(err)
		}
		if err != nil {
			out = values(s.results)
		}
		if s.err {
			e := reflect.New(reflect.TypeFor[error]()).Elem()
			if err != nil {
				e.Set(reflect.ValueOf(err))
			}
			out = append(out, e)
		}
		return out
	}).Interface()
}

// handler is a function of the plugin behind its encoding.
type handler func(ctx context.Context, in *decoder, out []byte) ([]byte, error)

// serve makes the handler of a function.
func serve(c *codec, fn reflect.Value) handler {
	s := signatureOf(fn.Type())
	call := fn.Call
	if fn.Type().IsVariadic() {
		call = fn.CallSlice
	}
	return func(ctx context.Context, in *decoder, out []byte) ([]byte, error) {
		args := values(s.args)
		if err := c.readAll(in, args); err != nil {
			return nil, err
		}
		if s.context {
			args = append([]reflect.Value{reflect.ValueOf(ctx)}, args...)
		}
		results := call(args)
		if n := len(results); s.err {
			if err, _ := results[n-1].Interface().(error); err != nil {
				return nil, err
			}
			results = results[:n-1]
		}
		return c.appendAll(out, results)
	}
}

// identity is the type of a function as both ends must see it: with the paths of all
// packages, which %T leaves out.
func identity(t reflect.Type) string {
	if t.Name() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + identity(t.Elem())
	case reflect.Slice:
		return "[]" + identity(t.Elem())
	case reflect.Map:
		return "map[" + identity(t.Key()) + "]" + identity(t.Elem())
	case reflect.Func:
		var b strings.Builder
		for i := range t.NumIn() {
			fmt.Fprintf(&b, " %s", identity(t.In(i)))
		}
		fmt.Fprintf(&b, " ) %t", t.IsVariadic())
		for i := range t.NumOut() {
			fmt.Fprintf(&b, " %s", identity(t.Out(i)))
		}
		return "func(" + b.String()
	}
	return t.String()
}
