package native_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/native"
)

type (
	plainKinds struct {
		Bool     bool
		Int      int   `json:"int"`
		Int8     int8  `json:"a/b~c"`
		Int16    int16 `json:"<&>"`
		Int32    int32 `json:"größe"`
		Int64    int64 `json:"-"`
		Uint     uint
		Uint8    uint8 `sabir:",alias=old"`
		Uint16   uint16
		Uint32   uint32
		Uint64   uint64
		Float32  float32
		Float64  float64
		String   string
		Bytes    []byte
		Hash     [4]byte
		Array    [2]int16
		None     [0]int
		Slice    []string
		Map      map[int]float64
		Strings  map[string]string
		Pointer  *int
		Struct   pid
		Time     time.Time
		Duration time.Duration
		Empty    struct{}
	}
	fieldsOfAllKinds struct {
		plainKinds
		Text money
		Any  any
	}
	octet   byte
	twofold struct{ Inner struct{ Next *twofold } }
	branch  struct {
		Name     string
		Children []branch
		Parent   *branch
		ByName   map[string]branch
	}
)

// valuesWithJSON are values of all kinds that can be JSON.
func valuesWithJSON() []any {
	seven, leaf := 7, branch{Name: "leaf"}
	pointer := &seven
	return []any{
		true, false, "", "text", -1, int8(-128), int16(-32768), int32(math.MinInt32), int64(math.MinInt64), int64(math.MaxInt64),
		uint(1), uint8(255), uint16(65535), uint32(math.MaxUint32), uint64(math.MaxUint64), uintptr(3),
		[]float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e20, 1e21, 123456789e13, 1e-6, 1e-7, 1.5e-9, 1e-10, 1e-100, math.MaxFloat64, 5e-324},
		[]float32{0, 1.1, 16777216, 1e20, 1e21, 1e-6, 1e-7, 3.4e-9, math.MaxFloat32, math.SmallestNonzeroFloat32},
		"quote \" slash / \\ controls \x00\b\f\n\r\t\x1f\x7f html <&> lines \u2028\u2029 wide \U00010348",
		[]byte(nil), []byte{}, []byte{1}, []byte{1, 2}, []byte{1, 2, 3}, []octet{1, 2}, [3]byte{1, 2, 3}, [2]octet{}, [0]byte{},
		[]int(nil), []int{}, []int{1, 2}, [2]string{"a", ""}, [0]int{}, [3]struct{}{}, []struct{}(nil), []struct{}{}, make([]struct{}, 3),
		[][]int{nil, {}, {1}}, [][2][]bool{{nil, {true}}},
		map[string]int(nil), map[string]int{}, map[string]string(nil), map[[2]int8]bool{}, map[struct{}]int{},
		map[string]int{"b": 1, "a": 2, "": 3, "\"": 4, "#": 5, " ": 6, "!": 7, "\x00": 8, "\uffff": 9, "\U00010000": 10, "aa": 11},
		map[int]string{10: "a", 9: "b", -1: "c", 0: "d"}, map[int8]bool{-128: true, 127: false},
		map[uint64]int{math.MaxUint64: 1, 2: 2, 100: 3}, map[float64]int{1.5: 1, 1e30: 2, -2: 3}, map[float32]int{1.1: 1},
		map[time.Time]int{time.Unix(0, 5).UTC(): 1, time.Unix(-9, 0).UTC(): 2}, map[time.Duration]int{time.Second: 1, 5: 2},
		map[color]color{"red": "blue", "blue": "red"}, map[money]money{{5}: {6}, {4}: {5}},
		map[string]map[string][]map[int]int{"b": {"d": {{2: 1, 1: 2}, {}, {3: 1, 10: 1}}, "c": nil}, "a": {"z": nil, "y": {nil}}},
		pointer, &pointer, (**int)(nil), []*int{nil, &seven}, struct{}{}, struct{ P *int }{},
		time.Time{}, time.Unix(1700000000, 5).UTC(), time.Unix(-1, 120000000).UTC(), time.Second,
		time.Date(2026, 7, 1, 12, 0, 0, 1, time.FixedZone("CEST", 2*3600)), time.Date(2026, 7, 1, 12, 0, 0, 0, time.FixedZone("", 0)),
		time.Date(1900, 1, 1, 0, 0, 0, 0, time.FixedZone("LMT", -4772)), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		money{5}, []money{{-7}}, &money{1}, color("red"),
		fieldsOfAllKinds{},
		fieldsOfAllKinds{plainKinds{
			Bool: true, Int: -1, Int8: 2, Int16: 3, Int32: 4, Uint: 5, Uint8: 6, Uint16: 7, Uint32: 8, Uint64: 9, Float32: 1.5, Float64: -2.5,
			String: "Ada", Bytes: []byte{0, 1}, Hash: [4]byte{9}, Array: [2]int16{1, -2}, Slice: []string{"a"}, Map: map[int]float64{-5: 2.5, 5: 1},
			Strings: map[string]string{"b": "", "a": "x"}, Pointer: &seven, Struct: pid{"n", 1, -2}, Time: time.Unix(1, 0).UTC(), Duration: -time.Second,
		}, money{3}, []any{"x", 4, nil}},
		derived{base: base{ID: 1, Version: 2}, Name: "x", ID: 3},
		pid{"demo@127.0.0.1", 312, 2}, simple{123.45, 678.90, "test"}, complexValue(), nestedValue(),
		branch{Name: "root", Children: []branch{leaf, {Children: []branch{leaf}}}, Parent: &leaf, ByName: map[string]branch{"b": leaf, "a": {ByName: map[string]branch{"d": leaf, "c": leaf}}}},
		page[string]{Items: []string{"a"}, Next: &page[string]{Items: []string{"b"}}}, list{{}, nil, {{}}},
		[]any{nil, true, "s", 1, int8(1), uint64(1), float32(1.1), 1.0, []byte("b"), time.Unix(1, 0).UTC(), time.Second, []any{}, map[string]any{"b": 1, "a": nil}},
		map[string]any{"z": map[string]any{"b": []any{1, "c"}, "a": nil}, "y": []any(nil), "x": map[string]any(nil)},
		[]figure{square{2}, &circle{1}, nil},
	}
}

