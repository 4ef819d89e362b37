package web

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/codec/json"
)

// logUnreadable warns of actions whose inputs or answers have a struct that JSON cannot read whatever comes, for its tags. Each call of one would be
// answered as if its caller had sent nonsense. The node starts all the same: calls without JSON do not need the tags.
func (s *server) logUnreadable() {
	seen := make(map[reflect.Type]bool)
	for _, a := range s.node.Actions() {
		if !s.offers(a) || a.Remote {
			continue
		}
		for _, t := range []reflect.Type{a.In, a.Out} {
			if bad, err := unreadable(t, seen); err != nil {
				s.node.Log().Warn("an action cannot be called with JSON: mend the tags of a type", "node", s.node.ID(), "action", a.Name, "type", bad.String(), "error", err)
			}
		}
	}
}

// readers are the methods by which a type reads its own JSON.
var readers = []reflect.Type{reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[stdjson.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}

// unreadable finds a struct in t that cannot be read from an empty object. Types that were seen are not looked at again.
func unreadable(t reflect.Type, seen map[reflect.Type]bool) (bad reflect.Type, err error) {
	if t == nil || seen[t] {
		return nil, nil
	}
	seen[t] = true
	for _, reader := range readers {
		if reflect.PointerTo(t).Implements(reader) {
			return nil, nil
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return unreadable(t.Elem(), seen)
	case reflect.Struct:
		if err := json.Codec.Decode([]byte("{}"), reflect.New(t).Interface()); err != nil {
			return t, err
		}
		for f := range t.Fields() {
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue
			}
			if bad, err := unreadable(f.Type, seen); err != nil {
				return bad, err
			}
		}
	}
	return nil, nil
}
