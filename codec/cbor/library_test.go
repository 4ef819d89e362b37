package cbor_test

import (
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	library "github.com/fxamacker/cbor/v2"

	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/internal/codectest"
)

// foreign are shapes that the library has other forms for or does not know.
var foreign = map[string]bool{"complex numbers": true, "array of bytes": true}

func TestAnIndependentLibraryReadsWhatIsWritten(t *testing.T) {
	strict, err := library.DecOptions{DupMapKey: library.DupMapKeyEnforcedAPF, DefaultMapType: reflect.TypeFor[map[string]any]()}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range codectest.Shapes() {
		if foreign[shape.Name] {
			continue
		}
		data, err := cbor.Codec.Append(nil, shape.Value)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(shape.Value))
		if err := strict.Unmarshal(data, got.Interface()); err != nil {
			t.Errorf("%s: %v from %.200x", shape.Name, err, data)
			continue
		}
		if text := features.Difference(shape.Value, got.Elem().Interface()); text != "" {
			t.Errorf("%s: %s", shape.Name, text)
		}
	}
}

func TestWhatAnIndependentLibraryWritesIsRead(t *testing.T) {
	for name, options := range map[string]library.EncOptions{
		"text for times":       {Time: library.TimeRFC3339Nano, TimeTag: library.EncTagRequired},
		"shortest, sorted":     {ShortestFloat: library.ShortestFloat16, Sort: library.SortCanonical, Time: library.TimeRFC3339Nano},
		"nil containers empty": {NilContainers: library.NilContainerAsEmpty, Time: library.TimeRFC3339Nano},
	} {
		mode, err := options.EncMode()
		if err != nil {
			t.Fatal(err)
		}
		lenient := features
		lenient.KeepsNil = options.NilContainers == library.NilContainerAsNull
		for _, shape := range codectest.Shapes() {
			if foreign[shape.Name] {
				continue
			}
			data, err := mode.Marshal(shape.Value)
			if err != nil {
				t.Errorf("%s, %s: %v", name, shape.Name, err)
				continue
			}
			got := reflect.New(reflect.TypeOf(shape.Value))
			if err := cbor.Codec.Decode(data, got.Interface()); err != nil {
				t.Errorf("%s, %s: %v from %.200x", name, shape.Name, err, data)
				continue
			}
			if text := lenient.Difference(shape.Value, got.Elem().Interface()); text != "" {
				t.Errorf("%s, %s: %s", name, shape.Name, text)
			}
		}
	}
}

