package cbor_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/internal/codectest"
)

var features = codectest.Features{
	Evolves:      true,
	Widens:       true,
	KeepsNil:     true,
	BytesPerByte: 256,
	Deep:         func(levels int) []byte { return []byte(strings.Repeat("\x81", levels)) },
	Hostile: map[string][]byte{
		"a list of 2^64-1":              []byte("\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"),
		"a map of 2^63":                 []byte("\xbb\x80\x00\x00\x00\x00\x00\x00\x00\x61a\x02"),
		"text of 2^64-1 bytes":          []byte("\x7b\xff\xff\xff\xff\xff\xff\xff\xffabc"),
		"bytes of 4 GB":                 []byte("\x5a\xff\xff\xff\xffabc"),
		"a list of 2^31":                []byte("\x9a\x80\x00\x00\x00abc"),
		"lists that claim each other":   []byte(strings.Repeat("\x99\x03\x00", 100) + strings.Repeat("\xf6", 800)),
		"lists without length":          []byte(strings.Repeat("\x9f", 10_000)),
		"text in pieces without end":    []byte("\x7f" + strings.Repeat("\x61a", 1000)),
		"text in pieces of bytes":       []byte("\x7f\x41a\xff"),
		"pieces in pieces":              []byte("\x7f\x7f\x61a\xff\xff"),
		"tags without a value":          []byte(strings.Repeat("\xc5", 10_000)),
		"a tag on a break":              []byte("\x9f\xc5\xff"),
		"a break alone":                 []byte("\xff"),
		"a simple value":                []byte("\xe0"),
		"a reserved length":             []byte("\x1c"),
		"an integer below -2^63":        []byte("\x3b\xff\xff\xff\xff\xff\xff\xff\xff"),
		"a bignum of 9 bytes":           []byte("\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00"),
		"a time that is a map":          []byte("\xc0\xa0"),
		"a time that is not one":        []byte("\xc0\x63abc"),
		"a time of infinitely many":     []byte("\xc1\xf9\x7c\x00"),
		"an integer without length":     []byte("\x1f"),
		"a map that ends behind a key":  []byte("\xbf\x61a\xff"),
		"a map of 1 that ends at a key": []byte("\xa1\x61a"),
	},
}

func TestConformance(t *testing.T) { codectest.Run(t, cbor.Codec, features) }

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, cbor.Codec, features) }

func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, cbor.Codec) }

// Times that were read as seconds since 1970, or with an offset of 24 hours and 60 minutes.
func TestATimeThatRFC3339HasNoFormForIsReadButNotWritten(t *testing.T) {
	for _, data := range []string{
		"\xc1\x1b\x00\x00\x0f\xff\xff\xff\xff\xff", "\xc1\x3b\x00\x00\x0f\xff\xff\xff\xff\xff", "\xc0\x78\x199999-12-31T23:59:59+24:60",
	} {
		var at time.Time
		if err := cbor.Codec.Decode([]byte(data), &at); err != nil {
			t.Fatal(err)
		}
		out, err := cbor.Codec.Append([]byte("before"), at)
		if _, ok := errors.AsType[*codec.Error](err); !ok || string(out) != "before" {
			t.Errorf("%v became %q, %v", at, out, err)
		}
	}
}
