package hessian_test

import (
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec/hessian"
)

// The examples of the specification, and the edges of each form.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{int32(262144), "I\x00\x04\x00\x00"}, {int8(-16), "\x80"}, {uint8(255), "\xc8\xff"},
		{int64(8), "\xe8"}, {uint32(1 << 31), "L\x00\x00\x00\x00\x80\x00\x00\x00"}, {time.Duration(300), "\xf9\x2c"},
		{12.25, "\x5f\x00\x00\x2f\xda"}, {math.Copysign(0, -1), "D\x80\x00\x00\x00\x00\x00\x00\x00"}, {math.NaN(), "D\x7f\xf8\x00\x00\x00\x00\x00\x01"},
		{math.Inf(1), "D\x7f\xf0\x00\x00\x00\x00\x00\x00"}, {float32(0.5), "\x5f\x00\x00\x01\xf4"}, {2147483.647, "\x5f\x7f\xff\xff\xff"}, {2147483.648, "DA@bM\xd2\xf1\xa9\xfc"},
		{time.UnixMilli(894621060000), "K\x00\xe3\x83\x8f"}, {time.UnixMilli(1), "J\x00\x00\x00\x00\x00\x00\x00\x01"},
		{"", "\x00"}, {"\u00c3", "\x01\xc3\x83"}, {"\U0001F600", "\x02\xed\xa0\xbd\xed\xb8\x80"},
		{[]byte{1, 2}, "\x22\x01\x02"}, {[3]byte{}, "\x23\x00\x00\x00"}, {[]string(nil), "N"}, {map[bool]int32{true: 1, false: 0}, "HF\x90T\x91Z"},
		{map[int64]string{-1: "a", 2: "b", 1: ""}, "H\xdf\x01a\xe1\x00\xe2\x01bZ"}, {(*person)(nil), "N"}, {hessian.Decimal(""), "N"},
	} {
		if got := string(encode(t, c.value)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%T %v: got %q, want %q", c.value, c.value, got, c.want)
		}
	}
}

func TestNumbersFitEveryTypeThatHoldsThem(t *testing.T) {
	for _, from := range []any{int8(100), int32(100), int64(100), 100.0, big.NewInt(100), uint64(100)} {
		data := encode(t, from)
		for _, to := range []any{int8(100), int16(100), int32(100), int64(100), 100, uint8(100), uint16(100), uint32(100), uint64(100), uint(100), float32(100), 100.0, *big.NewInt(100)} {
			got := reflect.New(reflect.TypeOf(to))
			err := hessian.Codec.Decode(data, got.Interface())
			if _, isBig := to.(big.Int); isBig && from == 100.0 {
				if err == nil {
					t.Error("a double was read as a big.Int")
				}
				continue
			}
			if _, isBig := from.(*big.Int); isBig && (reflect.TypeOf(to).Kind() == reflect.Float32 || reflect.TypeOf(to).Kind() == reflect.Float64) {
				continue
			}
			if err != nil || !reflect.DeepEqual(got.Elem().Interface(), to) {
				t.Errorf("%T into %T: got %v, %v", from, to, got.Elem(), err)
			}
		}
	}
}

