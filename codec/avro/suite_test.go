package avro_test

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec/avro"
	"github.com/sabir-go/sabir/internal/codectest"
)

var features = codectest.Features{
	Evolves:      true,
	Widens:       true,
	TimeUnit:     time.Microsecond,
	BytesPerByte: 256, // parsing a schema takes up to 200
	UTF8:         codectest.UTF8Refused,
	Hostile: map[string][]byte{
		"no magic":               []byte("hello"),
		"a header without end":   []byte("Obj\x01"),
		"metadata of 2^62 pairs": []byte("Obj\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
		"a long schema name":     []byte("Obj\x01\x02\xfe\xff\xff\xff\x0f"),
		"an unknown fingerprint": []byte("\xc3\x01\x01\x02\x03\x04\x05\x06\x07\x08a"),
	},
}

func TestConformance(t *testing.T)      { codectest.Run(t, avro.Codec, features) }
func FuzzDecode(f *testing.F)           { codectest.Fuzz(f, avro.Codec, features) }
func BenchmarkContainer(b *testing.B)   { codectest.Benchmark(b, avro.Codec) }
func BenchmarkFingerprint(b *testing.B) { codectest.Benchmark(b, avro.SingleObject) }

func TestConformanceOfSingleObjects(t *testing.T) {
	alone := features
	alone.Evolves, alone.Widens = false, false
	codectest.Run(t, avro.SingleObject, alone)
}
