package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the maximum nesting of schemas in JSON that is read. Types refer to each other, so 10 is much.
const MaxDepth = 128

// MarshalJSON writes one type as a text and several as a list.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// MarshalJSON writes an object, its members in their order.
func (p Properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, member := range p {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(member.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(member.Schema)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// Numbers are those of the members as fields of Protocol Buffers, as package codec/protobuf gives them: that of the tag, or the one after that of the
// member before.
func (p Properties) Numbers() []int32 {
	numbers := make([]int32, 0, len(p))
	last := 0
	for i := range p {
		if last++; p[i].Schema.FieldNumber != 0 {
			last = p[i].Schema.FieldNumber
		}
		numbers = append(numbers, int32(last))
	}
	return numbers
}

// Get is the schema of the member called name; nil for none.
func (p Properties) Get(name string) *Schema {
	for i := range p {
		if p[i].Name == name {
			return p[i].Schema
		}
	}
	return nil
}

// isNumber reports whether a text is a JSON number, without white space around it.
func isNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || isDigit(text[0])) && isDigit(text[len(text)-1]) && jsontext.Value(text).IsValid()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// MarshalJSON writes the digits. Digits that are no JSON number are an error.
func (n Number) MarshalJSON() ([]byte, error) {
	if !isNumber([]byte(n)) {
		return nil, fmt.Errorf("schema: %q is no JSON number", string(n))
	}
	return []byte(n), nil
}

// UnmarshalJSON reads a number with all its digits.
func (n *Number) UnmarshalJSON(text []byte) error {
	if !isNumber(text) {
		return fmt.Errorf("schema: want a number, got %.40q", text)
	}
	*n = Number(text)
	return nil
}

// UnmarshalJSON reads one type or a list of them.
func (t *Types) UnmarshalJSON(text []byte) error {
	return decodeWith(text, func(r *reader) { *t = r.types() })
}

// UnmarshalJSON reads an object, keeping the order of its members.
func (p *Properties) UnmarshalJSON(text []byte) error {
	return decodeWith(text, func(r *reader) { *p = r.properties(0) })
}

// UnmarshalJSON reads a schema. Keywords that Schema does not have are passed over; true is the schema that allows
// everything and false is the one that allows nothing. A keyword with a value of the wrong type, and schemas nested deeper
// than MaxDepth, are errors.
func (s *Schema) UnmarshalJSON(text []byte) error {
	return decodeWith(text, func(r *reader) { *s = r.schema(0) })
}

var tooDeep = fmt.Sprintf("schemas nested at most %d deep", MaxDepth)

// reader reads schemas token by token, so that what lies deep inside is looked at once. It stops at the first fault.
type reader struct {
	*jsontext.Decoder
	err error
}

func decodeWith(text []byte, read func(*reader)) error {
	r := &reader{Decoder: jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	read(r)
	if r.err == nil {
		if _, err := r.ReadToken(); err != io.EOF {
			r.fail("the end")
		}
	}
	return r.err
}

func (r *reader) fail(want string) {
	if r.err == nil {
		r.err = fmt.Errorf("schema: want %s before offset %d", want, r.InputOffset())
	}
}

// next is the next token, a bool, a string, a Number or what begins or ends an object or a list; nil for null and after a fault.
func (r *reader) next() any {
	if r.err != nil {
		return nil
	}
	token, err := r.ReadToken()
	if err != nil {
		r.err = fmt.Errorf("schema: %w", err)
		return nil
	}
	switch kind := token.Kind(); kind {
	case jsontext.KindNull:
		return nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool()
	case jsontext.KindString:
		return token.String()
	case jsontext.KindNumber:
		return Number(token.String())
	default:
		return kind
	}
}

// more reports whether the object or list has another value.
func (r *reader) more() bool {
	return r.err == nil && r.PeekKind() != jsontext.KindEndObject && r.PeekKind() != jsontext.KindEndArray
}

// members calls read with each name of an object, whose value it must take.
func (r *reader) members(read func(name string)) {
	if r.next() != jsontext.KindBeginObject {
		r.fail("an object")
		return
	}
	r.rest(read)
}

func (r *reader) rest(read func(name string)) {
	for r.more() {
		name, _ := r.next().(string)
		read(name)
	}
	r.next()
}

// items calls read for each value of a list.
func (r *reader) items(read func()) {
	if r.next() != jsontext.KindBeginArray {
		r.fail("a list")
		return
	}
	for r.more() {
		read()
	}
	r.next()
}

func (r *reader) schema(depth int) (s Schema) {
	if depth == MaxDepth {
		r.fail(tooDeep)
		return s
	}
	switch r.next() {
	case true:
	case false:
		if depth+1 == MaxDepth { // it is written as two
			r.fail(tooDeep)
		}
		s.Not = &Schema{}
	case jsontext.KindBeginObject:
		r.rest(func(name string) { r.keyword(&s, name, depth+1) })
	default:
		r.fail("a schema")
	}
	return s
}

func (r *reader) keyword(s *Schema, name string, depth int) {
	switch name {
	case "$ref":
		s.Ref = r.text()
	case "type":
		s.Type = r.types()
	case "format":
		s.Format = r.text()
	case "title":
		s.Title = r.text()
	case "description":
		s.Description = r.text()
	case "enum":
		s.Enum = r.values()
	case "const":
		s.Const = r.value()
	case "default":
		s.Default = r.value()
	case "examples":
		s.Examples = r.values()
	case "anyOf":
		s.AnyOf = r.schemas(depth)
	case "allOf":
		s.AllOf = r.schemas(depth)
	case "not":
		s.Not = r.inner(depth)
	case "properties":
		s.Properties = r.properties(depth)
	case "required":
		s.Required = r.texts()
	case "additionalProperties":
		s.AdditionalProperties = r.inner(depth)
	case "propertyNames":
		s.PropertyNames = r.inner(depth)
	case "minProperties":
		s.MinProperties = r.whole()
	case "maxProperties":
		s.MaxProperties = r.whole()
	case "items":
		s.Items = r.inner(depth)
	case "minItems":
		s.MinItems = r.whole()
	case "maxItems":
		s.MaxItems = r.whole()
	case "uniqueItems":
		s.UniqueItems = r.truth()
	case "minLength":
		s.MinLength = r.whole()
	case "maxLength":
		s.MaxLength = r.whole()
	case "pattern":
		s.Pattern = r.text()
	case "contentEncoding":
		s.ContentEncoding = r.text()
	case "minimum":
		s.Minimum = r.number()
	case "maximum":
		s.Maximum = r.number()
	case "exclusiveMinimum":
		s.ExclusiveMinimum = r.number()
	case "exclusiveMaximum":
		s.ExclusiveMaximum = r.number()
	case "deprecated":
		s.Deprecated = r.truth()
	case "writeOnly":
		s.WriteOnly = r.truth()
	case "x-rules":
		s.Rules = r.texts()
	case "x-validate":
		s.Tag = r.text()
	case "x-protobuf":
		if n := r.whole(); n != nil {
			s.FieldNumber = *n
		}
	case "x-protobuf-type":
		s.ProtoType = r.text()
	case "x-protobuf-fields":
		s.ProtoFields = r.properties(depth)
	case "x-go-type":
		s.GoType = r.text()
	default:
		r.value()
	}
}

func (r *reader) inner(depth int) *Schema {
	s := r.schema(depth)
	return &s
}

func (r *reader) schemas(depth int) (list []Schema) {
	r.items(func() { list = append(list, r.schema(depth)) })
	return list
}

func (r *reader) properties(depth int) (list Properties) {
	r.members(func(name string) { list = append(list, Property{name, r.inner(depth)}) })
	return list
}

func (r *reader) types() (list Types) {
	switch first := r.next().(type) {
	case string:
		return Types{first}
	case jsontext.Kind:
		if first == jsontext.KindBeginArray {
			for r.more() {
				list = append(list, r.text())
			}
			r.next()
			return list
		}
	}
	r.fail("a type or a list of types")
	return nil
}

func (r *reader) text() string {
	text, ok := r.next().(string)
	if !ok {
		r.fail("a text")
	}
	return text
}

func (r *reader) texts() (list []string) {
	r.items(func() { list = append(list, r.text()) })
	return list
}

func (r *reader) truth() bool {
	truth, ok := r.next().(bool)
	if !ok {
		r.fail("true or false")
	}
	return truth
}

func (r *reader) number() *Number {
	n, ok := r.next().(Number)
	if !ok {
		r.fail("a number")
		return nil
	}
	return &n
}

func (r *reader) whole() *int {
	digits, _ := r.next().(Number)
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || n < 0 {
		r.fail("a whole number that is not negative")
		return nil
	}
	whole := int(n)
	return &whole
}

// value reads any JSON, with its numbers as Number.
func (r *reader) value() any {
	switch token := r.next(); token {
	case jsontext.KindBeginObject:
		object := map[string]any{}
		r.rest(func(name string) { object[name] = r.value() })
		return object
	case jsontext.KindBeginArray:
		list := []any{}
		for r.more() {
			list = append(list, r.value())
		}
		r.next()
		return list
	default:
		return token
	}
}

func (r *reader) values() (list []any) {
	r.items(func() { list = append(list, r.value()) })
	return list
}
