// Package jsontext writes JSON as models, extensions and users read it: without the
// escapes meant for HTML. What is mostly long texts, which encoding/json copies several
// times, it appends to a buffer. It copies what JSON can express, and parses nothing.
package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Marshal is json.Marshal without the escapes meant for HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// NewEncoder is json.NewEncoder without the escapes meant for HTML.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD, and
// nothing is escaped that need not be: models read these texts.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := plain(s); i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[done:i]...), `\ufffd`...)
				done = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[done:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		done = i
		i += plain(s[i:])
	}
	return append(append(b, s[done:]...), '"')
}

// plain returns how many bytes at the beginning of s surely need no escaping. It looks
// at eight bytes at a time.
func plain(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := x^ones*'"', x^ones*'\\'
		// The top bit of each byte that is not ASCII, a control character, a quote or
		// a backslash. Bits above the lowest one may be wrong.
		if found := (x | (x - ones*' ') | (quote - ones) | (slash - ones)) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// AppendValue appends v as JSON with sorted keys. What JSON cannot express is null.
func AppendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return AppendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return appendFloat(b, v)
	case []any:
		if v == nil {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendValue(b, x)
		}
		return append(b, ']')
	case map[string]any:
		return AppendObject(b, v)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, out...)
}

// AppendObject appends m as a JSON object with sorted keys; nil is an empty one.
func AppendObject(b []byte, m map[string]any) []byte {
	keys := make([]string, 0, 16) // Enough for nearly all, without an allocation.
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, key), ':')
		b = AppendValue(b, m[key])
	}
	return append(b, '}')
}

func appendFloat(b []byte, f float64) []byte {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(b, "null"...)
	case a != 0 && (a < 1e-6 || a >= 1e21):
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	default:
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
}
