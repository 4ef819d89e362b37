package avro

import (
	"fmt"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// codecName is the name of this codec in URLs, flags and handshakes.
const codecName = "avro"

var (
	// Codec is the Avro codec as it is registered, for sabir.Codecs: see [codec.Codec]. It appends a value with the schema of its type in
	// a container file, and reads data in either of the two forms.
	Codec = codec.Contained(&avroCodec{})
	// SingleObject is Codec, but appends the 10 bytes of a single-object encoding before a value instead of a container file around
	// it. Who reads that must have the same schema, or know it from [AddSchema]. It is not registered.
	SingleObject = codec.Contained(&avroCodec{fingerprint: true})
)

func init() { codec.Register(Codec) }

type avroCodec struct {
	fingerprint bool
}

func (c *avroCodec) Name() string { return codecName }

func (c *avroCodec) Append(dst []byte, v any) ([]byte, error) {
	t, at, ok := layout.Source(v)
	if !ok {
		return dst, fault(-1, "a nil pointer has no value to encode")
	}
	p, wrong := planOf(t)
	if wrong != nil {
		return dst, wrong
	}
	e := encoders.Get().(*encoder)
	e.buf, e.failed = e.buf[:0], nil
	e.value(p.write, at, layout.MaxDepth)
	if e.failed != nil {
		wrong = e.failed
		encoders.Put(e)
		return dst, wrong
	}
	if c.fingerprint {
		dst = appendSingleObject(dst, p, e.buf)
	} else {
		dst = appendContainer(dst, p, e.buf)
	}
	if cap(e.buf) <= maxKept {
		encoders.Put(e)
	}
	return dst, nil
}

func (c *avroCodec) Decode(data []byte, v any) error {
	t, at, ok := layout.Target(v)
	if !ok {
		return fault(-1, fmt.Sprintf("Decode needs a pointer that is not nil, got %T", v))
	}
	p, wrong := planOf(t)
	if wrong != nil {
		return wrong
	}
	body, start, read, wrong := p.open(data)
	if wrong != nil {
		return wrong
	}
	p.typ.Zero(at)
	d := decoder{data: body, start: start, steps: firstSteps + stepsPerByte*len(data)}
	d.value(read, at, layout.MaxDepth)
	if rest := len(body) - d.pos; rest > 0 {
		d.fail(fmt.Sprintf("%d bytes after the end of the value", rest))
	}
	if d.failed != nil {
		return d.failed
	}
	return nil
}

// fault makes an error of this codec at an unknown place. The path is put before it on the way out.
func fault(offset int, text string) *codec.Error {
	return &codec.Error{Codec: codecName, Offset: int64(offset), Message: text}
}
