package interp

import "reflect"

// selector is what a selector expression selects: a field, a method or a function.
type selector struct {
	name string
	typ  reflect.Type
}

// Selects reports whether the code that was compiled so far selects, anywhere, a field,
// a method or a function of a package that has this name and type. The type of a
// method has the receiver as its first parameter. Compiled code cannot reach a field
// of a struct in another way, unless it calls functions that use reflection.
func (interp *Interpreter) Selects(name string, typ reflect.Type) bool {
	interp.mutex.RLock()
	defer interp.mutex.RUnlock()
	return interp.selectors[selector{name, typ}]
}

// noteSelector records a selector. Types that only interpreted code has do not matter.
func (interp *Interpreter) noteSelector(name string, t *itype) {
	switch t.cat {
	case valueT, arrayT, mapT, ptrT, sliceT:
		s := selector{name, t.TypeOf()}
		interp.mutex.Lock()
		defer interp.mutex.Unlock()
		interp.selectors[s] = true
	}
}
