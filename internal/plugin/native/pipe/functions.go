package pipe

import (
	"context"
	"fmt"
	"reflect"

	"github.com/idelchi/aura/sdk"
)

// Function is one function that a plugin may export, seen from both ends.
type Function struct {
	Name      string
	Signature string // As %T prints it.

	// Stub makes a function of this signature that calls the plugin. One without an
	// error result panics with the error of the call.
	Stub func(Caller) any

	types []reflect.Type
	serve func(c *codec, fn any) (handler, bool)
}

// Caller makes calls: args writes the arguments, results reads the results. The
// error of the function, a *Panic, or whatever kept the call from being made is
// returned.
type Caller interface {
	Call(ctx context.Context, function string, args func(*Writer), results func(*Reader)) error
}

// handler is a function of the plugin behind its encoding.
type handler func(ctx context.Context, in *Reader, out *Writer) error

// Writer and Reader encode the values of one call, up to the first error.
type (
	Writer struct {
		codec *codec
		b     []byte
		err   error
	}
	Reader struct {
		codec *codec
		d     *decoder
		err   error
	}
)

func (w *Writer) put(ptr any) {
	if w.err == nil {
		b, err := w.codec.append(w.b, ptr)
		if err == nil {
			w.b = b
		}
		w.err = err
	}
}

func (r *Reader) get(ptr any) {
	if r.err == nil {
		r.err = r.codec.read(r.d, ptr)
	}
}

// Functions are all of them, in an order that both ends share.
func Functions() []Function {
	return []Function{
		hook[sdk.BeforeChatContext, sdk.Result]("BeforeChat"),
		hook[sdk.AfterResponseContext, sdk.Result]("AfterResponse"),
		hook[sdk.BeforeToolContext, sdk.BeforeToolResult]("BeforeToolExecution"),
		hook[sdk.AfterToolContext, sdk.Result]("AfterToolExecution"),
		hook[sdk.OnErrorContext, sdk.Result]("OnError"),
		hook[sdk.BeforeCompactionContext, sdk.Result]("BeforeCompaction"),
		hook[sdk.AfterCompactionContext, sdk.Result]("AfterCompaction"),
		hook[sdk.OnAgentSwitchContext, sdk.Result]("OnAgentSwitch"),
		hook[sdk.TransformContext, []sdk.Message]("TransformMessages"),
		hook[sdk.SessionStartContext, sdk.Result]("SessionStart"),
		hook[sdk.UserMessageContext, sdk.UserMessageResult]("UserMessage"),
		observer[sdk.StreamChunkContext]("StreamChunk"),
		hook[sdk.SessionEndContext, sdk.Result]("SessionEnd"),

		answer[sdk.ToolSchema]("Schema"),
		call2[sdk.Context, map[string]any, string]("Execute"),
		inquiry[map[string]any, sdk.ToolPaths]("Paths"),
		answer[bool]("Sandboxable"),
		answer[bool]("Parallel"),
		notification[sdk.ToolConfig]("Init"),
		answer[bool]("Available"),

		answer[sdk.CommandSchema]("Command"),
		call2[string, sdk.Context, sdk.CommandResult]("ExecuteCommand"),
	}
}

// hook is a function that takes a context and an A.
func hook[A, R any](name string) Function {
	type function = func(context.Context, A) (R, error)
	return row[function](name, func(c Caller) any {
		return function(func(ctx context.Context, a A) (r R, err error) {
			err = c.Call(ctx, name, func(w *Writer) { w.put(&a) }, func(in *Reader) { in.get(&r) })
			return r, err
		})
	}, func(f function) handler {
		return func(ctx context.Context, in *Reader, out *Writer) error {
			var a A
			if in.get(&a); in.err != nil {
				return in.err
			}
			r, err := f(ctx, a)
			if err == nil {
				out.put(&r)
			}
			return err
		}
	}, reflect.TypeFor[A](), reflect.TypeFor[R]())
}

// observer is a function that takes a context and an A and has no result.
func observer[A any](name string) Function {
	type function = func(context.Context, A) error
	return row[function](name, func(c Caller) any {
		return function(func(ctx context.Context, a A) error {
			return c.Call(ctx, name, func(w *Writer) { w.put(&a) }, nil)
		})
	}, func(f function) handler {
		return func(ctx context.Context, in *Reader, _ *Writer) error {
			var a A
			if in.get(&a); in.err != nil {
				return in.err
			}
			return f(ctx, a)
		}
	}, reflect.TypeFor[A]())
}

// call2 is a function that takes a context, an A and a B.
func call2[A, B, R any](name string) Function {
	type function = func(context.Context, A, B) (R, error)
	return row[function](name, func(c Caller) any {
		return function(func(ctx context.Context, a A, b B) (r R, err error) {
			err = c.Call(ctx, name, func(w *Writer) { w.put(&a); w.put(&b) }, func(in *Reader) { in.get(&r) })
			return r, err
		})
	}, func(f function) handler {
		return func(ctx context.Context, in *Reader, out *Writer) error {
			var a A
			var b B
			in.get(&a)
			if in.get(&b); in.err != nil {
				return in.err
			}
			r, err := f(ctx, a, b)
			if err == nil {
				out.put(&r)
			}
			return err
		}
	}, reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[R]())
}

// inquiry is a function from an A to an R that may fail.
func inquiry[A, R any](name string) Function {
	type function = func(A) (R, error)
	return row[function](name, func(c Caller) any {
		return function(func(a A) (r R, err error) {
			err = c.Call(context.Background(), name, func(w *Writer) { w.put(&a) }, func(in *Reader) { in.get(&r) })
			return r, err
		})
	}, func(f function) handler {
		return func(_ context.Context, in *Reader, out *Writer) error {
			var a A
			if in.get(&a); in.err != nil {
				return in.err
			}
			r, err := f(a)
			if err == nil {
				out.put(&r)
			}
			return err
		}
	}, reflect.TypeFor[A](), reflect.TypeFor[R]())
}

// answer is a function that returns an R.
func answer[R any](name string) Function {
	type function = func() R
	return row[function](name, func(c Caller) any {
		return function(func() (r R) {
			if err := c.Call(context.Background(), name, nil, func(in *Reader) { in.get(&r) }); err != nil {
				panic(err)
			}
			return r
		})
	}, func(f function) handler {
		return func(_ context.Context, _ *Reader, out *Writer) error {
			r := f()
			out.put(&r)
			return nil
		}
	}, reflect.TypeFor[R]())
}

// notification is a function that takes an A.
func notification[A any](name string) Function {
	type function = func(A)
	return row[function](name, func(c Caller) any {
		return function(func(a A) {
			if err := c.Call(context.Background(), name, func(w *Writer) { w.put(&a) }, nil); err != nil {
				panic(err)
			}
		})
	}, func(f function) handler {
		return func(_ context.Context, in *Reader, _ *Writer) error {
			var a A
			if in.get(&a); in.err != nil {
				return in.err
			}
			f(a)
			return nil
		}
	}, reflect.TypeFor[A]())
}

// row makes an entry of the table for functions of type F.
func row[F any](name string, stub func(Caller) any, serve func(F) handler, types ...reflect.Type) Function {
	var zero F
	return Function{
		Name: name, Signature: fmt.Sprintf("%T", zero), Stub: stub, types: types,
		serve: func(_ *codec, fn any) (handler, bool) {
			f, ok := fn.(F)
			if !ok {
				return nil, false
			}
			return serve(f), true
		},
	}
}
