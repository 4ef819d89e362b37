package layout

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
)

var (
	jsonMarshaler   = reflect.TypeFor[stdjson.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[stdjson.Unmarshaler]()
)

// JSONOnly returns an error where only MarshalJSON and UnmarshalJSON of t see what its values hold: a codec that goes by fields would
// lose, without a word, what lies in those that are not exported. Types with MarshalText or MarshalBinary are the codec's to find first.
func JSONOnly(t reflect.Type) error {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil
	}
	if p := reflect.PointerTo(t); !p.Implements(jsonMarshaler) || !p.Implements(jsonUnmarshaler) {
		return nil
	}
	if owner := hidden(t, make(map[reflect.Type]bool)); owner != nil {
		return fmt.Errorf("%s cannot be encoded: only its MarshalJSON sees the fields of %s that are not exported; use json, or give it MarshalText or "+
			"MarshalBinary and what reads them", t, owner)
	}
	return nil
}

// hidden returns the struct in t that has a field which is not exported; nil for none.
func hidden(t reflect.Type, seen map[reflect.Type]bool) reflect.Type {
	if own, _ := MarshalerOf(t); own != nil || t == timeType || seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hidden(t.Elem(), seen)
	case reflect.Map:
		if owner := hidden(t.Key(), seen); owner != nil {
			return owner
		}
		return hidden(t.Elem(), seen)
	case reflect.Struct:
		return hiddenField(t, seen)
	}
	return nil
}

func hiddenField(t reflect.Type, seen map[reflect.Type]bool) reflect.Type {
	for field := range t.Fields() {
		if !field.IsExported() && !field.Anonymous {
			if field.Name != "_" && field.Type.Size() > 0 {
				return t
			}
			continue
		}
		if owner := hidden(field.Type, seen); owner != nil {
			return owner
		}
	}
	return nil
}
