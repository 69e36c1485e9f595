package interp

import (
	"reflect"
	"sync"
	"unsafe"
)

// Contain returns f as a function that may be the outermost one of a goroutine: where
// f panics, Options.GoPanic is called and the function returns. It is for functions of
// the host that start goroutines on behalf of interpreted code, such as a stand-in for
// time.AfterFunc. Without GoPanic, it is f.
func (interp *Interpreter) Contain(f func()) func() {
	if interp.goPanic == nil {
		return f
	}
	return func() {
		defer func() {
			if v := recover(); v != nil {
				where := interp.origin.take(v)
				if r, ok := v.(reflect.Value); ok && r.IsValid() {
					v = r.Interface()
				}
				interp.goPanic(v, where)
			}
		}()
		f()
	}
}

// origin is where the latest panic began. Every function that a panic leaves recovers
// from it and panics with the same value again.
type origin struct {
	mu    sync.Mutex
	value interface{}
	where string
}

// note records that a panic leaves a function; the first one is where it began.
func (o *origin) note(value interface{}, where string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.where == "" || !same(o.value, value) {
		o.value, o.where = value, where
	}
}

// take forgets a panic and returns where it began.
func (o *origin) take(value interface{}) (where string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.where != "" && same(o.value, value) {
		where = o.where
	}
	o.value, o.where = nil, ""
	return where
}

// same reports whether two interfaces are the same one. They may not be comparable.
func same(a, b interface{}) bool {
	return *(*[2]unsafe.Pointer)(unsafe.Pointer(&a)) == *(*[2]unsafe.Pointer)(unsafe.Pointer(&b))
}

// isGoMethod reports whether a type is that of (*sync.WaitGroup).Go as a function.
func isGoMethod(t *itype) bool {
	return t != nil && t.cat == valueT && t.rtype == reflect.TypeOf((*sync.WaitGroup).Go)
}

// containMethod is gen for a method that starts a goroutine for its argument.
func containMethod(gen bltnGenerator) bltnGenerator {
	return func(n *node) {
		gen(n)
		exec, i, l := n.exec, n.findex, n.level
		n.exec = func(f *frame) bltn {
			next := exec(f)
			data := getFrame(f, l).data
			start, ok := data[i].Interface().(func(func()))
			if ok {
				data[i] = reflect.ValueOf(func(fn func()) { start(n.interp.Contain(fn)) })
			}
			return next
		}
	}
}