// toJSON encodes v by the native codec and turns the bytes into JSON.
func toJSON(t *testing.T, v any) (string, error) {
	t.Helper()
	schema, err := native.SchemaOf(reflect.TypeOf(v))
	if err != nil {
		t.Fatal(err)
	}
	pointer := reflect.New(reflect.TypeOf(v)) // the plain codec takes a pointer for what it points to
	pointer.Elem().Set(reflect.ValueOf(v))
	message, err := native.Append(nil, pointer.Interface())
	if err != nil {
		t.Fatalf("encode %#v: %v", v, err)
	}
	text, err := schema.AppendJSON([]byte("before"), message[8:])
	if !strings.HasPrefix(string(text), "before") || err != nil && len(text) != len("before") {
		t.Errorf("%#v: the buffer has become %q, %v", v, text, err)
	}
	return string(text[len("before"):]), err
}

func TestJSONOfASchemaIsWhatTheJSONCodecWritesForTheValue(t *testing.T) {
	for _, v := range valuesWithJSON() {
		want, err := json.Codec.Append(nil, v)
		if err != nil {
			t.Fatalf("%#v: %v", v, err)
		}
		if got, err := toJSON(t, v); err != nil || got != string(want) {
			t.Errorf("%#v\ngot  %s, %v\nwant %s", v, got, err, want)
		}
	}
}

