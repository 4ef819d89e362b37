// Package document is the engine of the codecs whose bytes describe themselves: maps of names, lists, text,
// bytes and numbers. msgpack and cbor are such formats; each of them is a [Format], and [New] makes a codec of it.
//
// A Go type is compiled once, with the rules of package layout for names: the json tag names a field, and a tag with the
// name of the format comes before it. The options omitempty and omitzero mean what they mean to encoding/json.
//
// # What values look like
//
//	bool, string, []byte, [N]byte   what the format has for them; a string must be valid UTF-8
//	integers                        an integer in its shortest form
//	float32, float64                a float of that size
//	time.Time                       what the format has for a point in time
//	time.Duration                   an integer: nanoseconds
//	slices, arrays                  a list
//	maps                            a map; its keys are bools, text, integers or floats
//	structs                         a map by the names of the fields, in the order of the fields
//	types with MarshalBinary        bytes
//	types with MarshalText          text
//	complex numbers                 a map with the keys real and imag
//	any                             what it holds
//	nil                             nil
//
// # What is read
//
// Fields that the target does not have are skipped; fields that are missing keep the value that the target had. Names are
// matched with their case, and one that differs from a field's in its case only is refused. An integer is read from a float that has no fraction, and a float from an integer, because
// JavaScript knows only one kind of number; a number that the target cannot hold is an error. A key of a map that wants an
// integer is also read from its digits as text. nil gives the zero value. In a target of type any an integer becomes an int64,
// or a uint64 above its range, a list a []any and a map a map[string]any, whose keys are digits where they were integers.
//
// # Hostile input
//
// A length must fit into the bytes that are left, memory for elements that have not been read yet is bounded by 16 bytes for
// each byte of data, and nesting ends at [layout.MaxDepth], in both directions. A name twice in a struct and a key twice in a
// map are refused; in parts that are skipped they are not looked for, and what has known lengths there may nest deeper.
package document

import (
	"fmt"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// Format writes and reads the parts of a message. Its methods may be called from any number of goroutines.
type Format interface {
	// Name is the name of the codec, and of the struct tag that comes before the json tag.
	Name() string

	AppendNil(dst []byte) []byte
	AppendBool(dst []byte, v bool) []byte
	AppendInt(dst []byte, v int64) []byte
	AppendUint(dst []byte, v uint64) []byte
	AppendFloat32(dst []byte, v float32) []byte
	AppendFloat64(dst []byte, v float64) []byte
	AppendText(dst []byte, v string) []byte
	AppendBytes(dst []byte, v []byte) []byte
	AppendTime(dst []byte, v time.Time) ([]byte, error) // the error is that of a time that the format has no form for
	AppendList(dst []byte, n int) []byte                // what comes before n elements
	AppendMap(dst []byte, n int) []byte                 // what comes before n entries

	// Next reads the token at data[at:] into t and returns where the next one begins. The fault describes what is wrong, or
	// is "". Data is never taken beyond its end.
	Next(data []byte, at int, t *Token) (next int, fault string)
}

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	Nil   Kind = iota + 1
	Bool       // Bits is 0 or 1
	Int        // a negative integer: Bits is an int64
	Uint       // Bits
	Float      // Bits is a float64
	Text       // Data, not checked to be UTF-8
	Bytes      // Data
	List       // of N elements, which follow
	Map        // of N entries, which follow: key, value, key, value
	Time       // At
	Break      // the end of a List or Map whose N is Indefinite
	Other      // something that only the format knows; it can be skipped
)

var kindNames = [...]string{"nothing", "nil", "bool", "integer", "integer", "float", "text", "bytes", "list", "map", "time", "break", "extension"}

func (k Kind) String() string { return kindNames[k] }

// Indefinite is the N of a List or Map that ends with a Break.
const Indefinite = -1

// Token is one part of a message.
type Token struct {
	Kind Kind
	Bits uint64
	N    int
	Data []byte // of the message itself
	At   time.Time
}

// New returns the codec for a format. It is not registered.
func New(format Format) codec.Codec {
	return codec.Contained(&engine{format: format, name: format.Name(), rules: layout.Rules{Tag: format.Name(), TagNames: true, Inline: true}})
}

type engine struct {
	format Format
	name   string
	rules  layout.Rules
	plans  sync.Map // reflect.Type to *plan; it grows with the types of the program, never with input
}

func (e *engine) Name() string { return e.name }

func (e *engine) Append(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return e.format.AppendNil(dst), nil
	}
	t, at, ok := layout.Source(v)
	if !ok {
		return e.format.AppendNil(dst), nil
	}
	p, err := e.planOf(t)
	if err != nil {
		return dst, &codec.Error{Codec: e.name, Offset: -1, Message: err.Error(), Err: err}
	}
	out, fault := e.append(dst, p, at, layout.MaxDepth)
	if fault != nil {
		return dst, fault
	}
	return out, nil
}

func (e *engine) Decode(data []byte, v any) error {
	t, at, ok := layout.Target(v)
	if !ok {
		return &codec.Error{Codec: e.name, Offset: -1, Message: fmt.Sprintf("Decode needs a non-nil pointer, got %T", v)}
	}
	p, err := e.planOf(t)
	if err != nil {
		return &codec.Error{Codec: e.name, Offset: -1, Message: err.Error(), Err: err}
	}
	d := decoders.Get().(*decoder)
	*d = decoder{engine: e, format: e.format, data: data, foreseen: roomPerByte*len(data) + minRoom}
	defer d.release()
	if fault := d.value(p, at, layout.MaxDepth); fault != nil {
		return fault
	}
	if d.pos < len(data) {
		return d.fail(d.pos, fmt.Sprintf("%d bytes after the end of the value", len(data)-d.pos))
	}
	return nil
}

func (e *engine) fault(message string) *codec.Error {
	return &codec.Error{Codec: e.name, Offset: -1, Message: message}
}

func (e *engine) wrapped(err error) *codec.Error {
	return &codec.Error{Codec: e.name, Offset: -1, Message: err.Error(), Err: err}
}

var tooDeep = fmt.Sprintf("nested deeper than %d levels, or a value that contains itself", layout.MaxDepth)

// load returns the value at at.
func load[T any](at unsafe.Pointer) T { return *(*T)(at) }

func store[T any](at unsafe.Pointer, v T) { *(*T)(at) = v }

var (
	stringMap = reflect.TypeFor[map[string]string]()
	anyMap    = reflect.TypeFor[map[string]any]()
)
