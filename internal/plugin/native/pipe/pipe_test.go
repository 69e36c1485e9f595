package pipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idelchi/aura/sdk"
)

// fill gives every part of a value something that is not zero.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MinInt32)
	case reflect.Float64:
		v.SetFloat(-0.5)
	case reflect.String:
		v.SetString("text of " + v.Type().String())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 2 {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(elem, depth+1)
		v.SetMapIndex(key, elem)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem())) // To a zero value, which is not nil.
	case reflect.Interface:
		v.Set(
			reflect.ValueOf(
				map[string]any{
					"n":     1,
					"f":     1.0,
					"nil":   nil,
					"list":  []any{"x", nil, []any{}},
					"empty": map[string]any{},
				},
			),
		)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(5, 7).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	}
}

// Types come out as they went in, full and empty.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := newCodec()
	for _, typ := range types() {
		for _, full := range []bool{true, false} {
			in, out := reflect.New(typ).Elem(), reflect.New(typ).Elem()
			if full {
				fill(in, 0)
				fill(out, 0) // What was there before must go.
			}
			b, err := c.append(nil, in)
			if err == nil {
				d := newDecoder(b)
				if err = c.read(d, out); err == nil && len(d.rest) > 0 {
					err = errors.New("something is left")
				}
			}
			if err != nil || !reflect.DeepEqual(in.Interface(), out.Interface()) {
				t.Errorf("%s: %v\n%+v\n%+v", typ, err, in, out)
			}
			for n := range b { // A message that is cut off is an error.
				if err := c.read(newDecoder(b[:n]), reflect.New(typ).Elem()); err == nil {
					t.Errorf("%s: %d of %d bytes are enough", typ, n, len(b))
					break
				}
			}
		}
	}
}

// types are some of those that cross the pipe: together they have parts of every kind.
func types() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[sdk.AfterResponseContext](), reflect.TypeFor[sdk.AfterToolContext](),
		reflect.TypeFor[sdk.TransformContext](), reflect.TypeFor[[]sdk.Message](),
		reflect.TypeFor[sdk.BeforeToolResult](), reflect.TypeFor[sdk.UserMessageResult](),
		reflect.TypeFor[sdk.ToolSchema](), reflect.TypeFor[sdk.ToolPaths](), reflect.TypeFor[sdk.ToolConfig](),
		reflect.TypeFor[sdk.CommandSchema](), reflect.TypeFor[sdk.CommandResult](), reflect.TypeFor[map[string]any](),
	}
}

// Values of type any keep their types where they can.
func TestAny(t *testing.T) {
	t.Parallel()
	type named string
	one := 1
	c := newCodec()
	for _, x := range []struct{ in, want any }{
		{int8(-1), int8(-1)}, {uint64(math.MaxUint64), uint64(math.MaxUint64)}, {float32(0.5), float32(0.5)},
		{math.Inf(1), math.Inf(1)},
		{[]byte("b"), []byte("b")}, {[]string(nil), []string(nil)}, {[]string{}, []string{}},
		{[]map[string]any{{"a": nil}}, []map[string]any{{"a": nil}}},
		{named("n"), "n"}, {&one, 1}, {(*int)(nil), nil}, {[2]int{1, 2}, []any{1, 2}},
		{map[named]bool{"k": true}, map[string]any{"k": true}},
		{map[any]any{1: "x"}, map[string]any{"1": "x"}}, {[]named{"a"}, []any{"a"}}, {time.Minute, time.Minute},
	} {
		b, err := c.appendAny(nil, x.in, 0)
		if err != nil {
			t.Errorf("%#v: %v", x.in, err)
			continue
		}
		if got, err := c.readAny(newDecoder(b), 0); err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%#v: %#v, %v", x.in, got, err)
		}
	}
	loop := []any{nil}
	loop[0] = loop
	for _, bad := range []any{make(chan int), func() {}, struct{ A int }{1}, map[string]any{"a": make(chan int)},
		loop} {
		if _, err := c.appendAny(nil, bad, 0); err == nil {
			t.Errorf("%T was handed over", bad)
		}
	}
}

// Messages of all sizes pass, whatever pieces they arrive in.
func TestFrames(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	sizes := []int{0, 1, 100, 64<<10 - 5, 64 << 10, 300 << 10, 3, 1 << 20, 0}
	for _, n := range sizes {
		if err := sendFrame(&b, append(newFrame(nil, kindCall), strings.Repeat("x", n)...)); err != nil {
			t.Fatal(err)
		}
	}
	all := b.Bytes()
	for _, step := range []int{1000, 70_000, len(all)} {
		r := &frameReader{in: &pieces{all, step}}
		for i, n := range sizes {
			kind, d, err := r.next()
			if err != nil || kind != kindCall || len(d.rest) != n {
				t.Fatalf("pieces of %d: message %d: %v", step, i, err)
			}
			if i%3 == 1 {
				kept := r.take(d)
				r = r.successor()
				if len(kept) != n {
					t.Errorf("%d bytes kept", len(kept))
				}
			}
		}
		if _, _, err := r.next(); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
	}
	for _, head := range []string{"\x00\x00\x00\x00", "\xff\xff\xff\xff", "\x01\x00"} {
		if _, _, err := (&frameReader{in: strings.NewReader(head)}).next(); err == nil {
			t.Errorf("%q is a message", head)
		}
	}
}

