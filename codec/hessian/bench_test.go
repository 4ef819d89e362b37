package hessian_test

import (
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

// complexObject is the reply of the benchmark by which node-hsf is known: strings, numbers and lists inside each other.
func complexObject() map[string]any {
	return map[string]any{
		"string": "hello world", "number": 1024.1, "boolean": true,
		"array": []any{"hello", 1024.12, true, map[string]any{"foo": "bar"}, []any{int32(1), int32(2), int32(3)}},
		"obj": map[string]any{
			"string": "hello", "boolean": true, "array": []any{"hello", "world"}, "number": 1024.123,
			"obj": map[string]any{"foo": "bar"},
		},
	}
}

// complexStruct is the complex value of the benchmarks with Go types.
type complexStruct struct {
	String  string  `json:"string"`
	Number  float64 `json:"number"`
	Boolean bool    `json:"boolean"`
	Array   []any   `json:"array"`
	Obj     struct {
		String  string   `json:"string"`
		Boolean bool     `json:"boolean"`
		Array   []string `json:"array"`
		Number  float64  `json:"number"`
		Obj     struct {
			Foo string `json:"foo"`
		} `json:"obj"`
	} `json:"obj"`
}

func BenchmarkComplexObject(b *testing.B) {
	v := complexObject()
	data, err := hessian.Codec.Append(nil, v)
	if err != nil {
		b.Fatal(err)
	}
	var typed complexStruct
	if err := hessian.Codec.Decode(data, &typed); err != nil {
		b.Fatal(err)
	}
	var boxed any = v
	buffer := make([]byte, 0, 1024)
	b.Run("append/map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := hessian.Codec.Append(buffer, boxed); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append/struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := hessian.Codec.Append(buffer, &typed); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/any", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got any
			if err := hessian.Codec.Decode(data, &got); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got complexStruct
			if err := hessian.Codec.Decode(data, &got); err != nil {
				b.Fatal(err)
			}
		}
	})
}
