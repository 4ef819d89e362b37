package protobuf

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// The fields of google.protobuf.Value, of which one is set.
const (
	valueNull   = 1
	valueNumber = 2
	valueString = 3
	valueBool   = 4
	valueStruct = 5
	valueList   = 6
)

// any decodes a google.protobuf.Value into nil, float64, string, bool, map[string]any or []any. Where the same field came
// before, what it held is merged with, as messages are that come twice: objects and lists grow, others are replaced.
func (d *decoder) any(data []byte, left int, before any) (decoded any, err *codec.Error) {
	decoded = before
	err = d.each(data, func(number protowire.Number, wire protowire.Type, b []byte, n uint64) *codec.Error {
		switch {
		case number == valueNull && wire == protowire.VarintType:
			decoded = nil
		case number == valueNumber && wire == protowire.Fixed64Type:
			decoded = math.Float64frombits(n)
		case number == valueBool && wire == protowire.VarintType:
			decoded = n != 0
		case number == valueString && wire == protowire.BytesType:
			if !utf8.Valid(b) {
				return d.fault(b, badUTF8)
			}
			decoded = string(b)
		case number == valueStruct && wire == protowire.BytesType:
			object, _ := decoded.(map[string]any)
			decoded, err = d.anyMap(b, left, object)
			return err
		case number == valueList && wire == protowire.BytesType:
			list, _ := decoded.([]any)
			decoded, err = d.anyList(b, left, list)
			return err
		}
		return nil
	})
	return decoded, err
}

// each calls do with every field in data: with its bytes, or with its number.
func (d *decoder) each(data []byte, do func(number protowire.Number, wire protowire.Type, b []byte, n uint64) *codec.Error) *codec.Error {
	for len(data) > 0 {
		tag, size := consumeTag(data)
		if size < 0 {
			return d.fault(data, brokenTag)
		}
		number, wire := protowire.Number(tag>>3), protowire.Type(tag&7)
		var b []byte
		var n uint64
		var used int
		switch wire {
		case protowire.VarintType:
			n, used = consumeVarint(data[size:])
		case protowire.Fixed64Type:
			n, used = protowire.ConsumeFixed64(data[size:])
		case protowire.BytesType:
			b, used = protowire.ConsumeBytes(data[size:])
		default:
			used = protowire.ConsumeFieldValue(number, wire, data[size:])
		}
		if used < 0 {
			return d.fault(data, brokenField)
		}
		if err := do(number, wire, b, n); err != nil {
			return err
		}
		data = data[size+used:]
	}
	return nil
}

const anyTooDeep = "more than 128 messages inside each other"

func (d *decoder) anyList(data []byte, left int, list []any) (any, *codec.Error) {
	if left == 0 {
		return nil, d.fault(data, anyTooDeep)
	}
	if list == nil {
		list = []any{}
	}
	err := d.each(data, func(number protowire.Number, wire protowire.Type, b []byte, _ uint64) *codec.Error {
		if number != 1 || wire != protowire.BytesType {
			return nil
		}
		v, err := d.any(b, left-1, nil)
		if err != nil {
			return layout.UnderIndex(err, len(list))
		}
		list = append(list, v)
		return nil
	})
	return list, err
}

func (d *decoder) anyMap(data []byte, left int, made map[string]any) (any, *codec.Error) {
	if left == 0 {
		return nil, d.fault(data, anyTooDeep)
	}
	if made == nil {
		made = map[string]any{}
	}
	err := d.each(data, func(number protowire.Number, wire protowire.Type, entry []byte, _ uint64) *codec.Error {
		if number != 1 || wire != protowire.BytesType {
			return nil
		}
		var key string
		var v any
		err := d.each(entry, func(number protowire.Number, wire protowire.Type, b []byte, _ uint64) (err *codec.Error) {
			switch {
			case wire != protowire.BytesType:
			case number == 1 && !utf8.Valid(b):
				return d.fault(b, badUTF8)
			case number == 1:
				key = string(b)
			case number == 2:
				v, err = d.any(b, left-1, v)
			}
			return err
		})
		if err != nil {
			return layout.Under(err, "/"+layout.Escape(key))
		}
		made[key] = v
		return nil
	})
	return made, err
}

// maxExact is the largest integer up to which a double has each.
const maxExact = 1 << 53

// appendAny writes the fields of a google.protobuf.Value.
func appendAny(dst []byte, v any, left int) ([]byte, *codec.Error) {
	plain, err := layout.Plain(v, rules)
	if err != nil {
		return dst, fault(-1, err.Error())
	}
	switch v := plain.(type) {
	case nil:
		return append(dst, valueNull<<3, 0), nil
	case bool:
		return protowire.AppendVarint(append(dst, valueBool<<3), protowire.EncodeBool(v)), nil
	case int64:
		if v > maxExact || v < -maxExact {
			return dst, fault(-1, fmt.Sprintf("%d in an interface cannot be encoded: Protocol Buffers has dynamic numbers as doubles, which are exact to 2^53; use a field of an integer type", v))
		}
		return appendDouble(dst, float64(v)), nil
	case uint64:
		return dst, fault(-1, fmt.Sprintf("%d in an interface cannot be encoded: Protocol Buffers has dynamic numbers as doubles, which are exact to 2^53; use a field of an integer type", v))
	case float64:
		return appendDouble(dst, v), nil
	case string:
		if !utf8.ValidString(v) {
			return dst, fault(-1, notUTF8)
		}
		return protowire.AppendString(append(dst, valueString<<3|byte(protowire.BytesType)), v), nil
	case []byte:
		return protowire.AppendString(append(dst, valueString<<3|byte(protowire.BytesType)), layout.Base64(v)), nil
	}
	if left == 0 {
		return dst, fault(-1, tooDeep)
	}
	start := len(dst) + 2
	var wrong *codec.Error
	switch v := plain.(type) {
	case []any:
		dst, wrong = appendAnyList(append(dst, valueList<<3|byte(protowire.BytesType), 0), v, left-1)
	case map[string]any:
		dst, wrong = appendAnyMap(append(dst, valueStruct<<3|byte(protowire.BytesType), 0), v, left-1)
	}
	if wrong != nil {
		return dst, wrong
	}
	return closeLength(dst, start), nil
}

func appendDouble(dst []byte, v float64) []byte {
	return protowire.AppendFixed64(append(dst, valueNumber<<3|byte(protowire.Fixed64Type)), math.Float64bits(v))
}

func appendAnyList(dst []byte, list []any, left int) ([]byte, *codec.Error) {
	var err *codec.Error
	for i, v := range list {
		dst = append(dst, 1<<3|byte(protowire.BytesType), 0)
		start := len(dst)
		if dst, err = appendAny(dst, v, left); err != nil {
			return dst, layout.UnderIndex(err, i)
		}
		dst = closeLength(dst, start)
	}
	return dst, nil
}

func appendAnyMap(dst []byte, m map[string]any, left int) ([]byte, *codec.Error) {
	for key, v := range m {
		if !utf8.ValidString(key) {
			return dst, fault(-1, notUTF8)
		}
		dst = append(dst, 1<<3|byte(protowire.BytesType), 0)
		start := len(dst)
		dst = protowire.AppendString(append(dst, 1<<3|byte(protowire.BytesType)), key)
		dst = append(dst, 2<<3|byte(protowire.BytesType), 0)
		inner := len(dst)
		var err *codec.Error
		if dst, err = appendAny(dst, v, left); err != nil {
			return dst, layout.Under(err, "/"+layout.Escape(key))
		}
		dst = closeLength(closeLength(dst, inner), start)
	}
	return dst, nil
}
