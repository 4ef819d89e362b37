package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// shape is the kind of JSON that a value has, for rules that can be expressed as keywords of JSON Schema.
type shape uint8

const (
	opaque shape = iota // its JSON is something else: rules cannot be expressed
	text
	whole  // signed
	count  // unsigned
	float  // also of 32 bits
	truth  // bool
	binary // []byte
	list   // slice
	fixed  // array
	object // map
	record // struct
	moment // time.Time
	anything
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bigIntType   = reflect.TypeFor[big.Int]()
	ownType      = reflect.TypeFor[interface{ JSONSchema() Schema }]()
	rawTypes     = map[reflect.Type]bool{reflect.TypeFor[json.RawMessage](): true, reflect.TypeFor[jsontext.Value](): true}

	// writers and readers are the methods by which a type defines its own form, in the library's order: those
	// that may give any JSON, then those that give a text.
	writers = []reflect.Type{reflect.TypeFor[jsonv2.MarshalerTo](), reflect.TypeFor[jsonv2.Marshaler]()}
	readers = []reflect.Type{reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[jsonv2.Unmarshaler]()}

	textWriters = []reflect.Type{reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler]()}
	textReaders = []reflect.Type{reflect.TypeFor[encoding.TextUnmarshaler]()}
)

// has reports whether t or a pointer to it has one of the methods.
func has(t reflect.Type, methods ...reflect.Type) bool {
	for _, m := range methods {
		if t.Implements(m) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(m) {
			return true
		}
	}
	return false
}

// form is the schema of a type without rules.
func (b *builder) form(t reflect.Type) (*Schema, shape, error) {
	if t.Kind() != reflect.Interface {
		if s, sh, ok := b.ownForm(t); ok {
			return s, sh, nil
		}
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return &Schema{Type: Types{"boolean"}}, truth, nil
	case reflect.String:
		return &Schema{Type: Types{"string"}}, text, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed(t), whole, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsigned(t), count, nil
	case reflect.Float32:
		return &Schema{Type: Types{"number"}, Format: "float"}, float, nil
	case reflect.Float64:
		return &Schema{Type: Types{"number"}, Format: "double"}, float, nil
	case reflect.Interface:
		if t.NumMethod() > 0 && b.side == Input {
			return nil, 0, fmt.Errorf("%v cannot be read from JSON: an interface with methods does not say what to make", t)
		}
		return &Schema{}, anything, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !has(t.Elem(), b.methods()...) {
			return &Schema{Type: Types{"string"}, ContentEncoding: "base64"}, binary, nil
		}
		return &Schema{Type: Types{"array"}}, list, nil
	case reflect.Array:
		n := t.Len()
		return &Schema{Type: Types{"array"}, MinItems: &n, MaxItems: &n}, fixed, nil
	case reflect.Map:
		names, err := b.keys(t.Key())
		return &Schema{Type: Types{"object"}, PropertyNames: names}, object, err
	case reflect.Struct:
		return &Schema{Type: Types{"object"}}, record, nil
	default:
		return nil, 0, fmt.Errorf("%v has no JSON form: skip it with `json:\"-\"`", t)
	}
}

// methods lists the methods by which a type defines its own form, for reading or for writing.
func (b *builder) methods() []reflect.Type {
	if b.side == Output {
		return append(writers[:2:2], textWriters...)
	}
	return append(readers[:2:2], textReaders...)
}

// ownForm returns the schema of a type that defines its own form; false for other types.
func (b *builder) ownForm(t reflect.Type) (*Schema, shape, bool) {
	free, texts := writers, textWriters
	if b.side == Input {
		free, texts = readers, textReaders
	}
	switch {
	case has(t, ownType):
		s := reflect.New(t).Interface().(interface{ JSONSchema() Schema }).JSONSchema()
		return &s, opaque, true
	case t == timeType:
		return &Schema{Type: Types{"string"}, Format: "date-time"}, moment, true
	case t == durationType:
		return &Schema{Type: Types{"integer"}, Format: "duration-ns"}, whole, true
	case t == bigIntType:
		return &Schema{Type: Types{"integer"}}, opaque, true
	case rawTypes[t]:
		return &Schema{}, opaque, true
	case has(t, free...):
		return &Schema{GoType: goName(t)}, opaque, true
	case has(t, texts...):
		s := &Schema{Type: Types{"string"}, GoType: goName(t)}
		if t.Name() == "UUID" && t.Kind() == reflect.Array && t.Len() == 16 {
			s.Format = "uuid"
		}
		return s, opaque, true
	}
	return nil, 0, false
}

// signed is the schema of a signed integer type. Bounds of 64 bits are left to the format.
func signed(t reflect.Type) *Schema {
	s := &Schema{Type: Types{"integer"}, Format: t.Kind().String()}
	if t.Kind() != reflect.Int && t.Bits() < 64 {
		s.Minimum, s.Maximum = number(int64(-1)<<(t.Bits()-1)), number(int64(1)<<(t.Bits()-1)-1)
	}
	return s
}

func unsigned(t reflect.Type) *Schema {
	s := &Schema{Type: Types{"integer"}, Format: t.Kind().String(), Minimum: number(0)}
	switch {
	case t.Kind() == reflect.Uintptr:
		s.Format = "uint64"
	case t.Kind() != reflect.Uint && t.Bits() < 64:
		s.Maximum = number(math.MaxInt64 >> (63 - t.Bits()))
	}
	return s
}

func number(n int64) *Number {
	d := Number(strconv.FormatInt(n, 10))
	return &d
}

// keys is the schema of the names of a map's members; nil for any.
func (b *builder) keys(t reflect.Type) (*Schema, error) {
	for t.Kind() == reflect.Pointer && t.Name() == "" { // a named one may lead to itself
		t = t.Elem()
	}
	s, sh, err := b.form(t)
	switch {
	case err != nil:
		return nil, err
	case sh == text, sh == anything, sh == opaque && len(s.Type) == 0:
		return nil, nil // any text will do, or what will do is not known
	case sh == opaque && s.Type[0] == "string":
		s.Type, s.GoType = nil, ""
		if s.isZero() {
			return nil, nil
		}
		return s, nil
	case sh == moment:
		return &Schema{Format: s.Format}, nil
	case sh == whole:
		return &Schema{Pattern: wholePattern}, nil
	case sh == count:
		return &Schema{Pattern: countPattern}, nil
	case sh == float:
		return &Schema{Pattern: floatPattern}, nil
	}
	return nil, fmt.Errorf("%v cannot be the key of a JSON object", t)
}

// How numbers look that are given as a text.
const (
	countPattern = `^(0|[1-9][0-9]*)$`
	wholePattern = `^-?(0|[1-9][0-9]*)$`
	floatPattern = `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`
)

func (s *Schema) isZero() bool { return reflect.ValueOf(s).Elem().IsZero() }

// quoted is the form of a value of a field with the option "string" in its json tag, which puts it in quotes.
func quoted(s *Schema, sh shape) (*Schema, error) {
	pattern := map[shape]string{whole: wholePattern, count: countPattern, float: floatPattern, truth: `^(true|false)$`, text: `^".*"$`}[sh]
	if pattern == "" {
		return nil, errors.New("the option \"string\" of the json tag is for numbers, bools and texts")
	}
	return &Schema{Type: Types{"string"}, Format: s.Format, Pattern: pattern}, nil
}
