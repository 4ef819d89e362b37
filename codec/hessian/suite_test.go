package hessian_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/codectest"
)

var features = codectest.Features{
	Cycles:       true,
	Refuses:      map[string]string{"complex numbers": "Java has no complex numbers"},
	Evolves:      true,
	Widens:       true,
	KeepsNil:     true,
	Sorted:       true,
	TimeUnit:     time.Millisecond,
	UTF8:         codectest.UTF8Refused,
	Deep:         func(levels int) []byte { return bytes.Repeat([]byte{0x79}, levels) },
	BytesPerByte: bytesPerByte,
	Hostile: map[string][]byte{
		"a list of 2^31-1 elements":     []byte("X\x49\x7f\xff\xff\xff\x90"),
		"a list of -1 elements":         []byte("X\x8f"),
		"an open list without an end":   []byte("W\x90\x90"),
		"a map without an end":          []byte("H\x01a\x90"),
		"a map that ends after a key":   []byte("H\x01aZ"),
		"a class of 2^31-1 fields":      []byte("C\x01A\x49\x7f\xff\xff\xff\x60"),
		"an object of no class":         []byte("\x60"),
		"an object of the second class": []byte("C\x01A\x90\x61"),
		"a class without an object":     []byte("C\x01A\x90"),
		"a reference to nothing":        []byte("Q\x90"),
		"a reference to a later value":  []byte("z\x51\x91\x90"),
		"a type that was not named":     []byte("q\x95\x90"),
		"a string in endless chunks":    []byte(strings.Repeat("R\x00\x00", 50)),
		"binary data in endless chunks": []byte(strings.Repeat("A\x00\x00", 50)),
		"half a character":              []byte("\x01\xc3"),
		"a byte that begins nothing":    {0x40},
		"a string that is not UTF-8":    []byte("\x01\xff"),
	},
}

// bytesPerByte bounds the memory that one byte of data may cost: an empty list is one byte and takes a slice of 24, an
// element of 16 and a number of 64 in the table of what can be referred to, which doubles as it grows. A null is one
// byte and may stand for a struct of any size.
const bytesPerByte = 512

func TestConformance(t *testing.T) { codectest.Run(t, hessian.Codec, features) }

func FuzzShapes(f *testing.F) { codectest.Fuzz(f, hessian.Codec, features) }

func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, hessian.Codec) }
