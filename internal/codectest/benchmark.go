package codectest

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
)

// Benchmark measures Append into a reused buffer and Decode into a fresh value over eight values from 10 bytes to 1 MB of
// JSON. Each row also has the bytes that the value takes ("wire-B"). Values that c refuses are left out.
func Benchmark(b *testing.B, c codec.Codec) {
	type small struct {
		ID int `json:"id"`
	}
	floats, ints, words, counts := make([]float64, 1000), make([]int64, 1000), make([]string, 1000), make(map[string]int, 1000)
	for i := range 1000 {
		floats[i], ints[i], words[i] = math.Sqrt(float64(i)), int64(i)*1_000_003, strings.Repeat("word ", i%20)
		counts[fmt.Sprint("key-", i)] = i
	}
	for _, shape := range []struct {
		name  string
		value any
	}{
		{"10B", small{12345}},
		{"300B", someUser(1)},
		{"10kB", users(35)},
		{"100kB", users(350)},
		{"1MB", users(3500)},
		{"floats", floats},
		{"integers", ints},
		{"strings", words},
		{"map", counts},
	} {
		data, err := c.Append(nil, shape.value)
		if err != nil {
			b.Logf("%s: %v", shape.name, err)
			continue
		}
		pointer := reflect.New(reflect.TypeOf(shape.value))
		pointer.Elem().Set(reflect.ValueOf(shape.value))
		value := pointer.Interface()
		b.Run(shape.name+"/append", func(b *testing.B) {
			buffer := make([]byte, 0, 2*len(data)+1024)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Append(buffer, value); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(data)), "wire-B")
		})
		b.Run(shape.name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Decode(data, reflect.New(pointer.Type().Elem()).Interface()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
