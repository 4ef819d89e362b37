package native

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// Name is the name of this codec in URLs, flags and handshakes.
const Name = "native"

// Codec is the native codec as it is registered, for sabir.Codecs: see [codec.Codec]. Its first call registers it: an init function would link it into programs
// without a cluster, which never use it.
func Codec() codec.Codec {
	registerCodec.Do(func() { codec.Register(plain{}) })
	c, _ := codec.Lookup(Name)
	return c
}

var registerCodec sync.Once

// plain is the codec whose messages name which schema they have.
type plain struct{}

func (plain) Name() string                             { return Name }
func (plain) Append(dst []byte, v any) ([]byte, error) { return Append(dst, v) }
func (plain) Decode(data []byte, v any) error          { return Decode(data, v) }

// Append appends the 8-byte hash of v's schema and then the encoding of v to dst, as the registered codec does: see
// [codec.Codec]. v is a value or a pointer to one; a pointer is faster. [Type.Append] writes no hash.
func Append(dst []byte, v any) ([]byte, error) {
	t := reflect.TypeOf(v)
	if t == nil {
		return dst, encodeFault(nilValue)
	}
	var at unsafe.Pointer
	if t.Kind() == reflect.Pointer {
		t, at = t.Elem(), (*emptyInterface)(unsafe.Pointer(&v)).data
		if at == nil {
			return dst, encodeFault(nilValue)
		}
	} else {
		at = addressIn(v, t)
	}
	p, err := planOf(t)
	if err != nil {
		return dst, err
	}
	out, err := p.append(appendHash(dst, p.schema().hash), noescape(at))
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Decode reads a message of [Append] into v, a non-nil pointer, as the registered codec does: see [codec.Codec]. A message
// with another schema than that of *v is an error unless that schema was given to [AddSchema] and can be translated.
func Decode(data []byte, v any) error {
	t, err := targetOf(v)
	if err != nil {
		return err
	}
	if len(data) < headerBytes {
		return fault(len(data), fmt.Sprintf("%d bytes, want at least the %d of a schema hash", len(data), headerBytes))
	}
	p, err := planOf(t)
	if err != nil {
		return err
	}
	read, wrong := translationFor(Hash(data[:headerBytes]), p)
	if wrong != nil {
		return wrong
	}
	d := decoder{data: data, pos: headerBytes, share: shareNone}
	return d.whole(read, reflect.ValueOf(v).UnsafePointer())
}
