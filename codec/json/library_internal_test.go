package json

import (
	stdjson "encoding/json"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

type (
	inner struct {
		Price float64 `json:"price"`
		Name  *string `json:"name,omitempty"`
		Next  *inner  `json:"next,omitempty"`
	}
	outer struct {
		Bool    bool             `json:"bool,omitempty"`
		Int     int              `json:"int,omitempty"`
		Int8    int8             `json:"int8"`
		Int32   int32            `json:"int32"`
		Uint16  uint16           `json:"uint16"`
		Uint64  uint64           `json:"uint64"`
		Float32 float32          `json:"float32"`
		Float64 float64          `json:"float64"`
		Text    string           `json:"text"`
		Bytes   []byte           `json:"bytes"`
		Array   [2]int8          `json:"array"`
		Octets  [3]byte          `json:"octets"`
		List    []inner          `json:"list"`
		Map     map[string]inner `json:"map"`
		Any     any              `json:"any"`
		Time    time.Time        `json:"time"`
		For     time.Duration    `json:"for"`
		Addr    netip.Addr       `json:"addr"`
		Raw     jsonv2Raw        `json:"raw,omitempty"`
		Keys    map[int]bool     `json:"keys,omitempty"`
		Zero    time.Time        `json:"zero,omitzero"`
		Quoted  int              `json:"quoted,string"`
		NoTag   *inner
		Self    []outer `json:"self,omitempty"`
	}
	plainOuter struct {
		Bool    bool             `json:"bool,omitempty"`
		Int     int              `json:"int,omitempty"`
		Uint64  uint64           `json:"uint64"`
		Float32 float32          `json:"float32"`
		Text    string           `json:"text"`
		Bytes   []byte           `json:"bytes"`
		Octets  [3]byte          `json:"octets"`
		List    []*inner         `json:"list"`
		Map     map[string]inner `json:"map"`
		Any     any              `json:"any"`
		Time    time.Time        `json:"time"`
		Addr    netip.Addr       `json:"addr"`
		inner
		Self []plainOuter `json:"self,omitempty"`
	}
	jsonv2Raw = stdjson.RawMessage
)

var differentialTargets = []reflect.Type{
	reflect.TypeFor[any](), reflect.TypeFor[outer](), reflect.TypeFor[plainOuter](), reflect.TypeFor[inner](), reflect.TypeFor[string](), reflect.TypeFor[int64](),
	reflect.TypeFor[[]uint64](), reflect.TypeFor[[]float64](), reflect.TypeFor[[]float32](), reflect.TypeFor[map[string]any](), reflect.TypeFor[[]byte](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[[]any](), reflect.TypeFor[map[string][]string](), reflect.TypeFor[**int8](), reflect.TypeFor[struct{}](), reflect.TypeFor[[2]bool](),
}

var corpus = []string{
	"", " ", "null", "true", "false", "tru", "nul", "0", "-0", "00", "01", "-", "-1", "+1", "1.", ".5", "1.5", "1e5", "1E+5", "1e-5", "1e", "1e999", "-1e-999", "0e0",
	"9007199254740993", "18446744073709551615", "18446744073709551616", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
	"123456789012345678", "1234567890123456789", "0.1", "0.30000000000000004", "2.2250738585072011e-308", "5e-324", "1.7976931348623157e308", "1e22", "1e23", "123456789e-30",
	`""`, `"a"`, `"\u0041\ud83d\udc22\/\b\f\n\r\t\"\\"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud800\u0041"`, `"\u00"`, `"\x"`, "\"\x01\"", "\"\x7f\"", "\"\xff\"", "\"\xc3\x28\"", "\"\xed\xa0\x80\"", `"żółw 🐢"`, `"`, `"\`, `"\u12`,
	"[]", "[1]", "[1,2]", "[1,]", "[,1]", "[1 2]", "[", "]", "[]]", "[true,false]", "[[[]]]", " [ 1 , 2 ] ", "\t\r\n[]", "\f[]",
	"{}", `{"a":1}`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"x":[{"b":1,"b":2}]}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"\u0061":1,"a":2}`, `{"":{"":1}}`, `{"a":1}}`,
	`{"price":1,"price":2}`, `{"pr\u0069ce":1}`, `{"price":"x"}`, `{"price":null,"name":null,"next":null}`, `{"next":{"next":{"price":1e400}}}`, `{"other":1e400}`, `{"PRICE":1}`,
	`{"bool":true,"int":-5,"int8":127,"uint16":65535,"uint64":18446744073709551615,"float32":3.4028235e38,"float64":1e-7,"text":"a","bytes":"AAEC","array":[1,2],"octets":[1,2,255]}`,
	`{"int8":128}`, `{"uint16":-1}`, `{"uint64":-0}`, `{"float32":1e39}`, `{"bytes":"AAE"}`, `{"bytes":[1,2]}`, `{"bytes":"AA\u0045C"}`, `{"bytes":"AA EC"}`, `{"bytes":"_-8="}`, `{"array":[1]}`, `{"array":[1,2,3]}`, `{"octets":"AAEC"}`, `{"bytes":"AB=="}`,
	`{"list":[{"price":1},{"price":2,"next":{"price":3}}],"map":{"a":{"price":1},"b":{}}}`, `{"map":{"a":{},"a":{}}}`, `{"any":{"a":[1,"x",null,true,{}]}}`, `{"list":null,"map":null,"any":null,"time":null,"for":null,"addr":null,"raw":null}`,
	`{"time":"2024-01-02T03:04:05.123456789Z","for":5,"addr":"::1","raw":{"a":[1 , 2]},"keys":{"7":true},"quoted":"5"}`, `{"time":"2024-01-02T03:04:05+01:00"}`, `{"time":"2024-01-02"}`, `{"time":"2024-01-02T3:04:05Z"}`, `{"time":"2024-01-02T03:04:05,5Z"}`, `{"time":5}`, `{"time":"2024-01-02T03:04:05+24:00"}`, `{"time":"2024-01-02T03:04:05+23:60"}`, `{"time":"2024-01-02T03:04:05.5-23:59"}`,
	`{"addr":"x"}`, `{"raw":{"a":1,"a":2}}`, `{"keys":{"x":true}}`, `{"quoted":5}`, `{"self":[{"int":1},{"text":"x"}],"NoTag":{"price":2}}`, `"AAEC"`, `"2024-01-02T03:04:05Z"`, `{"u0":0,"u1":1,"u0":2}`,
}

// What is read here, the library reads as the same value; and what the library reads, so does the codec.
func decodesAsTheLibrary(t *testing.T, c *jsonCodec, typ reflect.Type, data []byte) {
	t.Helper()
	want, fast, whole := reflect.New(typ), reflect.New(typ), reflect.New(typ)
	wantErr := jsonv2.Unmarshal(data, want.Interface(), c.library)
	if c.decodeFast(data, fast.Interface()) {
		if wantErr != nil {
			t.Errorf("%s from %q: read as %+v, but the library says %v", typ, data, fast.Elem(), wantErr)
			return
		}
		if !reflect.DeepEqual(fast.Interface(), want.Interface()) {
			t.Errorf("%s from %q:\ngot  %+v\nwant %+v", typ, data, fast.Elem(), want.Elem())
		}
	}
	err := c.Decode(data, whole.Interface())
	if (err == nil) != (wantErr == nil) && !stricter(err) {
		t.Errorf("%s from %q: %v, but the library says %v", typ, data, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(whole.Interface(), want.Interface()) {
		t.Errorf("%s from %q, with both:\ngot  %+v\nwant %+v", typ, data, whole.Elem(), want.Elem())
	}
	if err == nil {
		encodesAsTheLibrary(t, c, want.Interface())
	}
}

// stricter reports whether the codec refuses what the library reads.
func stricter(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "nested deeper") || strings.Contains(err.Error(), "in its case only"))
}

// What is written here, the library writes as the same bytes.
func encodesAsTheLibrary(t *testing.T, c *jsonCodec, v any) {
	t.Helper()
	want, wantErr := jsonv2.Marshal(v, c.library)
	got, ok := c.appendFast(nil, v)
	if !ok {
		return
	}
	if wantErr != nil {
		t.Errorf("%+v was written as %q, but the library says %v", v, got, wantErr)
	} else if string(got) != string(want) {
		t.Errorf("%+v:\ngot  %q\nwant %q", v, got, want)
	}
}

func TestTextIsReadAndWrittenAsTheLibraryDoes(t *testing.T) {
	for _, text := range corpus {
		for _, typ := range differentialTargets {
			decodesAsTheLibrary(t, newCodec(Config{}), typ, []byte(text))
			decodesAsTheLibrary(t, newCodec(Config{Strict: true}), typ, []byte(text))
		}
	}
}

func TestFloatsAreWrittenAsTheLibraryDoes(t *testing.T) {
	c := newCodec(Config{})
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.99e-7, 1e-7, 1e20, 1e21, 1e15, 1e15 + 1, 123456789, 16777216, 16777217, 16777219, 1 << 53, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, 3.5e-10, 1e-10, 1e100, math.Inf(1), math.NaN()} {
		encodesAsTheLibrary(t, c, f)
		encodesAsTheLibrary(t, c, -f)
		encodesAsTheLibrary(t, c, float32(f))
		encodesAsTheLibrary(t, c, []any{f, float32(f)})
	}
}

func TestTheCommonTypesAreNotLeftToTheLibrary(t *testing.T) {
	text := []byte(`{"text":"a","list":[{"price":1}],"map":{"a":{"price":2}},"any":{"x":[1]},"addr":"::1","time":"2024-01-02T03:04:05Z"}`)
	var v plainOuter
	c := newCodec(Config{})
	if !c.decodeFast(text, &v) {
		t.Error("the text was left to the library")
	}
	if _, ok := c.appendFast(nil, &v); !ok {
		t.Error("the value was left to the library")
	}
}

func TestDecodeAddsToWhatTheTargetHoldsAsTheLibraryDoes(t *testing.T) {
	c := newCodec(Config{})
	fresh := func() *plainOuter {
		name := "old"
		return &plainOuter{Int: 5, Text: "old", Bytes: []byte("old"), List: []*inner{{Price: 1}}, Map: map[string]inner{"a": {Price: 1, Name: &name}}, Any: map[string]any{"a": 1.0}, inner: inner{Name: &name}}
	}
	for _, text := range corpus {
		want, got := fresh(), fresh()
		wantErr, err := jsonv2.Unmarshal([]byte(text), want, c.library), c.Decode([]byte(text), got)
		if (err == nil) != (wantErr == nil) && !stricter(err) {
			t.Errorf("%q: %v, but the library says %v", text, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

func FuzzLibrary(f *testing.F) {
	for i, text := range corpus {
		f.Add(byte(i), []byte(text))
		f.Add(byte(1), []byte(text))
		f.Add(byte(2), []byte(text))
	}
	f.Fuzz(func(t *testing.T, pick byte, data []byte) {
		decodesAsTheLibrary(t, newCodec(Config{}), differentialTargets[int(pick)%len(differentialTargets)], data)
	})
}

func FuzzFloat(f *testing.F) {
	f.Add(uint64(0))
	f.Fuzz(func(t *testing.T, bits uint64) {
		encodesAsTheLibrary(t, newCodec(Config{}), []any{math.Float64frombits(bits), math.Float32frombits(uint32(bits))})
	})
}