// The examples are those of RFC 8949, appendix A, as far as they fit into Go's types.
func TestTheExamplesOfTheRFCAreRead(t *testing.T) {
	for data, want := range map[string]any{
		"00": int64(0), "01": int64(1), "0a": int64(10), "17": int64(23), "1818": int64(24), "1819": int64(25), "1864": int64(100), "1903e8": int64(1000),
		"1a000f4240": int64(1000000), "1b000000e8d4a51000": int64(1000000000000), "1bffffffffffffffff": uint64(math.MaxUint64),
		"20": int64(-1), "29": int64(-10), "3863": int64(-100), "3903e7": int64(-1000),
		"f90000": 0.0, "f93c00": 1.0, "fb3ff199999999999a": 1.1, "f93e00": 1.5, "f97bff": 65504.0, "fa47c35000": 100000.0, "fa7f7fffff": 3.4028234663852886e+38,
		"fb7e37e43c8800759c": 1.0e+300, "f90001": 5.960464477539063e-8, "f90400": 0.00006103515625, "f9c400": -4.0, "fbc010666666666666": -4.1,
		"f97c00": math.Inf(1), "f9fc00": math.Inf(-1), "fa7f800000": math.Inf(1), "fb7ff0000000000000": math.Inf(1),
		"f4": false, "f5": true, "f6": nil, "f7": nil,
		"c074323031332d30332d32315432303a30343a30305a": time.Date(2013, 3, 21, 20, 4, 0, 0, time.UTC),
		"c11a514b67b0":           time.Date(2013, 3, 21, 20, 4, 0, 0, time.UTC),
		"c1fb41d452d9ec200000":   time.Date(2013, 3, 21, 20, 4, 0, 500_000_000, time.UTC),
		"c249000000000000000001": int64(1),
		"d74401020304":           []byte{1, 2, 3, 4}, "d818456449455446": []byte("dIETF"), "d82076687474703a2f2f7777772e6578616d706c652e636f6d": "http://www.example.com",
		"40": []byte{}, "4401020304": []byte{1, 2, 3, 4}, "60": "", "6161": "a", "6449455446": "IETF", "62225c": `"\`, "62c3bc": "ü", "63e6b0b4": "水", "64f0908591": "𐅑",
		"80": []any{}, "83010203": []any{int64(1), int64(2), int64(3)}, "8301820203820405": []any{int64(1), []any{int64(2), int64(3)}, []any{int64(4), int64(5)}},
		"a0": map[string]any{}, "a201020304": map[string]any{"1": int64(2), "3": int64(4)}, "a26161016162820203": map[string]any{"a": int64(1), "b": []any{int64(2), int64(3)}},
		"826161a161626163":   []any{"a", map[string]any{"b": "c"}},
		"5f42010243030405ff": []byte{1, 2, 3, 4, 5}, "7f657374726561646d696e67ff": "streaming", "9fff": []any{}, "9f018202039f0405ffff": []any{int64(1), []any{int64(2), int64(3)}, []any{int64(4), int64(5)}},
		"83018202039f0405ff": []any{int64(1), []any{int64(2), int64(3)}, []any{int64(4), int64(5)}}, "bf61610161629f0203ffff": map[string]any{"a": int64(1), "b": []any{int64(2), int64(3)}},
		"bf6346756ef563416d7421ff": map[string]any{"Fun": true, "Amt": int64(-2)}, "d9d9f7820102": []any{int64(1), int64(2)},
	} {
		raw, err := hex.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := cbor.Codec.Decode(raw, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v, want %#v", data, got, err, want)
		}
	}
}

func TestWhatTheRFCHasAndGoHasNotIsRefused(t *testing.T) {
	for data, want := range map[string]string{
		"c249010000000000000000": "more than 64 bits", "3bffffffffffffffff": "below -2^63", "c349010000000000000000": "more than 64 bits",
		"f0": "simple value", "f8ff": "simple value",
	} {
		raw, _ := hex.DecodeString(data)
		if err := cbor.Codec.Decode(raw, new(any)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", data, err, want)
		}
	}
}

func TestValuesHaveTheBytesOfTheRFC(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "f6"}, {false, "f4"}, {true, "f5"}, {23, "17"}, {24, "1818"}, {1000, "1903e8"}, {1000000, "1a000f4240"}, {uint64(math.MaxUint64), "1bffffffffffffffff"},
		{-1, "20"}, {-1000, "3903e7"}, {int64(math.MinInt64), "3b7fffffffffffffff"}, {float32(100000), "fa47c35000"}, {1.1, "fb3ff199999999999a"},
		{"", "60"}, {"水", "63e6b0b4"}, {[]byte{1, 2, 3, 4}, "4401020304"}, {[]int{1, 2, 3}, "83010203"}, {map[string]int{"a": 1}, "a1616101"},
		{time.Date(2013, 3, 21, 20, 4, 0, 0, time.UTC), "c074323031332d30332d32315432303a30343a30305a"},
		{time.Date(2013, 3, 21, 20, 4, 0, 5, time.UTC), "c0781e323031332d30332d32315432303a30343a30302e3030303030303030355a"},
	} {
		got, err := cbor.Codec.Append(nil, test.value)
		if err != nil || hex.EncodeToString(got) != test.want {
			t.Errorf("%v: got %x, %v, want %s", test.value, got, err, test.want)
		}
	}
}

// The library decides what is well-formed; within it, this codec refuses only what it documents.
func FuzzAgainstTheLibrary(f *testing.F) {
	for _, data := range []string{"a0", "83010203", "9f01ff", "bf6161f6ff", "f97e00", "c11a514b67b0", "7f6161ff", "d9d9f7820102", "fb3ff199999999999a"} {
		raw, _ := hex.DecodeString(data)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if cbor.Codec.Decode(data, new(any)) == nil {
			if err := library.Wellformed(data); err != nil && !strings.Contains(err.Error(), "exceeded") {
				t.Errorf("%x was read, but %v", data, err)
			}
		}
	})
}