type pieces struct {
	rest []byte
	step int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.step)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Both ends together, in one process.
func TestCalls(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	f := connect(t, func(ctx context.Context, c sdk.BeforeChatContext) (sdk.Result, error) {
		switch c.Agent {
		case "error":
			return sdk.Result{Message: "dropped"}, errors.New("no good")
		case "panic":
			panic(errors.New("boom"))
		case "wait":
			close(waiting)
			<-ctx.Done()
		}
		return sdk.Result{Message: c.Agent}, nil
	})
	in := func(agent string) sdk.BeforeChatContext {
		return sdk.BeforeChatContext{Context: sdk.Context{Agent: agent}}
	}
	if r, err := f(t.Context(), in("echo")); err != nil || r.Message != "echo" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := f(t.Context(), in("error")); err == nil || err.Error() != "no good" || r.Message != "" {
		t.Errorf("%+v, %v", r, err)
	}
	_, err := f(t.Context(), in("panic"))
	if p, ok := errors.AsType[*Panic](err); !ok || p.Value != "boom" || !strings.Contains(p.Stack, "goroutine") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waiting
		cancel()
	}()
	_, err = f(ctx, in("wait"))
	p, ok := errors.AsType[*Pending](err)
	if !ok || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-p.Done() // It was told.
	if r, err := f(t.Context(), in("afterwards")); err != nil || r.Message != "afterwards" {
		t.Errorf("%+v, %v", r, err)
	}
}

type beforeChat = func(context.Context, sdk.BeforeChatContext) (sdk.Result, error)

// connect returns a function that is called through a pair of pipes.
func connect(t testing.TB, f beforeChat) beforeChat {
	t.Helper()
	callR, callW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	replyR, replyW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = Serve(callR, replyW, map[string]any{"BeforeChat": f, "OnError": 5, "Schema": func() int { return 1 }})
		_ = replyW.Close()
	}()
	c, err := Connect(replyR, callW)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = callW.Close()
		<-ended
		if c.Heard() {
			t.Error("a call was lost")
		}
		_ = callR.Close()
		_ = replyR.Close()
	})
	if fn, sig := c.Lookup("Schema", reflect.TypeFor[func() sdk.ToolSchema](), c); fn != nil || sig != "func() int" {
		t.Errorf("Schema: %T %q", fn, sig)
	}
	if fn, sig := c.Lookup("OnError", reflect.TypeFor[beforeChat](), c); fn != nil || sig != "" {
		t.Errorf("OnError: %T %q", fn, sig)
	}
	fn, _ := c.Lookup("BeforeChat", reflect.TypeFor[beforeChat](), c)
	return fn.(beforeChat)
}

// Whatever a process sends, it is an error or a value, and nothing worse.
func FuzzDecode(f *testing.F) {
	c := newCodec()
	for _, typ := range types() {
		v := reflect.New(typ).Elem()
		fill(v, 0)
		if b, err := c.append(nil, v); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte{tagList, 200, 200, 200, 200, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, ptr := range []any{new(sdk.BeforeToolResult), new([]sdk.Message), new(sdk.ToolSchema), new(any)} {
			v := reflect.ValueOf(ptr).Elem()
			if c.read(newDecoder(b), v) != nil {
				continue
			}
			again, err := c.append(nil, v)
			if err != nil {
				t.Errorf("%T cannot be sent back: %v", ptr, err)
			}
			if err := c.read(newDecoder(again), v); err != nil {
				t.Errorf("%T: %v", ptr, err)
			}
		}
		r := &frameReader{in: bytes.NewReader(b)}
		for {
			if _, _, err := r.next(); err != nil {
				return
			}
		}
	})
}

func BenchmarkContext(b *testing.B) {
	c := newCodec()
	x := reflect.ValueOf(new(sdk.BeforeChatContext)).Elem()
	fill(x, 0)
	var room []byte
	for b.Loop() {
		var err error
		if room, err = c.append(room[:0], x); err != nil {
			b.Fatal(err)
		}
		if err := c.read(newDecoder(room), x); err != nil {
			b.Fatal(err)
		}
	}
}