// What the schema does not describe: here the text is another than that of codec/json.
func TestJSONOfASchemaKnowsNoMethodsAndNoTagsOfJSON(t *testing.T) {
	type options struct {
		Omitted int `json:"omitted,omitempty"`
		Quoted  int `json:"quoted,string"`
		Named   int `json:"named" sabir:"other"`
	}
	for _, tt := range []struct {
		name, want string
		value      any
	}{
		{"tags", `{"omitted":0,"quoted":1,"other":2}`, options{Quoted: 1, Named: 2}},
		{"MarshalJSON besides MarshalText", `"12"`, *big.NewInt(12)},
		{"MarshalText besides MarshalBinary", `"CgAAAQ=="`, netip.MustParseAddr("10.0.0.1")},
		{"keys with MarshalBinary", `{"CgAAAQ==":1}`, map[netip.Addr]int{netip.MustParseAddr("10.0.0.1"): 1}},
	} {
		if got, err := toJSON(t, tt.value); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestWhatJSONCannotHoldIsRefusedByBothCodecs(t *testing.T) {
	deep := func(objects int) (v *twofold) { // an even number
		for range objects / 2 {
			v = &twofold{Inner: struct{ Next *twofold }{v}}
		}
		return v
	}
	for _, tt := range []struct {
		name, pointer, want string
		value               any
	}{
		{"NaN", "/1", "NaN", []float64{0, math.NaN()}},
		{"an infinity", "/a~1b/B", "infinity", map[string]simple{"a/b": {B: math.Inf(-1)}}},
		{"a float32 that is an infinity", "/A", "infinity", simple{A: float32(math.Inf(1))}},
		{"complex64", "", "complex64", complex64(1)},
		{"complex128", "/0", "complex128", []complex128{1}},
		{"a string that is not UTF-8", "/Node", "UTF-8", pid{Node: "a\xff"}},
		{"a key that is not UTF-8", "/0", "UTF-8", map[string]int{"a\xff": 1}},
		{"a year before 0", "", "RFC 3339", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"a year after 9999", "", "RFC 3339", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"an offset of 30 hours", "", "RFC 3339", time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 30*3600))},
		{"bool keys", "/0", "keys of kind bool", map[bool]int{true: 1}},
		{"array keys", "/0", "keys of kind array", map[[2]int8]int{{1, 2}: 1}},
		{"struct keys", "/0", "keys of kind struct", map[struct{}]int{{}: 1}},
		{"NaN as a key", "/0", "NaN", map[float64]int{math.NaN(): 1}},
		{"130 objects", strings.Repeat("/Inner/Next", 64), "128 objects and arrays", deep(130)},
	} {
		if _, err := json.Codec.Append(nil, tt.value); err == nil {
			t.Errorf("%s: codec/json writes it", tt.name)
		}
		_, err := toJSON(t, tt.value)
		if fault, ok := errors.AsType[*codec.Error](err); !ok || fault.Pointer != tt.pointer || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q at %q", tt.name, err, tt.want, tt.pointer)
		}
	}
	if _, err := toJSON(t, deep(128)); err != nil {
		t.Errorf("128 objects: %v", err)
	}
}

