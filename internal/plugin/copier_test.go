package plugin

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/idelchi/aura/internal/lifecycle"
	"github.com/idelchi/aura/sdk"
)

// Whatever a moment hands over, a plugin that reaches everything gets its own copy of
// everything, and one that reaches nothing costs no copy.
func TestCopierOfEveryMoment(t *testing.T) {
	t.Parallel()
	for _, row := range lifecycle.Moments() {
		data := reflect.ValueOf(row.Sample(sdk.Context{}, lifecycle.Sample{})).Elem()
		fill(data)
		before, err := json.Marshal(data.Interface())
		if err != nil {
			t.Fatal(err)
		}
		all := copierOf(data.Type(), func(string, reflect.Type) bool { return true })
		own := reflect.New(data.Type()).Elem()
		own.Set(data)
		all(own)
		if same, _ := json.Marshal(own.Interface()); string(same) != string(before) {
			t.Errorf("%s: the copy is different:\n%s\n%s", row.Moment, before, same)
		}
		spoil(own)
		if after, _ := json.Marshal(data.Interface()); string(after) != string(before) {
			t.Errorf("%s: the copy shares something:\n%s\n%s", row.Moment, before, after)
		}
		if copierOf(data.Type(), func(string, reflect.Type) bool { return false }) != nil {
			t.Errorf("%s: something is copied for nobody", row.Moment)
		}
	}
}

// fill puts something into every part of a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e)
		v.SetMapIndex(reflect.ValueOf("key"), e)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"list": []any{"x", map[string]any{"y": "z"}}}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// spoil changes every part of a value that could be shared.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			spoil(it.Value())
		}
		v.SetMapIndex(reflect.ValueOf("key"), reflect.Zero(v.Type().Elem()))
	case reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	}
}
