package hessian

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// codecName is the name of this codec in URLs, flags and handshakes.
const codecName = "hessian"

// maxDepth is the depth to which lists, maps and objects may nest in one value.
const maxDepth = 128

// Codec is the Hessian codec as it is registered, for sabir.Codecs: see [codec.Codec]. Appending a pointer is a little faster than a value.
// Equal values give equal bytes: maps with keys of strings or numbers are written in the order of their keys.
var Codec = codec.Contained(plain{})

func init() { codec.Register(Codec) }

type plain struct{}

func (plain) Name() string { return codecName }

var (
	encoders = sync.Pool{New: func() any { return new(Encoder) }}
	decoders = sync.Pool{New: func() any { return new(Decoder) }}
)

func (plain) Append(dst []byte, v any) ([]byte, error) {
	e := encoders.Get().(*Encoder)
	e.out = dst
	err := e.root(v)
	out := e.out
	e.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (plain) Decode(data []byte, v any) error {
	p, at, err := targetOf(v)
	if err != nil {
		return err
	}
	d := decoders.Get().(*Decoder)
	d.data = data
	if d.value(p, at) && d.pos != len(d.data) {
		d.fail(fmt.Sprintf("%d bytes after the end of the value", len(d.data)-d.pos))
	}
	wrong := d.fault
	d.release()
	if wrong != nil {
		return wrong
	}
	return nil
}

// targetOf returns the plan and the address of what v points to.
func targetOf(v any) (*plan, unsafe.Pointer, error) {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, nil, fault(-1, fmt.Sprintf("the target is a %v, want a pointer to a value", t))
	}
	at := (*emptyInterface)(unsafe.Pointer(&v)).data
	if at == nil {
		return nil, nil, fault(-1, "the target is nil, want a pointer to a value")
	}
	p, err := planOf(t.Elem())
	return p, at, err
}

// emptyInterface is the memory layout of a value of type any.
type emptyInterface struct {
	typ, data unsafe.Pointer
}
