package protobuf_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sabir-go/sabir/internal/codectest"
	"github.com/sabir-go/sabir/internal/protobuf"
)

type point struct {
	X, Y int32
}

type everything struct {
	Bool    bool                      `json:"bool" protobuf:"20"`
	I8      int8                      `json:"i8"`
	I16     int16                     `json:"i16"`
	I32     int32                     `json:"i32"`
	I64     int64                     `json:"i64"`
	U8      uint8                     `json:"u8"`
	U16     uint16                    `json:"u16"`
	U32     uint32                    `json:"u32"`
	U64     uint64                    `json:"u64"`
	F32     float32                   `json:"f32"`
	F64     float64                   `json:"f64"`
	Text    string                    `json:"text"`
	Bytes   []byte                    `json:"bytes"`
	Hash    [4]byte                   `json:"hash"`
	At      time.Time                 `json:"at" protobuf:"1000"`
	Point   point                     `json:"point"`
	MayBe   *int32                    `json:"may-be"`
	Inner   *point                    `json:"inner"`
	Ints    []int                     `json:"ints"`
	Floats  []float32                 `json:"floats"`
	Texts   []string                  `json:"texts"`
	Points  []point                   `json:"points"`
	Near    []*point                  `json:"near"`
	Matrix  [][]float64               `json:"matrix"`
	Three   [3]int16                  `json:"three"`
	ByName  map[string]*point         `json:"byName"`
	ByPoint map[point]string          `json:"byPoint"`
	Lists   map[int32][]string        `json:"lists"`
	Nested  map[string]map[bool]uint8 `json:"nested"`
	Deep    **int                     `json:"deep"`
	Any     any                       `json:"any"`
	PtrAny  *any                      `json:"ptrAny"`
	Waits   *durationpb.Duration      `json:"waits"`
	All     []*durationpb.Duration    `json:"all"`
	Self    []everything              `json:"self"`
}

func full() everything {
	small, deep := int32(-4), 6
	deeper := &deep
	var null any
	return everything{
		Bool: true, I8: -8, I16: -16, I32: -32, I64: math.MinInt64, U8: 8, U16: 16, U32: 32, U64: math.MaxUint64, F32: 0.1, F64: math.Copysign(0, -1),
		Text: "żółw", Bytes: []byte{0, 1}, Hash: [4]byte{1, 0, 0, 2}, At: time.Unix(-5, 7).UTC(), Point: point{1, -2}, MayBe: &small, Inner: &point{},
		Ints: []int{0, -1, 300}, Floats: []float32{1, 2}, Texts: []string{"", "a"}, Points: []point{{}, {1, 2}}, Near: []*point{{}, {3, 4}},
		Matrix: [][]float64{{1}, {2, 3}}, Three: [3]int16{1, 0, -3}, ByName: map[string]*point{"a": {1, 2}}, ByPoint: map[point]string{{1, 2}: "x"},
		Lists: map[int32][]string{-1: {"a", "b"}}, Nested: map[string]map[bool]uint8{"a": {true: 1}}, Deep: &deeper,
		Any: map[string]any{"list": []any{nil, true, 1.5, "x"}}, PtrAny: &null, Waits: durationpb.New(time.Second), All: []*durationpb.Duration{durationpb.New(1)},
		Self: []everything{{Text: "inner"}, {}},
	}
}

// dynamic decodes data by google's library with the derived descriptor and wants all of it to be known.
func dynamic(t *testing.T, typ reflect.Type, data []byte) *dynamicpb.Message {
	t.Helper()
	descriptor, err := protobuf.Descriptor(typ)
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(descriptor)
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatalf("the library refuses what Append wrote: %v\n%x", err, data)
	}
	if unknown := unknownFields(m); unknown != "" {
		t.Errorf("the library does not know a field of %s", unknown)
	}
	return m
}

func unknownFields(m protoreflect.Message) (where string) {
	if len(m.GetUnknown()) > 0 {
		return string(m.Descriptor().FullName())
	}
	look := func(v protoreflect.Value) bool {
		if inner, ok := v.Interface().(protoreflect.Message); ok {
			where = unknownFields(inner)
		}
		return where == ""
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsList():
			for i := range v.List().Len() {
				look(v.List().Get(i))
			}
		case f.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { return look(v) })
		default:
			look(v)
		}
		return where == ""
	})
	return where
}

func TestTheLibraryReadsWhatAppendWroteAndDecodeReadsTheLibrary(t *testing.T) {
	values := map[string]any{"everything": full(), "nothing": everything{}}
	for _, shape := range codectest.Shapes() {
		if features.Refuses[shape.Name] == "" {
			values[shape.Name] = shape.Value
		}
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			data, err := protobuf.Codec.Append(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := proto.MarshalOptions{Deterministic: true}.Marshal(dynamic(t, reflect.TypeOf(v), data))
			if err != nil {
				t.Fatal(err)
			}
			if len(theirs) != len(data) {
				t.Errorf("the library writes %d bytes, Append wrote %d", len(theirs), len(data))
			}
			ours, back := reflect.New(reflect.TypeOf(v)), reflect.New(reflect.TypeOf(v))
			if err := protobuf.Codec.Decode(data, ours.Interface()); err != nil {
				t.Fatal(err)
			}
			if err := protobuf.Codec.Decode(theirs, back.Interface()); err != nil {
				t.Fatalf("Decode refuses what the library wrote: %v\n%x", err, theirs)
			}
			if name == "everything" { // generated messages compare by proto.Equal only, so by their text
				if !proto.Equal(dynamic(t, reflect.TypeOf(v), mustAppend(t, back.Interface())), dynamic(t, reflect.TypeOf(v), data)) {
					t.Error("the library's bytes give another value than Append's")
				}
				return
			}
			if !reflect.DeepEqual(back.Interface(), ours.Interface()) {
				t.Errorf("got %+v from the library's bytes, %+v from Append's", back.Elem(), ours.Elem())
			}
		})
	}
}

