package sabir

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/jsonmethods"
	"github.com/sabir-go/sabir/internal/layout"
)

type codecError = codec.Error

// convertInto copies the value that from points to into the one that to points to. Types that are the same, or the same but
// for names and tags, are assigned; others that agree in shape go through JSON, where fields are matched by their JSON names.
func convertInto(to, from any) error {
	dst, src := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	if src.Type() == dst.Type() {
		dst.Set(src)
		return nil
	}
	switch howToConvert(src.Type(), dst.Type()) {
	case assign:
		dst.Set(src)
		return nil
	case reinterpret:
		dst.Set(src.Convert(dst.Type()))
		return nil
	case fromJSON:
		return json.Codec.Decode(src.Bytes(), to)
	case unrelated:
		return fmt.Errorf("%s and %s have no field in common", src.Type(), dst.Type())
	case toJSON:
		text, err := json.Codec.Append(nil, from)
		if err != nil {
			return fmt.Errorf("%s cannot be converted: %w", src.Type(), err)
		}
		dst.SetBytes(text)
		return nil
	}
	if src.Kind() == reflect.Interface && !src.IsNil() {
		switch held := src.Elem().Type(); {
		case held == dst.Type():
			dst.Set(src.Elem())
			return nil
		case howToConvert(held, dst.Type()) == unrelated:
			return fmt.Errorf("%s and %s have no field in common", held, dst.Type())
		}
	}
	text, err := json.Codec.Append(nil, from)
	if err != nil {
		return fmt.Errorf("%s cannot be converted: %w", src.Type(), err)
	}
	return json.Codec.Decode(text, to)
}

// convertValue is convertInto from a value instead of a pointer to one.
func convertValue(to, from any) error { return convertInto(to, &from) }

type conversion uint8

const (
	throughJSON conversion = iota
	assign
	reinterpret
	fromJSON  // json.RawMessage to the value that it holds
	toJSON    // and back
	unrelated // structs without a field in common: none
)

type typePair struct{ from, to reflect.Type }

// conversions remembers the way from type to type; as many as the program has pairs of types that call each other.
var conversions sync.Map

func howToConvert(from, to reflect.Type) conversion {
	if known, ok := conversions.Load(typePair{from, to}); ok {
		return known.(conversion)
	}
	how := throughJSON
	switch {
	case from != to && from == rawType && to.Kind() != reflect.Interface:
		how = fromJSON
	case from != to && to == rawType && from.Kind() != reflect.Interface:
		how = toJSON
	case from.AssignableTo(to):
		how = assign
	case from.Kind() == to.Kind() && from.ConvertibleTo(to) && sameNames(from, to):
		how = reinterpret
	case !fieldInCommon(from, to):
		how = unrelated
	}
	conversions.Store(typePair{from, to}, how)
	return how
}

// fieldInCommon reports whether a value of one type can carry anything over to another: it is false for two structs that both
// have fields, of which none is the other's in JSON. Such types are different things, and a conversion would give the zero
// value.
func fieldInCommon(from, to reflect.Type) bool {
	if from.Kind() == reflect.Pointer {
		from = from.Elem()
	}
	if to.Kind() == reflect.Pointer {
		to = to.Elem()
	}
	if from.Kind() != reflect.Struct || to.Kind() != reflect.Struct || jsonmethods.Write(from) || jsonmethods.Read(to) {
		return true
	}
	has, _ := layout.JSON.Members(from)
	wants, _ := layout.JSON.Members(to)
	if len(has) == 0 || len(wants) == 0 {
		return true
	}
	names := make(map[string]bool, len(has))
	for i := range has {
		names[has[i].Name] = true
	}
	return slices.ContainsFunc(wants, func(m layout.Member) bool { return names[m.Name] || m.Has("embed") })
}

// sameNames reports whether two types that Go can convert also mean the same in JSON: tags do not count for Go.
func sameNames(a, b reflect.Type) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Field(i).Tag.Get("json") != b.Field(i).Tag.Get("json") || a.Field(i).Type != b.Field(i).Type {
				return false
			}
		}
		return true
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.String:
		return true
	}
	return false
}

// decodeJSON reads a JSON document into what v points to.
func decodeJSON(text []byte, v any) error { return json.Codec.Decode(text, v) }

// appendJSON appends the answer of an action as JSON.
func (n *Node) appendJSON(dst []byte, a *Action, v any) ([]byte, error) {
	out, err := json.Codec.Append(dst, v)
	if err != nil {
		return dst, n.badOutput("the answer of "+a.Name, n.id, "cannot be written as JSON", err)
	}
	return out, nil
}
