package json

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

// Name is the name of this codec in URLs, flags and handshakes.
const Name = "json"

// defaultMaxDepth is the depth to which objects and arrays may nest unless Config.MaxDepth sets another.
const defaultMaxDepth = 128

// maxMaxDepth is the depth limit of the library itself.
const maxMaxDepth = 10_000

// minRoom is the least capacity in bytes that Append offers the library, so that a small value never makes it grow.
const minRoom = 512

// Codec is the JSON codec as it is registered, for sabir.Codecs: see [codec.Codec].
var Codec = New(Config{})

func init() { codec.Register(Codec) }

// Config holds the settings of a codec made by [New].
type Config struct {
	// Strict makes Decode refuse an object member that the target has no field for, instead of skipping it.
	Strict bool
	// MaxDepth is how deep objects and arrays may nest, from 1 to 10000; [] has depth 1 and [[]] has depth 2. It holds for Decode
	// and for Append, so a codec reads what it wrote. Default: 128.
	MaxDepth int
}

// New returns a JSON codec with other settings than [Codec], which has those of the zero Config. It is not registered. It panics if
// MaxDepth is out of its range.
func New(config Config) codec.Codec { return codec.Contained(newCodec(config)) }

func newCodec(config Config) *jsonCodec {
	c := &jsonCodec{strict: config.Strict, maxDepth: cmp.Or(config.MaxDepth, defaultMaxDepth)}
	if c.maxDepth < 1 || c.maxDepth > maxMaxDepth {
		panic(fmt.Sprintf("json: MaxDepth is %d: want 1 to %d levels", c.maxDepth, maxMaxDepth))
	}
	c.library = jsonv2.JoinOptions(
		jsonv2.Deterministic(true),
		jsonv2.RejectUnknownMembers(c.strict),
		// The rest keeps the forms of encoding/json. Where the library has a newer form it would surprise both the
		// author of a struct tag and a peer that uses encoding/json.
		jsonv1.FormatByteArrayAsArray(true),
		jsonv1.FormatBytesWithLegacySemantics(true),
		jsonv1.FormatDurationAsNano(true),
		jsonv1.OmitEmptyWithLegacySemantics(true),
		jsonv1.StringifyWithLegacySemantics(true),
		jsonv2.WithUnmarshalers(bigNumbers),
	)
	return c
}

type jsonCodec struct {
	strict   bool
	maxDepth int
	library  jsonv2.Options
}

func (c *jsonCodec) Name() string { return Name }

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (c *jsonCodec) Append(dst []byte, v any) ([]byte, error) {
	if out, ok := c.appendFast(dst, v); ok {
		return out, nil
	}
	if err := c.endless(reflect.ValueOf(v)); err != nil {
		return dst, err
	}
	out := dst
	if cap(out)-len(out) < minRoom {
		out = slices.Grow(out, minRoom)
	}
	// The library writes straight into a bytes.Buffer. It is handed only the capacity behind out, because it sizes its
	// growth by all that the buffer holds.
	buffer := buffers.Get().(*bytes.Buffer)
	*buffer = *bytes.NewBuffer(out[len(out):])
	err := jsonv2.MarshalWrite(buffer, v, c.library)
	text := buffer.Bytes()
	*buffer = bytes.Buffer{} // keep nothing of the caller's in the pool
	buffers.Put(buffer)
	if err != nil {
		return dst, encodeError(err)
	}
	if at := tooDeep(text, c.maxDepth); at >= 0 {
		return dst, c.tooDeep(-1)
	}
	return append(out, text...), nil // already in place, unless the library had to grow the buffer
}

// appendFast writes v, or returns false where that is left to the library.
func (c *jsonCodec) appendFast(dst []byte, v any) ([]byte, bool) {
	t, at, ok := layout.Source(v)
	if !ok {
		return dst, false
	}
	p := planOf(t)
	if p == nil {
		return dst, false
	}
	w := writer{codec: c}
	out, ok := w.value(dst, p, at, c.maxDepth)
	if !ok || w.foreign && tooDeep(out[len(dst):], c.maxDepth) >= 0 {
		return dst, false
	}
	return out, true
}

// decodeFast reads data into v, or returns false where that is left to the library. Then some of *v may be set already; the
// library sets it again.
func (c *jsonCodec) decodeFast(data []byte, v any) bool {
	r := readers.Get().(*reader)
	defer r.release()
	p := r.planFor(v)
	if p == nil {
		return false
	}
	r.codec, r.data = c, data
	to := reflect.ValueOf(v).UnsafePointer()
	return to != nil && r.whole(p, to)
}

func (c *jsonCodec) Decode(data []byte, v any) error {
	if c.decodeFast(data, v) {
		return nil
	}
	if at := tooDeep(data, c.maxDepth); at >= 0 {
		return c.tooDeep(at)
	}
	if err := readable(v); err != nil {
		return err
	}
	if err := jsonv2.Unmarshal(data, v, c.library); err != nil {
		return decodeError(data, v, err)
	}
	return misnamed(data, reflect.TypeOf(v))
}