func TestBadBytesAreNoJSON(t *testing.T) {
	for _, tt := range []struct {
		schema              *native.Schema
		data, pointer, want string
	}{
		{native.For[bool]().Schema(), "02", "", "bool"},
		{native.For[int]().Schema(), "", "", "ends inside"},
		{native.For[int]().Schema(), "8000", "", "more bytes than it needs"},
		{native.For[int]().Schema(), "00 00", "", "1 bytes after the end"},
		{native.For[int16]().Schema(), "808004", "", "want int16"},
		{native.For[int32]().Schema(), "8080808010", "", "want int32"},
		{native.For[uint16]().Schema(), "808004", "", "want uint16"},
		{native.For[uint32]().Schema(), "8080808010", "", "want uint32"},
		{native.For[float64]().Schema(), "000000", "", "ends inside"},
		{native.For[string]().Schema(), "ffffffffffffffffff01", "", "ends inside"},
		{native.For[[]byte]().Schema(), "0561", "", "ends inside"},
		{native.For[netip.Addr]().Schema(), "0561", "", "ends inside"},
		{native.For[[4]byte]().Schema(), "0561", "", "ends inside"},
		{native.For[[1 << 28]int]().Schema(), "0561", "", "ends inside"},
		{native.For[time.Time]().Schema(), "00 8094ebdc03 00", "", "nanoseconds"},
		{native.For[*int]().Schema(), "02", "", "want 0 for nil or 1"},
		{native.For[[]int]().Schema(), "05 00", "", "a count of 4 elements, but only 1 bytes"},
		{native.For[[]struct{}]().Schema(), "03 0001", "", "not a zero byte"},
		{native.For[map[string]int]().Schema(), "03 016100 016100", "", "same key twice"},
		{native.For[map[int]int]().Schema(), "04 0200 0400 0200", "", "same key twice"},
		{native.For[map[string]int]().Schema(), "02 0561", "/0", "ends inside"},
		{native.For[map[string]bool]().Schema(), "02 016105", "/a", "bool"},
		{native.For[nested]().Schema(), "00 00 00 00 00 00 00 00 00 00 00 02 01 61 00 00 02 70 00 00 00 00 00 00 00", "/ComplexMap/a/Tags/0", "ends inside"},
		{native.For[list]().Schema(), strings.Repeat("02", 128) + "00", strings.Repeat("/0", 128), "inside each other"},
		{native.For[[]any]().Schema(), "02 03 666f6f 0102030405060708 00", "/0", "want an interface with a known type, got schema 0102030405060708: register the type"},
		{native.For[any]().Schema(), "06 737472696e67 41a7518000c6c41c 03 0178", "", "ends inside"},
		{native.For[any]().Schema(), "06 737472696e67 41a7518000c6c41c 03 017800", "", "1 bytes after the end of an interface"},
		{native.For[any]().Schema(), "06 737472696e67 41a7518000c6c41c 01 0178", "", "ends inside"},
		{nil, "00", "", "nil schema"},
	} {
		raw, err := hex.DecodeString(strings.ReplaceAll(tt.data, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		text, err := tt.schema.AppendJSON([]byte("kept"), raw)
		fault, ok := errors.AsType[*codec.Error](err)
		if !ok || fault.Pointer != tt.pointer || !strings.Contains(err.Error(), tt.want) || string(text) != "kept" {
			t.Errorf("%s: got %q, %v, want %q at %q", tt.data, text, err, tt.want, tt.pointer)
		}
	}
}

func TestNoPrefixOfAMessageIsJSON(t *testing.T) {
	v := nestedValue()
	data, err := native.For[nested]().Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if text, err := native.For[nested]().Schema().AppendJSON(nil, data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes gave %s", n, len(data), text)
		}
	}
}

func TestAnInterfaceValueNeedsItsSchemaButNoType(t *testing.T) {
	// The name "elsewhere" is registered in another program only. The schema is that of a struct with an int64 named X.
	schema, err := native.ParseSchema([]byte{1, 32, 1, 24, 0, 1, 1, 'X', 5})
	if err != nil {
		t.Fatal(err)
	}
	hash := schema.Hash()
	data := append(append([]byte("\x09elsewhere"), hash[:]...), 1, 14)
	anything := native.For[any]().Schema()
	if _, err := anything.AppendJSON(nil, data); err == nil || !strings.Contains(err.Error(), "native.AddSchema") {
		t.Errorf("before the schema is known: %v", err)
	}
	if err := native.AddSchema(schema); err != nil {
		t.Fatal(err)
	}
	defer native.ForgetSchemas()
	if text, err := anything.AppendJSON(nil, data); err != nil || string(text) != `{"X":7}` {
		t.Errorf("got %s, %v", text, err)
	}
}

// A hostile schema gives values without bytes as many names as it likes.
func TestTextOutOfProportionToTheDataIsRefused(t *testing.T) {
	doubling := []byte{1, 32, 0x80, 1} // 128 structs: each holds the next one twice, the last is empty
	for i := range 127 {
		next := 33 + i // two bytes from 128 on
		reference := []byte{byte(next)}
		if next >= 0x80 {
			reference = []byte{byte(next) | 0x80, byte(next >> 7)}
		}
		doubling = append(append(append(append(doubling, 24, 0, 2, 1, 'a'), reference...), 1, 'b'), reference...)
	}
	doubling = append(doubling, 24, 0, 0)
	for name, raw := range map[string][]byte{
		"2^127 empty objects":        doubling,
		"an array of 2^31-1 of them": {1, 32, 2, 22, 0xff, 0xff, 0xff, 0xff, 7, 33, 24, 0, 0},
	} {
		schema, err := native.ParseSchema(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkMemory(t, nil, 4<<20, func() {
			if _, err := schema.AppendJSON(nil, nil); err == nil || !strings.Contains(err.Error(), "too long for its data") {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}

// typesWithJSON are types of which every message gives the same text as the two codecs one after the other. A type with a MarshalText is
// none: it may read a text and write another.
func typesWithJSON() map[native.Hash]reflect.Type {
	types := make(map[native.Hash]reflect.Type)
	for _, t := range []reflect.Type{
		reflect.TypeFor[plainKinds](), reflect.TypeFor[nested](), reflect.TypeFor[list](), reflect.TypeFor[branch](),
		reflect.TypeFor[map[int8]map[string][]map[uint16]string](), reflect.TypeFor[[][3][]bool](), reflect.TypeFor[[]struct{}](),
		reflect.TypeFor[[]float32](), reflect.TypeFor[[]time.Time](), reflect.TypeFor[map[string]simple](), reflect.TypeFor[twofold](),
	} {
		schema, err := native.SchemaOf(t)
		if err != nil {
			panic(err)
		}
		types[schema.Hash()] = t
	}
	return types
}

func FuzzAppendJSON(f *testing.F) {
	types := typesWithJSON()
	for _, v := range append(valuesWithJSON(), everythingValue(), plainKinds{}, deepAny(), map[string]any{"b": square{1}, "a": []any{&circle{2}, pid{}.Node}}) {
		typ := reflect.TypeOf(v)
		schema, err := native.SchemaOf(typ)
		if err != nil {
			f.Fatal(err)
		}
		pointer := reflect.New(typ)
		pointer.Elem().Set(reflect.ValueOf(v))
		data, err := native.Append(nil, pointer.Interface())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(schema.Bytes(), data[8:])
	}
	f.Add(chain(20), make([]byte, 100))
	f.Fuzz(func(t *testing.T, schemaBytes, data []byte) {
		schema, err := native.ParseSchema(schemaBytes)
		if err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, err := schema.AppendJSON(nil, data)
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(4<<20+8*512*len(data)); got > limit {
			t.Errorf("%d bytes of data made %d bytes, want at most %d", len(data), got, limit)
		}
		if err == nil {
			if err := json.Codec.Decode(text, new(any)); err != nil {
				t.Errorf("%s\nis no JSON: %v", text, err)
			}
		}
		if typ, ok := types[schema.Hash()]; ok {
			compareJSON(t, typ, text, err, data)
		}
	})
}

func deepAny() any { return []any{[]any{map[string]any{"b": []any{1, "b"}, "a": nil}}} }

// compareJSON wants of AppendJSON what decoding data and encoding the value as JSON gives.
func compareJSON(t *testing.T, typ reflect.Type, got []byte, gotErr error, data []byte) {
	value := reflect.New(typ).Interface()
	hash := hashOf(t, typ)
	err := native.Decode(append(hash[:], data...), value)
	var want []byte
	if err == nil {
		want, err = json.Codec.Append(nil, value)
	}
	if (err == nil) != (gotErr == nil) {
		t.Fatalf("%s: AppendJSON says %v, the two codecs say %v", typ, gotErr, err)
	}
	if err == nil && string(got) != string(want) {
		t.Errorf("%s\ngot  %s\nwant %s", typ, got, want)
	}
}

func hashOf(t *testing.T, typ reflect.Type) native.Hash {
	schema, err := native.SchemaOf(typ)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Hash()
}

func ExampleSchema_AppendJSON() {
	type Point struct {
		X    int      `json:"x"`
		Tags []string `json:"tags"`
	}
	data, err := native.For[Point]().Append(nil, &Point{X: -2})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Elsewhere, where there is no type Point but the schema has come over the link.
	schema, err := native.ParseSchema(native.For[Point]().Schema().Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := schema.AppendJSON(nil, data)
	fmt.Printf("%s %v\n", text, err)
	// Output: {"x":-2,"tags":[]} <nil>
}

func BenchmarkJSON(b *testing.B) {
	v := nestedValue()
	data, err := native.For[nested]().Append(nil, &v)
	if err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 0, 4096)
	b.Run("AppendJSON", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := native.For[nested]().Schema().AppendJSON(buffer, data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode and codec/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var back nested
			if err := native.For[nested]().Decode(data, &back); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Codec.Append(buffer, &back); err != nil {
				b.Fatal(err)
			}
		}
	})
}
