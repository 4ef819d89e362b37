package native_test

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/sabir-go/sabir/internal/native"
)

// fuzzTargets are types of every sort. The first byte of fuzzed data picks one.
var fuzzTargets = []reflect.Type{
	reflect.TypeFor[everything](), reflect.TypeFor[nested](), reflect.TypeFor[list](), reflect.TypeFor[tree](),
	reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[[]struct{}](), reflect.TypeFor[[]*page[money]](),
	reflect.TypeFor[map[[2]int8]map[string]string](), reflect.TypeFor[[][3][]bool](), reflect.TypeFor[figure](),
}

// bytesPerByte bounds the memory that one byte of input may cost: a nested struct takes 20 bytes on the wire and some
// hundred in a map, and a map of one entry has space for eight.
const bytesPerByte = 1024

func FuzzDecode(f *testing.F) {
	for i, t := range fuzzTargets {
		data, err := native.Append(nil, reflect.New(t).Interface())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), data[8:])
	}
	full := everythingValue()
	data, err := native.Append(nil, &full)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(0), data[8:])
	deep := []any{[]any{map[string]any{"a": []any{1, "b"}}}, full}
	if data, err = native.Append(nil, &deep); err != nil {
		f.Fatal(err)
	}
	f.Add(byte(4), data[8:])
	f.Fuzz(func(t *testing.T, pick byte, data []byte) {
		typ := fuzzTargets[int(pick)%len(fuzzTargets)]
		schema, err := native.SchemaOf(typ)
		if err != nil {
			t.Fatal(err)
		}
		hash := schema.Hash()
		message := append(hash[:], data...)
		target := reflect.New(typ).Interface()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = native.Decode(message, target)
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(256<<10+bytesPerByte*len(data)); got > limit {
			t.Errorf("%d bytes of data made %d bytes of a %s, want at most %d", len(data), got, typ, limit)
		}
		if err != nil {
			return
		}
		// What was decoded can be encoded, and what that gives decodes.
		again, err := native.Append(nil, target)
		if err != nil {
			t.Fatalf("%s: encode what was decoded: %v", typ, err)
		}
		if err := native.Decode(again, reflect.New(typ).Interface()); err != nil {
			t.Fatalf("%s: decode it again: %v", typ, err)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for i, t := range fuzzTargets {
		schema, err := native.SchemaOf(t)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), schema.Bytes(), []byte{1, 2, 3})
		f.Add(byte(i+1), schema.Bytes(), []byte{0, 0, 0, 0})
	}
	f.Add(byte(0), chain(20), make([]byte, 100))
	f.Fuzz(func(t *testing.T, pick byte, schemaBytes, data []byte) {
		schema, err := native.ParseSchema(schemaBytes)
		if err != nil {
			return
		}
		again, err := native.ParseSchema(schema.Bytes())
		if err != nil || again.Hash() != schema.Hash() {
			t.Fatalf("the schema does not come back: %v", err)
		}
		typ := fuzzTargets[int(pick)%len(fuzzTargets)]
		dynamic, err := native.Of(typ)
		if err != nil {
			t.Fatal(err)
		}
		translation, err := dynamic.From(schema)
		if err != nil {
			return
		}
		_ = translation.DecodeValue(data, reflect.New(typ).Interface()) // an error or a value, never a panic
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("name", int64(-1), uint64(300), int32(5), 1.5, true, []byte("bytes"), uint8(3))
	f.Add("", int64(0), uint64(0), int32(0), 0.0, false, []byte(nil), uint8(0))
	f.Fuzz(func(t *testing.T, s string, i int64, u uint64, i32 int32, fl float64, b bool, raw []byte, n uint8) {
		v := everything{String: s, Int64: i, Uint64: u, Int32: i32, Float64: fl, Bool: b, Bytes: raw, Int16: int16(i), Int8: int8(i),
			Uint32: uint32(u), Any: s, Pointer: new(int(i)), Map: map[int]float64{int(i32): 1}, Struct: pid{s, u, i}}
		for range n {
			v.Slice = append(v.Slice, s)
		}
		if fl != fl {
			v.Float64 = 0 // a NaN is equal to nothing
		}
		if got := back(t, v); !reflect.DeepEqual(got, v) {
			t.Errorf("got  %#v\nwant %#v", got, v)
		}
	})
}
