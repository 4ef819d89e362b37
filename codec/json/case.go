package json

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/jsonmethods"
	"github.com/sabir-go/sabir/internal/layout"
)

// The reader notices a member whose name differs from that of a field in its case only (see [layout.Names]) where it looks for
// the field, and leaves the text to the library, which skips it. What the library has read is looked through by misnamed.

// structNames is the members of a struct type.
type structNames struct {
	types map[string]reflect.Type // by name
	names layout.Names
	open  bool // the struct takes members of any name
}

// namesByType holds a *structNames for each struct type that the library has read. It grows with the types of the program.
var namesByType sync.Map

func namesOf(t reflect.Type) *structNames {
	if known, ok := namesByType.Load(t); ok {
		return known.(*structNames)
	}
	members, _ := layout.JSON.Members(t)
	n := &structNames{types: make(map[string]reflect.Type, len(members)), names: make(layout.Names, len(members))}
	for i := range members {
		m := &members[i]
		n.types[m.Name] = m.Type
		n.open = n.open || m.Has("embed")
		if !m.Has("case:ignore") {
			n.names.Add(m.Name)
		}
	}
	namesByType.Store(t, n)
	return n
}

// misnamed returns an error for the first member of data whose name differs from that of a field of t in its case only. The
// library has read data into a t, so data is valid and no deeper than the codec allows.
func misnamed(data []byte, t reflect.Type) error {
	if jsonmethods.Read(t) {
		return nil
	}
	return misnamedIn(jsontext.NewDecoder(bytes.NewBuffer(data)), t)
}

func misnamedIn(text *jsontext.Decoder, t reflect.Type) error {
	for t.Kind() == reflect.Pointer && !jsonmethods.Read(t) {
		t = t.Elem()
	}
	if jsonmethods.Read(t) || t == timeType {
		return text.SkipValue()
	}
	switch kind := text.PeekKind(); {
	case kind == '{' && t.Kind() == reflect.Struct:
		return misnamedMember(text, namesOf(t))
	case kind == '{' && t.Kind() == reflect.Map:
		return eachValue(text, func() error {
			if _, err := text.ReadToken(); err != nil { // the key
				return err
			}
			return misnamedIn(text, t.Elem())
		})
	case kind == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		return eachValue(text, func() error { return misnamedIn(text, t.Elem()) })
	}
	return text.SkipValue()
}

func misnamedMember(text *jsontext.Decoder, of *structNames) error {
	return eachValue(text, func() error {
		token, err := text.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if t, ok := of.types[name]; ok {
			return misnamedIn(text, t)
		}
		if field := of.names.Like(name); field != "" && !of.open {
			return &codec.Error{
				Codec: Name, Offset: text.InputOffset(), Pointer: string(text.StackPointer()),
				Message: fmt.Sprintf("the member %s differs from %s in its case only", shorten(name), field),
			}
		}
		return text.SkipValue()
	})
}

// eachValue calls read for each element or member of the array or object that is next.
func eachValue(text *jsontext.Decoder, read func() error) error {
	if _, err := text.ReadToken(); err != nil {
		return err
	}
	for kind := text.PeekKind(); kind != '}' && kind != ']'; kind = text.PeekKind() {
		if kind == 0 {
			_, err := text.ReadToken()
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
	_, err := text.ReadToken()
	return err
}
