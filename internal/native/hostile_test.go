package native_test

import (
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
)

// refuses decodes hex into a T and wants an error with part in its text, at pointer.
func refuses[T any](t *testing.T, data, pointer, part string) {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(data, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	err = native.For[T]().Decode(raw, &v)
	fault, ok := errors.AsType[*codec.Error](err)
	if !ok || fault.Pointer != pointer || !strings.Contains(err.Error(), part) {
		t.Errorf("%T from %s: got %v, want %q at %q", v, data, err, part, pointer)
	}
}

func TestBadBytesAreRefusedWithTheirPlace(t *testing.T) {
	refuses[bool](t, "02", "", "bool")
	refuses[int](t, "", "", "ends inside")
	refuses[int](t, "80", "", "ends inside")
	refuses[int](t, "8000", "", "more bytes than it needs")
	refuses[uint64](t, "ffffffffffffffffff02", "", "more than 64 bits")
	refuses[uint64](t, "ffffffffffffffffffff01", "", "more than 64 bits")
	refuses[int16](t, "808004", "", "want int16")
	refuses[int32](t, "8080808010", "", "want int32")
	refuses[uint16](t, "808004", "", "want uint16")
	refuses[uint32](t, "8080808010", "", "want uint32")
	refuses[float32](t, "000000", "", "ends inside")
	refuses[string](t, "0561", "", "ends inside")
	refuses[string](t, "ffffffffffffffffff01", "", "ends inside")
	refuses[[]byte](t, "0561", "", "ends inside")
	refuses[*int](t, "02", "", "want 0 for nil or 1")
	refuses[[]int](t, "05 00", "", "a count of 4 elements, but only 1 bytes")
	refuses[[]int](t, "ffffffffffffffffff01", "", "a count of")
	refuses[map[string]int](t, "03 016100 016100", "", "same key twice")
	refuses[map[string]string](t, "03 01610162 01610163", "", "same key twice")
	refuses[map[string]string](t, "03 01610162 01", "/", "ends inside")
	refuses[map[string]bool](t, "02 016105", "/a", "bool")
	refuses[[]struct{}](t, "03 0001", "", "not a zero byte")
	refuses[[]struct{}](t, "ffffffff0f", "", "a count of")
	refuses[int](t, "00 00", "", "1 bytes after the end")
	refuses[time.Time](t, "00 8094ebdc03 00", "", "nanoseconds")
	refuses[time.Time](t, "00 00 ffffffffffffffffff01", "", "offset")
	refuses[money](t, "01 61", "", "money cannot be decoded")
	refuses[any](t, "03 666f6f", "", "not registered here")
	refuses[complexStruct](t, "00 00 02 05", "/Tags/0", "ends inside")
	refuses[nested](t, "00 00 00 00 00 00 00 00 00 00 00 02 01 61 00 00 02 70 00 00 00 00 00 00 00", "/ComplexMap/a/Tags/0", "ends inside")
}

func TestNoPrefixOfAMessageIsAMessage(t *testing.T) {
	v := everythingValue()
	typ := native.For[everything]()
	data, err := typ.Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		var got everything
		if err := typ.Decode(data[:n], &got); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(data))
		}
	}
}

func TestACyclicValueIsAnErrorThatLeavesTheBuffer(t *testing.T) {
	ring := &page[int]{Items: []int{1}}
	ring.Next = ring
	out, err := native.For[page[int]]().Append([]byte("kept"), ring)
	if err == nil || !strings.Contains(err.Error(), "contains itself") || string(out) != "kept" {
		t.Errorf("got %q, %v", out, err)
	}
	self := map[string]any{}
	self["self"] = self
	if _, err := native.Append(nil, self); err == nil {
		t.Error("a map inside itself was encoded")
	}
}

func TestDepthEndsAtTheSameLevelInBothDirections(t *testing.T) {
	deep := func(levels int) list {
		var v list
		for range levels - 1 {
			v = list{v}
		}
		return v
	}
	same(t, deep(128))
	v := deep(128 + 1)
	if _, err := native.For[list]().Append(nil, &v); err == nil {
		t.Error("encoding goes deeper than MaxDepth")
	}
	data := strings.Repeat("02", 128) + "00"
	refuses[list](t, data, strings.Repeat("/0", 128), "inside each other")
}

// Each level of a recursive slice claims all bytes that are left. Only the first claim may be granted.
func TestNestedCountsCannotClaimTheSameBytesTwice(t *testing.T) {
	const size = 1 << 20
	data := make([]byte, 0, size)
	for range 100 {
		data = append(data, 0x80, 0x80, 0x20) // 524287 elements
	}
	data = append(data, make([]byte, size-len(data))...)
	checkMemory(t, data, 24*size+1<<20, func() {
		var v list
		_ = native.For[list]().Decode(data, &v)
	})
}

