package native_test

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/native"
)

// The eight shapes on which actor runtimes compare their codecs: a string, two process names, and structs and maps of
// growing depth.
type (
	pid struct {
		Node     string
		ID       uint64
		Creation int64
	}
	processID struct{ Name, Node string }
	simple    struct {
		A float32
		B float64
		C string
	}
	complexStruct struct {
		Name      string
		ID        int32
		Tags      []string
		Metadata  map[string]string
		PID       pid
		ProcessID processID
	}
	nested struct {
		Name       string
		ID         int32
		Complex    complexStruct
		ComplexMap map[string]complexStruct
		NestedMap  map[string]string
	}
	item struct {
		Name string
		ID   int32
	}
)

func complexValue() complexStruct {
	return complexStruct{
		Name: "test", ID: 123, Tags: []string{"tag1", "tag2"},
		Metadata:  map[string]string{"key1": "value1", "key2": "value2"},
		PID:       pid{"node1", 1, 1},
		ProcessID: processID{"process1", "node1"},
	}
}

func nestedValue() nested {
	return nested{
		Name: "nested", ID: 456, Complex: complexValue(),
		ComplexMap: map[string]complexStruct{"complex1": complexValue()},
		NestedMap:  map[string]string{"key1": "value1", "key2": "value2"},
	}
}

func BenchmarkString(b *testing.B) { shape(b, "Ergo Framework") }
func BenchmarkPID(b *testing.B)    { shape(b, pid{"demo@127.0.0.1", 312, 2}) }
func BenchmarkProcessID(b *testing.B) {
	shape(b, processID{Name: "example", Node: "demo@127.0.0.1"})
}
func BenchmarkSimpleStruct(b *testing.B)  { shape(b, simple{123.45, 678.90, "test"}) }
func BenchmarkComplexStruct(b *testing.B) { shape(b, complexValue()) }
func BenchmarkNestedStruct(b *testing.B)  { shape(b, nestedValue()) }
func BenchmarkMap(b *testing.B) {
	shape(b, map[string]item{"key1": {"test1", 123}, "key2": {"test2", 456}})
}
func BenchmarkNestedMap(b *testing.B) {
	shape(b, map[string]map[string]item{
		"outer1": {"inner1": {"test1", 123}, "inner2": {"test2", 456}},
		"outer2": {"inner3": {"test3", 789}},
	})
}

// shape measures one value in the native codec and two others. Gob has its types sent once before, which is its best
// case: one stream between two fixed ends.
func shape[T any](b *testing.B, v T) {
	typ := native.For[T]()
	buffer := make([]byte, 0, 4096)
	data, err := typ.Append(nil, &v)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode/native", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := typ.Append(buffer, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode/codec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := native.Append(buffer, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode/gob", func(b *testing.B) { encodeGob(b, v) })
	b.Run("encode/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Codec.Append(buffer, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/native", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var back T
			if err := typ.Decode(data, &back); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/alias", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var back T
			if err := typ.DecodeAlias(data, &back); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/gob", func(b *testing.B) { decodeGob(b, v) })
	b.Run("decode/json", func(b *testing.B) {
		text, err := json.Codec.Append(nil, &v)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			var back T
			if err := json.Codec.Decode(text, &back); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func encodeGob[T any](b *testing.B, v T) {
	var out bytes.Buffer
	encoder := gob.NewEncoder(&out)
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := encoder.Encode(&v); err != nil {
			b.Fatal(err)
		}
	}
}

// decodeGob keeps one decoder and feeds it the same message again and again.
func decodeGob[T any](b *testing.B, v T) {
	var in bytes.Buffer
	encoder, decoder := gob.NewEncoder(&in), gob.NewDecoder(&in)
	var back T
	if err := encoder.Encode(&v); err != nil {
		b.Fatal(err)
	}
	if err := decoder.Decode(&back); err != nil {
		b.Fatal(err)
	}
	if err := encoder.Encode(&v); err != nil {
		b.Fatal(err)
	}
	message := bytes.Clone(in.Bytes())
	in.Reset()
	b.ReportAllocs()
	for b.Loop() {
		var back T
		in.Write(message)
		if err := decoder.Decode(&back); err != nil {
			b.Fatal(err)
		}
	}
}
