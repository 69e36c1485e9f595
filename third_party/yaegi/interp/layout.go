package interp

import (
	"reflect"
	"strconv"
)

// layout is how functions that the host calls get their variables: as the fields of one
// struct, which is one allocation per call instead of one per variable.
type layout struct {
	variables reflect.Type
	wrapped   []bool // Arguments that become values of interpreted interfaces.
}

// newLayout makes the layout of a function whose types are complete.
func newLayout(def *node) *layout {
	l := &layout{wrapped: make([]bool, len(def.typ.arg))}
	for i, typ := range def.typ.arg {
		l.wrapped[i] = !isEmptyInterface(typ) && typ.TypeOf() != valueInterfaceType && isInterfaceSrc(typ)
	}
	fields := make([]reflect.StructField, len(def.types))
	for i, t := range def.types {
		fields[i] = reflect.StructField{Name: "V" + strconv.Itoa(i), Type: t}
	}
	l.variables = reflect.StructOf(fields)
	return l
}

// fill puts new variables into the data of a frame.
func (l *layout) fill(data []reflect.Value) {
	v := reflect.New(l.variables).Elem()
	for i := range data {
		data[i] = v.Field(i)
	}
}
