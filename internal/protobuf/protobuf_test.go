package protobuf_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/claim"
	"github.com/sabir-go/sabir/internal/protobuf"
)

func TestAMessageComesBack(t *testing.T) {
	c := protobuf.Codec
	sent := wrapperspb.String("Ada")
	for name, v := range map[string]any{"a message": sent, "a variable that holds one": &sent} {
		data, err := c.Append([]byte("before"), v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got *wrapperspb.StringValue
		if err := c.Decode(data[len("before"):], &got); err != nil || !proto.Equal(got, sent) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		into := wrapperspb.String("Bob")
		if err := c.Decode(data[len("before"):], into); err != nil || !proto.Equal(into, sent) {
			t.Errorf("%s, into a message: got %v, %v", name, into, err)
		}
	}
}

func TestAPointerToAStructIsWrittenAsTheStruct(t *testing.T) {
	type user struct{ Name string }
	for name, c := range map[string]struct{ sent, want *user }{
		"a pointer":        {&user{"Ada"}, &user{"Ada"}},
		"to a zero struct": {&user{}, &user{}},
		"nil":              {nil, &user{}},
	} {
		data, err := protobuf.Codec.Append(nil, &c.sent)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plain, err := protobuf.Codec.Append(nil, *c.want)
		if err != nil || string(data) != string(plain) {
			t.Errorf("%s is written as %x, the struct as %x, %v", name, data, plain, err)
		}
		var got *user
		if err := protobuf.Codec.Decode(data, &got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s comes back as %v, %v", name, got, err)
		}
	}
	if d, err := protobuf.Descriptor(reflect.TypeFor[*user]()); err != nil || d.Name() != "User" {
		t.Errorf("the descriptor is %v, %v", d, err)
	}
}

func TestWhatHasNoValueIsRefused(t *testing.T) {
	c := protobuf.Codec
	type holder struct{ Value wrapperspb.StringValue }
	byValue := reflect.ValueOf(wrapperspb.String("Ada")).Elem().Interface()
	for _, v := range []any{nil, (*int)(nil), make(chan int), func() {}, byValue, &holder{}} {
		if out, err := c.Append([]byte("x"), v); err == nil || string(out) != "x" {
			t.Errorf("Append(%T): %q, %v", v, out, err)
		}
		if err := c.Decode(nil, v); err == nil {
			t.Errorf("Decode into %T: no error", v)
		}
	}
}

func TestBrokenBytesAreACodecError(t *testing.T) {
	var got *wrapperspb.StringValue
	err := protobuf.Codec.Decode([]byte{0xff, 0xff, 0xff}, &got)
	if e, ok := errors.AsType[*codec.Error](err); !ok || e.Codec != "protobuf" {
		t.Errorf("got %v", err)
	}
}

func TestMessagesAreClaimedAndNothingElse(t *testing.T) {
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[*wrapperspb.StringValue](): "protobuf",
		reflect.TypeFor[wrapperspb.StringValue]():  "",
		reflect.TypeFor[*int]():                    "",
		reflect.TypeFor[string]():                  "",
		reflect.TypeFor[any]():                     "",
	} {
		if got := claim.Codec(typ); got != want {
			t.Errorf("%v is claimed by %q, want %q", typ, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	c := protobuf.Codec
	f.Add([]byte{0x0a, 3, 'A', 'd', 'a'})
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m *wrapperspb.StringValue
		if c.Decode(data, &m) == nil {
			if _, err := c.Append(nil, m); err != nil {
				t.Errorf("decoded %x but cannot encode it: %v", data, err)
			}
		}
	})
}

// A list may come in any number of parts: each must not move all that came before.
func TestAListInManyPartsTakesMemoryInProportion(t *testing.T) {
	type lists struct {
		Packed []int64
		Texts  []string
	}
	for name, part := range map[string]string{"packed": "\x0a\x01\x05", "two packed": "\x0a\x02\x05\x06", "not packed": "\x08\x05", "texts": "\x12\x00\x08\x05"} {
		data := []byte(strings.Repeat(part, 20_000))
		var got lists
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := protobuf.Codec.Decode(data, &got)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; err != nil || len(got.Packed) < 20_000 || taken > uint64(100*len(data)) {
			t.Errorf("%s: %d bytes of data took %d bytes for %d elements, %v", name, len(data), taken, len(got.Packed), err)
		}
	}
}

func TestWhatIsWrittenInDepthIsRead(t *testing.T) {
	type chain struct{ Next *chain }
	type holder struct{ Any any }
	var head *chain
	var v any = "end"
	deepest := 0
	for levels := 1; levels < 200; levels++ {
		head, v = &chain{head}, []any{v}
		if data, err := protobuf.Codec.Append(nil, head); err == nil {
			if err := protobuf.Codec.Decode(data, new(chain)); err != nil {
				t.Fatalf("%d messages cannot be read: %v", levels, err)
			}
		}
		if data, err := protobuf.Codec.Append(nil, holder{v}); err == nil {
			if err := protobuf.Codec.Decode(data, new(holder)); err != nil {
				t.Fatalf("%d lists cannot be read: %v", levels, err)
			}
			deepest = levels
		}
	}
	if deepest < 100 || deepest > 128 {
		t.Errorf("the deepest list that is written has %d levels", deepest)
	}
}

func TestAnErrorSaysWhereAndWhat(t *testing.T) {
	type writer struct{ Lines []struct{ Count string } }
	type reader struct{ Lines []struct{ Count int } }
	data, err := protobuf.Codec.Append(nil, writer{Lines: []struct{ Count string }{{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = protobuf.Codec.Decode(data, new(reader))
	if want := "protobuf: at /Lines/0/Count: want a varint, got bytes with their length (offset 3)"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNumbersThatDoNotFitAreRefused(t *testing.T) {
	for _, pair := range []struct{ from, into any }{
		{int64(1 << 40), new(int32)}, {int32(200), new(int8)}, {int8(-1), new(uint8)}, {uint64(1 << 63), new(uint32)}, {int16(-300), new(int8)},
	} {
		data, err := protobuf.Codec.Append(nil, pair.from)
		if err != nil {
			t.Fatal(err)
		}
		if err := protobuf.Codec.Decode(data, pair.into); err == nil || !strings.Contains(err.Error(), "out of the range") {
			t.Errorf("%v into %T: %v", pair.from, pair.into, err)
		}
	}
}

func TestArraysWantAllOfTheirElementsOrNone(t *testing.T) {
	type three struct{ N [3]int32 }
	for name, tt := range map[string]struct {
		data string
		ok   bool
	}{"three": {"\x0a\x03\x01\x02\x03", true}, "none": {"", true}, "two": {"\x0a\x02\x01\x02", false}, "four": {"\x08\x01\x08\x01\x08\x01\x08\x01", false}} {
		if err := protobuf.Codec.Decode([]byte(tt.data), new(three)); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheLastOfTwoCountsAndMessagesAreMerged(t *testing.T) {
	type inner struct{ A, B int32 }
	type outer struct {
		N     int32
		Inner *inner
		Map   map[string]int32
	}
	data := "\x08\x01\x08\x02" + "\x12\x02\x08\x05" + "\x12\x02\x10\x06" + "\x1a\x05\x0a\x01k\x10\x01" + "\x1a\x05\x0a\x01k\x10\x02"
	var got outer
	if err := protobuf.Codec.Decode([]byte(data), &got); err != nil || got.N != 2 || *got.Inner != (inner{5, 6}) || got.Map["k"] != 2 || len(got.Map) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheTargetIsEmptiedFirst(t *testing.T) {
	type value struct {
		A int
		B []int
	}
	got := value{1, []int{1}}
	if err := protobuf.Codec.Decode(nil, &got); err != nil || got.A != 0 || got.B != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