func TestAnInterfacesValueCannotReachBeyondItsPlace(t *testing.T) {
	data, err := native.For[[]any]().Append(nil, &[]any{"abc", "d"})
	if err != nil {
		t.Fatal(err)
	}
	length := strings.Index(string(data), "abc") - 2 // the bytes of the value, before the length of the string
	for _, n := range []byte{0, 3, 5, 127} {
		data[length] = n
		if err := native.For[[]any]().Decode(data, new([]any)); err == nil {
			t.Errorf("a length of %d instead of 4 was accepted", n)
		}
	}
}

func TestATwentyByteMessageCannotMakeAGigabyte(t *testing.T) {
	data, err := hex.DecodeString("ffffffff7f" + strings.Repeat("00", 15))
	if err != nil {
		t.Fatal(err)
	}
	for name, decode := range map[string]func() error{
		"slice":   func() error { return native.For[[]nested]().Decode(data, new([]nested)) },
		"map":     func() error { return native.For[map[int]nested]().Decode(data, new(map[int]nested)) },
		"bytes":   func() error { return native.For[[]byte]().Decode(data, new([]byte)) },
		"string":  func() error { return native.For[string]().Decode(data, new(string)) },
		"structs": func() error { return native.For[[]struct{}]().Decode(data, new([]struct{})) },
	} {
		checkMemory(t, data, 64<<10, func() {
			if decode() == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// checkMemory runs decode and wants at most limit bytes allocated by it.
func checkMemory(t *testing.T, data []byte, limit uint64, decode func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	decode()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("%d bytes of data made %d bytes, want at most %d", len(data), got, limit)
	}
}

func TestNilValuesAndTargetsAreErrors(t *testing.T) {
	if _, err := native.For[pid]().Append(nil, nil); err == nil {
		t.Error("Append of a nil pointer: no error")
	}
	if err := native.For[pid]().Decode(nil, nil); err == nil {
		t.Error("Decode into a nil pointer: no error")
	}
	for _, v := range []any{nil, (*int)(nil)} {
		if _, err := native.Append(nil, v); err == nil {
			t.Errorf("Append of %#v: no error", v)
		}
	}
	for _, v := range []any{nil, 1, (*int)(nil)} {
		if err := native.Decode(make([]byte, 9), v); err == nil {
			t.Errorf("Decode into %#v: no error", v)
		}
	}
	if err := native.Decode([]byte("short"), new(int)); err == nil {
		t.Error("a message without a whole hash was accepted")
	}
}

type refusing struct{}

func (refusing) MarshalText() ([]byte, error) { return nil, errors.New("no text today") }
func (*refusing) UnmarshalText([]byte) error  { return nil }

func TestAMethodsErrorIsKept(t *testing.T) {
	_, err := native.Append(nil, map[string]refusing{"a/b": {}})
	if err == nil || !strings.Contains(err.Error(), "/a~1b: native_test.refusing cannot be encoded: no text today") {
		t.Errorf("got %v", err)
	}
}

func TestTypesThatCannotBeEncodedAreNamed(t *testing.T) {
	type twice struct {
		A int `sabir:"x"`
		B int `sabir:"x"`
	}
	type badTag struct {
		A int `sabir:"a,omitempty"`
	}
	type withFunc struct{ Callback func() }
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"func":         {native.For[withFunc]().Err(), "field Callback"},
		"channel":      {native.For[chan int]().Err(), "chan"},
		"two names":    {native.For[twice]().Err(), `both named "x"`},
		"unknown tag":  {native.For[badTag]().Err(), "alias=NAME"},
		"any key":      {native.For[map[any]int]().Err(), "no fixed identity"},
		"pointer key":  {native.For[map[*int]int]().Err(), "no fixed identity"},
		"long name":    {native.For[longName]().Err(), "300 bytes"},
		"in an append": {appendError(make(chan int)), "chan"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, test.err, test.want)
		}
	}
	if _, err := native.For[withFunc]().Append(nil, new(withFunc)); err == nil {
		t.Error("Append does not return Err")
	}
	if err := native.For[withFunc]().Decode(nil, new(withFunc)); err == nil {
		t.Error("Decode does not return Err")
	}
}

func appendError(v any) error {
	_, err := native.Append(nil, v)
	return err
}

func TestTooManyElementsWithoutContentAreNotEncoded(t *testing.T) {
	v := make([]struct{}, 1<<20+1)
	if _, err := native.Append(nil, &v); err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("got %v", err)
	}
}

type longName struct {
	A int `sabir:"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`
}
