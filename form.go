package sabir

import (
	"encoding/binary"
	stdjson "encoding/json"
	"reflect"
	"sync/atomic"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/wire"
)

// form is how values of T travel over links: natively, or in the format of a codec. On the wire a value is the number of
// its schema on that link, 0 without one, and its bytes.
type form[T any] struct {
	native *native.Type[T] // nil: the codec
	codec  codec.Codec
}

// formOf is the form of T in the format of that name.
func formOf[T any](format string) (form[T], error) {
	if format == native.Name {
		if t := native.For[T](); t.Err() == nil && !untyped(reflect.TypeFor[T]()) {
			return form[T]{native: t}, nil
		}
		format = json.Name // a schema tells the reader of native values what they are, and none the reader of JSON
	}
	c, ok := codec.Lookup(format)
	if !ok {
		return form[T]{}, missingCodec(format)
	}
	return form[T]{codec: c}, nil
}

var (
	nothingType = reflect.TypeFor[Nothing]()
	rawType     = reflect.TypeFor[stdjson.RawMessage]()
)

// protobufName is the codec that generated messages want; formOf fails where the program does not link it.
const protobufName = "protobuf"

// generated tells whether the type is a message that Protocol Buffers generated. The native format could hold most, but not
// what they hold beside their fields.
func generated(t reflect.Type) bool {
	_, ok := t.MethodByName("ProtoReflect")
	return ok && t.Kind() == reflect.Pointer
}

func untyped(t reflect.Type) bool { return t.Kind() == reflect.Interface || t == rawType }

// number is that of T's schema on the link, which it declares there at first use.
func (f form[T]) number(l *wire.Link) (uint32, error) {
	if f.native == nil {
		return 0, nil
	}
	number, err := l.DeclareSchema(f.native.Schema())
	if failure, ok := err.(*wire.Failure); ok { // the peer knows as many as it accepts
		return 0, fromFailure(failure)
	}
	return number, err
}

func (f form[T]) append(dst []byte, number uint32, v *T) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(number))
	if f.native != nil {
		return f.native.Append(dst, v)
	}
	return f.codec.Append(dst, v)
}

// reader decodes what one peer writes with one schema into T.
type reader[T any] struct {
	schema *wire.Schema
	native *native.Type[T]
}

// decode reads a value that came with the schema, nil for none, into *v. Where data is owned, nobody else needs it: large
// parts of it then become parts of *v, and kept tells that they did. last remembers the reader of the schema that came
// before, which is nearly always the same.
func (f form[T]) decode(data []byte, schema *wire.Schema, owned bool, last *atomic.Pointer[reader[T]], v *T) (kept bool, err error) {
	if f.native == nil && schema == nil {
		return false, f.codec.Decode(data, v)
	}
	if f.native == nil { // natively written for a reader without a type
		text, err := schema.AppendJSON(nil, data)
		if err != nil {
			return false, err
		}
		return false, json.Decode(text, v)
	}
	if schema == nil { // written by somebody whose type has no native form
		return false, json.Decode(data, v)
	}
	r := last.Load()
	if r == nil || r.schema != schema {
		t, err := f.readerOf(schema)
		if err != nil {
			return false, err
		}
		r = &reader[T]{schema, t}
		last.Store(r)
	}
	if owned {
		return r.native.DecodeOwned(data, v)
	}
	return false, r.native.Decode(data, v)
}

// readerOf finds or compiles what translates from the schema to T. Schemas belong to links, and with a link go its readers.
func (f form[T]) readerOf(schema *wire.Schema) (*native.Type[T], error) {
	key := reflect.TypeFor[T]()
	if known, ok := schema.Readers.Load(key); ok {
		return known.(*native.Type[T]), nil
	}
	t, err := f.native.From(schema.Schema)
	if err != nil {
		return nil, err
	}
	schema.Readers.Store(key, t)
	return t, nil
}
