package route

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/jsonmethods"
)

// form is the JSON form of a type, as far as it can be expressed in one parameter.
type form struct {
	kind Kind // "" for what cannot
	list bool
}

var (
	timeType        = reflect.TypeFor[time.Time]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

	// rawTypes hold any JSON as it is.
	rawTypes = []reflect.Type{reflect.TypeFor[stdjson.RawMessage](), reflect.TypeFor[jsontext.Value]()}

	jsonUnmarshalers = []reflect.Type{reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[jsonv2.Unmarshaler]()}
)

// formOf is the form of a value of type t, or of a pointer to one. The JSON codec is the judge of what a type looks like.
func formOf(t reflect.Type) form {
	t = pointed(t)
	if kind := scalar(t); kind != "" || ownForm(t) {
		return form{kind: kind}
	}
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return form{}
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return form{kind: Text} // base64
	}
	return form{kind: scalar(pointed(t.Elem())), list: true}
}

// scalar is the kind of a type that is text, a number or a bool in JSON; "" for others.
func scalar(t reflect.Type) Kind {
	switch {
	case t == timeType:
		return Text
	case ownJSON(t):
		return probe(t)
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return Text
	}
	switch t.Kind() {
	case reflect.String:
		return Text
	case reflect.Bool:
		return Boolean
	case reflect.Float32, reflect.Float64:
		return Number
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Integer
	}
	return ""
}

// ownForm reports whether the type, not its fields or elements, defines its form.
func ownForm(t reflect.Type) bool { return t.Kind() != reflect.Interface && jsonmethods.Read(t) }

func ownJSON(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && slices.ContainsFunc(jsonUnmarshalers, reflect.PointerTo(t).Implements)
}

// probe asks a type with a JSON form of its own, such as a decimal number, what its zero value looks like.
func probe(t reflect.Type) Kind {
	text, err := json.Codec.Append(nil, reflect.New(t).Interface())
	if err != nil || len(text) == 0 {
		return ""
	}
	switch c := text[0]; {
	case c == '"':
		return Text
	case c == '-' || c >= '0' && c <= '9':
		return Number
	case c == 't' || c == 'f':
		return Boolean
	}
	return ""
}

// untyped reports whether an object of any members fits: any, a json.RawMessage, a map of text to these or to text.
func untyped(t reflect.Type) bool {
	if t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && !ownForm(t) && !ownForm(t.Key()) {
		return anything(t.Elem()) || formOf(t.Elem()) == form{kind: Text}
	}
	return anything(t)
}

func anything(t reflect.Type) bool {
	return t.Kind() == reflect.Interface && t.NumMethod() == 0 || slices.Contains(rawTypes, t)
}
