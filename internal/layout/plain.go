package layout

import (
	"encoding"
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// Plain turns what an interface holds into what a format without Go's types can express: nil, bool, int64, uint64 (only above
// the range of int64), float64, string, []byte, []any and map[string]any. Elements of the last two are not turned yet.
// Structs become maps by the names of their fields, times and types with MarshalText become strings, a time as RFC 3339
// has it, and map keys that are numbers become their digits.
func Plain(v any, rules Rules) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []byte, []any, map[string]any:
		return v, nil
	case int:
		return int64(v), nil
	case uint64:
		return unsigned(v), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	}
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Pointer {
		return plainValue(value, rules)
	}
	to, ok := pointedTo(value)
	if !ok {
		return nil, fmt.Errorf("more than %d pointers behind each other, or a pointer to itself, in an interface cannot be encoded", MaxDepth)
	}
	if !to.IsValid() {
		return nil, nil
	}
	return Plain(to.Interface(), rules) // which is no pointer
}

// pointedTo follows pointers, and interfaces that hold pointers, to what they lead to, which is not valid where one is nil. It
// is false where there is no end to them: a variable of type any may hold its own address.
func pointedTo(v reflect.Value) (_ reflect.Value, ok bool) {
	for range MaxDepth {
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

func unsigned(n uint64) any {
	if n>>63 == 0 {
		return int64(n)
	}
	return n
}

func plainValue(v reflect.Value, rules Rules) (any, error) {
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](v); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsigned(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Slice, reflect.Array:
		return plainList(v)
	case reflect.Map:
		return plainMap(v, rules)
	case reflect.Struct:
		return plainStruct(v, rules)
	}
	return nil, fmt.Errorf("a %s in an interface cannot be encoded", v.Type())
}

func plainList(v reflect.Value) (any, error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return nil, nil
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		out := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(out), v)
		return out, nil
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = v.Index(i).Interface()
	}
	return list, nil
}

func plainMap(v reflect.Value, rules Rules) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	out := make(map[string]any, v.Len())
	for key, elem := range v.Seq2() {
		name, err := Plain(key.Interface(), rules)
		if err != nil {
			return nil, err
		}
		switch n := name.(type) {
		case string:
			out[n] = elem.Interface()
		case int64:
			out[strconv.FormatInt(n, 10)] = elem.Interface()
		case uint64:
			out[strconv.FormatUint(n, 10)] = elem.Interface()
		default:
			return nil, fmt.Errorf("a %s in an interface cannot be encoded: its keys are neither text nor integers", v.Type())
		}
	}
	return out, nil
}

func plainStruct(v reflect.Value, rules Rules) (any, error) {
	t, err := Of(v.Type(), rules)
	if err != nil {
		return nil, err
	}
	if t.Kind == Binary {
		own := reflect.New(v.Type())
		own.Elem().Set(v)
		return t.Marshal(nil, own.UnsafePointer())
	}
	out := make(map[string]any, len(t.Fields))
	own := reflect.New(v.Type())
	own.Elem().Set(v)
	for _, f := range t.Fields {
		out[f.Name] = reflect.NewAt(f.Type.Go, unsafe.Add(own.UnsafePointer(), f.Offset)).Elem().Interface()
	}
	return out, nil
}

// Base64 is b as JSON would have it, for formats whose dynamic values have no bytes.
func Base64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
