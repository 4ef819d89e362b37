package web

import (
	"encoding"
	stdjson "encoding/json"
	"errors"
	"reflect"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/codec/json"
)

// logUnreadable warns of actions whose inputs or answers have a type that JSON cannot read whatever comes, for its tags or for its kind. Each call of
// one would be answered as if its caller had sent nonsense. The node starts all the same: calls on the node need no JSON.
func (s *server) logUnreadable() {
	inputs, outputs := make(map[reflect.Type]bool), make(map[reflect.Type]bool)
	for _, a := range s.node.Actions() {
		if !s.offers(a) || a.Remote {
			continue
		}
		bad, err := unreadable(a.In, inputs, true)
		if err == nil {
			bad, err = unreadable(a.Out, outputs, false)
		}
		if err == nil {
			bad, err = allHidden(a.In)
		}
		if err != nil {
			s.node.Log().Warn("an action cannot be called with JSON: mend a type", "node", s.node.ID(), "action", a.Name, "type", bad.String(), "error", err)
		}
	}
}

// allHidden finds out whether an input is a struct with fields of which none is exported, so that its handler would get nothing of what callers send.
func allHidden(t reflect.Type) (bad reflect.Type, err error) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || t.NumField() == 0 || readsItself(t) {
		return nil, nil
	}
	for f := range t.Fields() {
		if f.IsExported() || f.Anonymous {
			return nil, nil
		}
	}
	return t, errors.New("it has no exported field, and JSON reads no other: names of fields begin with an upper-case letter")
}

// readers are the methods by which a type reads its own JSON.
var readers = []reflect.Type{reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[stdjson.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}

var errNoJSON = errors.New("it has no JSON form; a field may be left out with `json:\"-\"`")

// unreadable finds a struct in t that cannot be read from an empty object, or a type that no value of JSON can be read into. Types that were seen are not
// looked at again.
func unreadable(t reflect.Type, seen map[reflect.Type]bool, input bool) (bad reflect.Type, err error) {
	if t == nil || seen[t] {
		return nil, nil
	}
	seen[t] = true
	if readsItself(t) {
		return nil, nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return unreadable(t.Elem(), seen, input)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return t, errNoJSON
	case reflect.Interface:
		if input && t.NumMethod() > 0 { // an answer has the value that is in it
			return t, errNoJSON
		}
	case reflect.Struct:
		if err := json.Codec.Decode([]byte("{}"), reflect.New(t).Interface()); err != nil {
			return t, err
		}
		for f := range t.Fields() {
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue
			}
			if bad, err := unreadable(f.Type, seen, input); err != nil {
				return bad, err
			}
		}
	}
	return nil, nil
}

func readsItself(t reflect.Type) bool {
	return slices.ContainsFunc(readers, reflect.PointerTo(t).Implements)
}
