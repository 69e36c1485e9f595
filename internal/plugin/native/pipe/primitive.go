package pipe

import (
	"encoding/binary"
	"math"
	"reflect"
	"time"
)

func putBool(b []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.Bool() {
		return append(b, 1), nil
	}
	return append(b, 0), nil
}

func getBool(d *decoder, v reflect.Value, _ int) error {
	x, err := d.byte()
	v.SetBool(x == 1)
	return err
}

func putInt(b []byte, v reflect.Value, _ int) ([]byte, error) {
	return binary.AppendVarint(b, v.Int()), nil
}

func getInt(d *decoder, v reflect.Value, _ int) error {
	x, err := d.int()
	v.SetInt(x)
	return err
}

func putUint(b []byte, v reflect.Value, _ int) ([]byte, error) {
	return binary.AppendUvarint(b, v.Uint()), nil
}

func getUint(d *decoder, v reflect.Value, _ int) error {
	x, err := d.uint()
	v.SetUint(x)
	return err
}

func putFloat(b []byte, v reflect.Value, _ int) ([]byte, error) {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
}

func getFloat(d *decoder, v reflect.Value, _ int) error {
	x, err := d.float()
	v.SetFloat(x)
	return err
}

func putString(b []byte, v reflect.Value, _ int) ([]byte, error) {
	s := v.String()
	if len(s) > MaxMessage {
		return nil, tooLarge(len(s)) // Before it is copied.
	}
	return appendString(b, s), nil
}

func getString(d *decoder, v reflect.Value, _ int) error {
	s, err := d.string()
	v.SetString(s)
	return err
}

func putBytes(b []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.IsNil() {
		return append(b, 0), nil
	}
	return append(binary.AppendUvarint(b, uint64(v.Len())+1), v.Bytes()...), nil
}

func getBytes(d *decoder, v reflect.Value, _ int) error {
	n, err := d.length()
	if err != nil || n < 0 {
		v.SetZero()
		return err
	}
	v.SetBytes(append([]byte{}, d.rest[:n]...))
	d.rest = d.rest[n:]
	return nil
}

func putStrings(b []byte, v reflect.Value, _ int) ([]byte, error) {
	list := v.Interface().([]string)
	if list == nil {
		return append(b, 0), nil
	}
	b = appendUint(b, uint64(len(list))+1)
	for _, s := range list {
		b = appendString(b, s)
	}
	return b, nil
}

func getStrings(d *decoder, v reflect.Value, _ int) error {
	n, err := d.length()
	if err != nil || n < 0 {
		v.SetZero()
		return err
	}
	list := make([]string, n)
	for i := range list {
		if list[i], err = d.string(); err != nil {
			return err
		}
	}
	v.Set(reflect.ValueOf(list))
	return nil
}

func putTime(b []byte, v reflect.Value, _ int) ([]byte, error) {
	text, err := v.Interface().(time.Time).MarshalBinary()
	return appendString(b, string(text)), err
}

func getTime(d *decoder, v reflect.Value, _ int) error {
	text, err := d.string()
	if err != nil {
		return err
	}
	var t time.Time
	if err := t.UnmarshalBinary([]byte(text)); err != nil {
		return err
	}
	v.Set(reflect.ValueOf(t))
	return nil
}

func appendUint(b []byte, x uint64) []byte { return binary.AppendUvarint(b, x) }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (d *decoder) byte() (byte, error) {
	if len(d.rest) == 0 {
		return 0, errShort
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b, nil
}

func (d *decoder) int() (int64, error) {
	x, n := binary.Varint(d.rest)
	if n <= 0 {
		return 0, errShort
	}
	d.rest = d.rest[n:]
	return x, nil
}

func (d *decoder) uint() (uint64, error) {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 {
		return 0, errShort
	}
	d.rest = d.rest[n:]
	return x, nil
}

func (d *decoder) float() (float64, error) {
	if len(d.rest) < 8 {
		return 0, errShort
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(d.rest))
	d.rest = d.rest[8:]
	return x, nil
}

// length reads the length of a slice or map; -1 is nil. Each element has at least
// one byte.
func (d *decoder) length() (int, error) {
	x, err := d.uint()
	if err != nil || x > uint64(len(d.rest))+1 {
		return 0, errShort
	}
	return int(x) - 1, nil
}

func (d *decoder) string() (string, error) {
	x, err := d.uint()
	if err != nil || x > uint64(len(d.rest)) {
		return "", errShort
	}
	var s string
	if d.text != "" {
		at := len(d.text) - len(d.rest)
		s = d.text[at : at+int(x)]
	} else {
		s = string(d.rest[:x])
	}
	d.rest = d.rest[x:]
	return s, nil
}