func TestNumbersThatDoNotFitAreRefused(t *testing.T) {
	for _, c := range []struct{ from, into any }{
		{int32(128), new(int8)}, {int32(-1), new(uint8)}, {int64(1 << 31), new(int32)}, {int64(-1), new(uint64)}, {1.5, new(int)}, {1e30, new(int64)},
		{math.NaN(), new(int)}, {math.Inf(1), new(int64)}, {1e300, new(float32)}, {uint64(math.MaxUint64), new(int64)}, {int32(-1), new(uint32)},
		{9223372036854775808.0, new(int64)}, {"5", new(int)}, {true, new(int)}, {int32(1), new(bool)}, {int32(1), new(string)}, {"x", new([]byte)},
		{[]byte("x"), new(string)}, {"x", new(time.Time)}, {[]int{1}, new(map[string]int)}, {map[string]int{}, new([]int)}, {[]int{1, 2}, new([3]int)},
		{[]byte{1}, new([2]byte)}, {"1.2.3", new(hessian.Decimal)}, {map[int]int{1: 1}, new(person)}, {map[int]int{1: 1}, new(map[string]any)},
		{&hessian.Map{Entries: []hessian.Entry{{Key: []any{}, Value: 1}}}, new(map[any]any)}, {"x", new(hessian.Object)}, {"x", new(hessian.List)},
		{"x", new(hessian.Map)}, {map[string]any{}, new(hessian.Exception)}, {1.5, new(*big.Int)},
	} {
		if err := hessian.Codec.Decode(encode(t, c.from), c.into); err == nil {
			t.Errorf("%T %v was read as %v", c.from, c.from, reflect.ValueOf(c.into).Elem())
		}
	}
}

func TestNullIsTheZeroValue(t *testing.T) {
	v := everything{Bool: true, Int8: 1, String: "x", Bytes: []byte{1}, Time: time.Unix(1, 0), Color: "RED", Any: 1, List: []everything{{}}}
	typ := reflect.TypeFor[everything]()
	data := []byte("H")
	for i := range typ.NumField() {
		data = append(append(data, encode(t, typ.Field(i).Tag.Get("json"))...), 'N')
	}
	if err := hessian.Codec.Decode(append(data, 'Z'), &v); err != nil || !reflect.ValueOf(v).IsZero() {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	deep := any("x")
	for range 128 + 1 {
		deep = []any{deep}
	}
	for want, v := range map[string]any{
		"more than 128":              deep,
		"not valid UTF-8":            []string{"ok", "\xff"},
		"further from 1970":          time.Date(400_000_000, 1, 1, 0, 0, 0, 0, time.UTC),
		"no decimal number":          hessian.Decimal("1e"),
		"without a Class":            []any{&hessian.Object{}},
		"an Exception without":       &hessian.Exception{},
		"more than 2097152 bits":     new(big.Int).Lsh(big.NewInt(1), 1<<22),
		"complex128 cannot":          complex(1, 2),
		"a key must be":              map[[2]int]int{},
		"at /1: a string":            []any{"ok", "\xff"},
		"at /a~1b/x":                 map[string]any{"a/b": map[string]string{"x": "\xff"}},
		"at /list/0/string: a strin": everything{List: []everything{{String: "\xff"}}},
	} {
		if out, err := hessian.Codec.Append([]byte("dst"), v); err == nil || !strings.Contains(err.Error(), want) || string(out) != "dst" {
			t.Errorf("want %q, got %.50q, %v", want, out, err)
		}
	}
}

func TestStringsAreCutBetweenCharacters(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("a", 0x8000), strings.Repeat("a", 0x8001), strings.Repeat("a", 0x7fff) + "😀", strings.Repeat("a", 0x7fff) + "😀" + strings.Repeat("é", 0x10000),
		strings.Repeat("é", 31), strings.Repeat("é", 32), strings.Repeat("é", 1023), strings.Repeat("é", 1024), strings.Repeat("😀", 16), strings.Repeat("a", 31) + "é",
	} {
		if got := decode[string](t, encode(t, s)); got != s {
			t.Errorf("a string of %d bytes comes back as one of %d", len(s), len(got))
		}
		if got := decode[any](t, encode(t, s)); got != s {
			t.Errorf("in an any, a string of %d bytes is another one", len(s))
		}
	}
}

