package codectest

import (
	"fmt"
	"reflect"
	"time"
)

// Difference returns where got is not what f promises of want, and "" where it is.
func (f Features) Difference(want, got any) string {
	return f.differ("value", reflect.ValueOf(want), reflect.ValueOf(got))
}

func (f Features) differ(path string, want, got reflect.Value) string {
	if !want.IsValid() || !got.IsValid() {
		if want.IsValid() == got.IsValid() {
			return ""
		}
		return fmt.Sprintf("%s: got %v, want %v", path, got, want)
	}
	if want.Type() != got.Type() {
		return fmt.Sprintf("%s: got a %v, want a %v", path, got.Type(), want.Type())
	}
	if at, ok := reflect.TypeAssert[time.Time](want); ok {
		return f.differTime(path, at, got.Interface().(time.Time))
	}
	switch want.Kind() {
	case reflect.Pointer:
		return f.differPointer(path, want, got)
	case reflect.Interface:
		return f.differAny(path, want.Elem(), got.Elem())
	case reflect.Slice:
		if f.KeepsNil && want.IsNil() != got.IsNil() {
			return fmt.Sprintf("%s: nil is %v, want %v", path, got.IsNil(), want.IsNil())
		}
		return f.differList(path, want, got)
	case reflect.Array:
		return f.differList(path, want, got)
	case reflect.Map:
		return f.differMap(path, want, got)
	case reflect.Struct:
		return f.differStruct(path, want, got)
	}
	if !want.Equal(got) {
		return fmt.Sprintf("%s: got %v, want %v", path, got, want)
	}
	return ""
}

func (f Features) differTime(path string, want, got time.Time) string {
	if f.TimeUnit > 0 {
		want = want.Truncate(f.TimeUnit)
	}
	if !want.Equal(got) {
		return fmt.Sprintf("%s: got %v, want %v", path, got, want)
	}
	return ""
}

func (f Features) differPointer(path string, want, got reflect.Value) string {
	if f.ZeroPointersAreNil && got.IsNil() && (want.IsNil() || want.Elem().IsZero()) {
		return ""
	}
	if want.IsNil() || got.IsNil() {
		if want.IsNil() == got.IsNil() {
			return ""
		}
		return fmt.Sprintf("%s: nil is %v, want %v", path, got.IsNil(), want.IsNil())
	}
	return f.differ(path, want.Elem(), got.Elem())
}

// differAny compares what two interfaces hold: numbers by their value, since formats have fewer kinds of them than Go.
func (f Features) differAny(path string, want, got reflect.Value) string {
	if want.IsValid() && got.IsValid() && want.Type() != got.Type() && isNumber(want) && isNumber(got) {
		if toFloat(want) != toFloat(got) {
			return fmt.Sprintf("%s: got %v, want %v", path, got, want)
		}
		return ""
	}
	return f.differ(path, want, got)
}

func (f Features) differList(path string, want, got reflect.Value) string {
	if want.Len() != got.Len() {
		return fmt.Sprintf("%s: got %d elements, want %d", path, got.Len(), want.Len())
	}
	for i := range want.Len() {
		if text := f.differ(fmt.Sprintf("%s[%d]", path, i), want.Index(i), got.Index(i)); text != "" {
			return text
		}
	}
	return ""
}

func (f Features) differMap(path string, want, got reflect.Value) string {
	if f.KeepsNil && want.IsNil() != got.IsNil() {
		return fmt.Sprintf("%s: nil is %v, want %v", path, got.IsNil(), want.IsNil())
	}
	if want.Len() != got.Len() {
		return fmt.Sprintf("%s: got %d entries, want %d", path, got.Len(), want.Len())
	}
	for _, key := range want.MapKeys() {
		if text := f.differ(fmt.Sprintf("%s[%v]", path, key), want.MapIndex(key), got.MapIndex(key)); text != "" {
			return text
		}
	}
	return ""
}

func (f Features) differStruct(path string, want, got reflect.Value) string {
	if want.Comparable() && want.Equal(got) {
		return ""
	}
	exported := false
	for i := range want.NumField() {
		field := want.Type().Field(i)
		if !field.IsExported() && !field.Anonymous {
			continue
		}
		exported = true
		if !want.Field(i).CanInterface() { // an embedded struct of an unexported type, which is compared whole
			if !want.Field(i).Equal(got.Field(i)) {
				return fmt.Sprintf("%s.%s: got %v, want %v", path, field.Name, got.Field(i), want.Field(i))
			}
			continue
		}
		if text := f.differ(path+"."+field.Name, want.Field(i), got.Field(i)); text != "" {
			return text
		}
	}
	if !exported && want.NumField() > 0 { // a type with methods of its own, such as netip.Addr
		return fmt.Sprintf("%s: got %v, want %v", path, got, want)
	}
	return ""
}

func isNumber(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

func toFloat(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}