func mustAppend(t *testing.T, v any) []byte {
	t.Helper()
	data, err := protobuf.Codec.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTheDescriptorSaysWhatTheBytesMean(t *testing.T) {
	text, err := protojson.Marshal(dynamic(t, reflect.TypeFor[everything](), mustAppend(t, full())))
	if err != nil {
		t.Fatal(err)
	}
	clean := strings.ReplaceAll(string(text), `": `, `":`)
	for _, want := range []string{
		`"i64":"-9223372036854775808"`, `"u64":"18446744073709551615"`, `"i8":-8`, `"text":"żółw"`, `"at":"1969-12-31T23:59:55.000000007Z"`,
		`"mayBe":-4`, `"inner":{}`, `"texts":["",`, `"waits":"1s"`, `"byName":{"a":{"x":1,`, `"f64":-0`, `"bytes":"AAE="`, `"ptrAny":{}`,
	} {
		if !strings.Contains(clean, want) {
			t.Errorf("protojson does not have %s in\n%s", want, text)
		}
	}
}

func TestBytesAreThoseOfGeneratedMessagesWithTheSameFields(t *testing.T) {
	stamp, err := proto.Marshal(&timestamppb.Timestamp{Seconds: -5, Nanos: 7})
	if err != nil {
		t.Fatal(err)
	}
	type timestamp struct {
		Seconds int64
		Nanos   int32
	}
	if got := mustAppend(t, timestamp{-5, 7}); !bytes.Equal(got, stamp) {
		t.Errorf("got %x, want %x", got, stamp)
	}
	dynamicValue, err := structpb.NewValue(map[string]any{"a": []any{1.0, nil, "x", true, map[string]any{}}})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := proto.Marshal(dynamicValue)
	if err != nil {
		t.Fatal(err)
	}
	type carrier struct{ V any }
	got := mustAppend(t, carrier{map[string]any{"a": []any{1, nil, "x", true, map[string]any{}}}})
	if want := append([]byte{0x0a, byte(len(theirs))}, theirs...); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestListsOfNumbersAreReadPackedAndNot(t *testing.T) {
	type numbers struct{ N []int32 }
	for name, data := range map[string][]byte{"packed": {0x0a, 3, 1, 2, 3}, "one by one": {0x08, 1, 0x08, 2, 0x08, 3}, "both": {0x0a, 2, 1, 2, 0x08, 3}} {
		var got numbers
		if err := protobuf.Codec.Decode(data, &got); err != nil || !reflect.DeepEqual(got.N, []int32{1, 2, 3}) {
			t.Errorf("%s: %v, %v", name, got.N, err)
		}
	}
}

func TestAnAnyThatComesTwiceIsMergedAsTheLibraryDoes(t *testing.T) {
	type carrier struct{ V any }
	object := func(key string, v float64) []byte { return mustAppend(t, carrier{map[string]any{key: v}}) }
	list := func(v float64) []byte { return mustAppend(t, carrier{[]any{v}}) }
	unknown := []byte{0x0a, 2, 0x10, 1} // the field of a number, as a varint
	for name, test := range map[string]struct {
		data []byte
		want any
	}{
		"objects grow":                  {slices.Concat(object("a", 1), object("b", 2), object("a", 3)), map[string]any{"a": 3.0, "b": 2.0}},
		"lists grow":                    {slices.Concat(list(1), list(2)), []any{1.0, 2.0}},
		"others are replaced":           {slices.Concat(object("a", 1), list(2), mustAppend(t, carrier{"x"})), "x"},
		"what is not known is left out": {slices.Concat(object("a", 1), unknown), map[string]any{"a": 1.0}},
		"a list after an object is new": {slices.Concat(list(1), object("a", 1), list(2)), []any{2.0}},
	} {
		var got carrier
		if err := protobuf.Codec.Decode(test.data, &got); err != nil || !reflect.DeepEqual(got.V, test.want) {
			t.Errorf("%s: got %v, %v", name, got.V, err)
		}
	}
}

// unmarshal is proto.Unmarshal, which panics for dynamic messages where the key of a map's entry comes again with a wire type
// that is not its own (v1.36.12, proto/decode.go, unmarshalMap: it forgets the first).
func unmarshal(data []byte, m proto.Message) (panicked bool, err error) {
	defer func() { panicked = recover() != nil }()
	return false, proto.Unmarshal(data, m)
}

// What Decode accepts the library accepts as well, and what the library makes of it Decode reads as the same value.
func FuzzTheLibraryAgrees(f *testing.F) {
	for _, v := range []any{full(), everything{}} {
		data, err := protobuf.Codec.Append(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	descriptor, err := protobuf.Descriptor(reflect.TypeFor[everything]())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours everything
		if protobuf.Codec.Decode(data, &ours) != nil {
			return
		}
		m := dynamicpb.NewMessage(descriptor)
		if panicked, err := unmarshal(data, m); panicked {
			return
		} else if err != nil {
			t.Fatalf("the library refuses what Decode accepted: %v", err)
		}
		theirs, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again everything
		if err := protobuf.Codec.Decode(theirs, &again); err != nil {
			t.Fatalf("Decode refuses what the library made of the same bytes: %v", err)
		}
		first, err := protobuf.Codec.Append(nil, ours)
		if err != nil {
			return // such as an any that holds a number beyond what it may
		}
		second, err := protobuf.Codec.Append(nil, again)
		if err != nil || len(first) != len(second) {
			t.Errorf("%d bytes, and %d by way of the library: %v", len(first), len(second), err)
		}
	})
}