func TestReadsFourBytesAndSurrogatesInTwoChunks(t *testing.T) {
	for data, want := range map[string]string{
		"\x02\xf0\x9f\x98\x80": "😀", "R\x00\x01\xed\xa0\xbd\x01\xed\xb8\x80": "😀", "\x01\xed\xb8\x80": "\ufffd",
		"\x03\xed\xa0\xbdab": "\ufffdab", "R\x00\x00S\x00\x01a": "a", "\x02\xed\xb8\x80\xed\xa0\xbd": "\ufffd\ufffd", "\x01\xef\xbf\xbd": "\ufffd",
	} {
		if got := decode[string](t, []byte(data)); got != want {
			t.Errorf("%q: got %q, want %q", data, got, want)
		}
	}
	for _, data := range []string{"\x01\xf0\x9f\x98\x80", "\x01\xc0\x80", "\x01\xe0\x80\x80", "\x02a", "R\x00\x01aN"} {
		var s string
		if err := hessian.Codec.Decode([]byte(data), &s); err == nil {
			t.Errorf("%q was read as %q", data, s)
		}
	}
}

func TestBinaryDataComesInChunks(t *testing.T) {
	for _, n := range []int{0, 15, 16, 1023, 1024, 0x8000, 0x8001, 100_000} {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(i * 7)
		}
		if got := decode[[]byte](t, encode(t, want)); !reflect.DeepEqual(got, want) {
			t.Errorf("%d bytes come back as %d", n, len(got))
		}
		if got := decode[any](t, encode(t, want)); !reflect.DeepEqual(got, any(want)) {
			t.Errorf("in an any, %d bytes are others", n)
		}
	}
}

func TestListsWithoutACountEndAtTheirMark(t *testing.T) {
	for _, data := range []string{"W\x91\x92\x93Z", "U\x04[int\x91\x92\x93Z", "V\x04[int\x93\x91\x92\x93", "{\x91\x92\x93", "s\x04[int\x91\x92\x93", "X\x93\x91\x92\x93"} {
		if got := decode[[]int](t, []byte(data)); !reflect.DeepEqual(got, []int{1, 2, 3}) {
			t.Errorf("%q: got %v", data, got)
		}
		if got := decode[[3]int8](t, []byte(data)); got != [3]int8{1, 2, 3} {
			t.Errorf("%q: got %v", data, got)
		}
		if got := decode[hessian.List](t, []byte(data)); !reflect.DeepEqual(got.Items, []any{int32(1), int32(2), int32(3)}) {
			t.Errorf("%q: got %v", data, got)
		}
	}
}

func TestMapsWithKeysOfSeveralKindsAreMaps(t *testing.T) {
	want := &hessian.Map{Entries: []hessian.Entry{{Key: "a", Value: int32(1)}, {Key: int32(2), Value: "b"}}}
	got := decode[any](t, encode(t, want))
	if !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %#v", got)
	}
	if v, ok := got.(*hessian.Map).Get(int32(2)); v != "b" || !ok {
		t.Errorf("got %v, %v", v, ok)
	}
	if _, ok := got.(*hessian.Map).Get([]any{}); ok {
		t.Error("found a key that cannot be compared")
	}
}

func TestRealDecimalsOnly(t *testing.T) {
	for _, s := range []hessian.Decimal{"0", "-1", "+1.5", "1E+3", "1e-10", ".5", "5."} {
		if got := decode[hessian.Decimal](t, encode(t, s)); got != s {
			t.Errorf("got %q, want %q", got, s)
		}
	}
	for _, s := range []hessian.Decimal{".", "-", "1e", "1e+", "1e12345678901", "0x1", "1_0", "NaN", "1 ", hessian.Decimal(strings.Repeat("1", 5000))} {
		if _, err := hessian.Codec.Append(nil, s); err == nil {
			t.Errorf("%.20q was written", s)
		}
	}
}

func TestLastEntryOfAKeyWins(t *testing.T) {
	data := []byte("H\x01a\x91\x01a\x92Z")
	if got := decode[map[string]int](t, data); got["a"] != 2 {
		t.Errorf("got %v", got)
	}
	if got := decode[any](t, data); !reflect.DeepEqual(got, any(map[string]any{"a": int32(2)})) {
		t.Errorf("got %v", got)
	}
}
