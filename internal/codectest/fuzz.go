package codectest

import (
	"reflect"
	"testing"

	"github.com/sabir-go/sabir/codec"
)

// Fuzz fuzzes Decode of c. The first byte of the input picks a type among those of [Shapes]; the rest is the data. Decode
// must not panic, must keep to its memory and must fail with a *codec.Error; what it did decode can be encoded, and that
// decodes to the same value.
func Fuzz(f *testing.F, c codec.Codec, features Features) {
	s := &suite{Codec: c, Features: features}
	shapes := s.shapes()
	for i, shape := range shapes {
		if data := s.encode(f, shape.Value); len(data) <= longest {
			f.Add(byte(i), data)
		}
	}
	for _, data := range features.Hostile {
		f.Add(byte(0), data)
	}
	f.Fuzz(func(t *testing.T, pick byte, data []byte) {
		typ := reflect.TypeOf(shapes[int(pick)%len(shapes)].Value)
		got := reflect.New(typ)
		if s.decodeBounded(t, typ.String(), data, got.Interface()) != nil {
			return
		}
		again, err := c.Append(nil, got.Interface())
		if err != nil {
			// Some values can be read but not written, such as a NaN; the error must still be one of the codec.
			s.mustBeCodecError(t, "encode what was decoded", err)
			return
		}
		if err := c.Decode(again, reflect.New(typ).Interface()); err != nil {
			t.Errorf("%s: decode what was encoded: %v\nfrom %q", typ, err, again)
		}
	})
}
