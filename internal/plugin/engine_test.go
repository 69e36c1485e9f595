package plugin

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/idelchi/aura/internal/plugin/native/pipe"
	"github.com/idelchi/aura/sdk"
)

// SD-04: the functions of a plugin are Go functions with the SDK types of this
// program, whichever engine runs them.
func TestTypeIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module probe\n", "main.go": `package probe

import (
	"context"

	"github.com/idelchi/aura/sdk"
)

func BeforeChat(_ context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
	return sdk.Result{Message: c.Agent}, nil
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"yaegi", "native"} {
		p, err := engineFor(name).load(t.Context(), world{
			name:   "probe",
			dir:    dir,
			env:    newEnvironment(nil, nil),
			output: io.Discard,
			cache:  t.TempDir(),
			log:    slog.New(slog.DiscardHandler),
			tell:   func(string) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := p.lookup("BeforeChat").(func(context.Context, sdk.BeforeChatContext) (sdk.Result, error))
		if !ok {
			t.Fatalf("%s: %T", name, p.lookup("BeforeChat"))
		}
		if r, err := f(
			t.Context(),
			sdk.BeforeChatContext{Context: sdk.Context{Agent: "x"}},
		); err != nil ||
			r.Message != "x" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		p.kill()
	}
}

// Every function that a plugin may export can be called in a process of its own, with
// all that its types can hold.
func TestFunctionsCrossPipes(t *testing.T) {
	t.Parallel()
	types, exported, args := functions(), map[string]any{}, sync.Map{}
	for name, typ := range types {
		exported[name] = reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
			args.Store(name, in)
			out := make([]reflect.Value, typ.NumOut())
			for i := range out {
				out[i] = example(typ.Out(i))
			}
			return out
		}).Interface()
	}
	callR, callW := io.Pipe()
	replyR, replyW := io.Pipe()
	go func() {
		_ = pipe.Serve(callR, replyW, exported)
		_ = replyW.Close()
	}()
	c, err := pipe.Connect(replyR, callW)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Heard()
	defer callW.Close()
	for name, typ := range types {
		fn, _ := c.Lookup(name, typ, c)
		if reflect.TypeOf(fn) != typ {
			t.Errorf("%s: a %T, want %s", name, fn, typ)
			continue
		}
		in := make([]reflect.Value, typ.NumIn())
		for i := range in {
			in[i] = example(typ.In(i))
		}
		for i, out := range reflect.ValueOf(fn).Call(in) {
			if want := example(typ.Out(i)); !reflect.DeepEqual(out.Interface(), want.Interface()) {
				t.Errorf("%s: result %+v, want %+v", name, out, want)
			}
		}
		got, _ := args.Load(name)
		for i, arg := range got.([]reflect.Value) {
			if _, ok := arg.Interface().(context.Context); !ok &&
				!reflect.DeepEqual(arg.Interface(), in[i].Interface()) {
				t.Errorf("%s: argument %+v, want %+v", name, arg, in[i])
			}
		}
	}
}

// example makes up a value.
func example(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t {
	case reflect.TypeFor[context.Context]():
		v.Set(reflect.ValueOf(context.Background()))
	case reflect.TypeFor[error]():
	default:
		fill(v)
	}
	return v
}
