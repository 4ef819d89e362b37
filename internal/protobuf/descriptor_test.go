package protobuf_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sabir-go/sabir/internal/protobuf"
)

func describe(t *testing.T, typ reflect.Type) protoreflect.MessageDescriptor {
	t.Helper()
	d, err := protobuf.Descriptor(typ)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFieldsWithoutANumberFollowTheOneBefore(t *testing.T) {
	type numbered struct {
		A int
		B int `protobuf:"10"`
		C int
		D int `protobuf:"2"`
		E int
	}
	fields := describe(t, reflect.TypeFor[numbered]()).Fields()
	for name, want := range map[protoreflect.Name]protoreflect.FieldNumber{"a": 1, "b": 10, "c": 11, "d": 2, "e": 3} {
		if got := fields.ByName(name).Number(); got != want {
			t.Errorf("%s has number %d, want %d", name, got, want)
		}
	}
}

func TestBadNumbersAreRefused(t *testing.T) {
	type twice struct {
		A int `protobuf:"2"`
		B int `protobuf:"2"`
	}
	type zero struct {
		A int `protobuf:"0"`
	}
	type reserved struct {
		A int `protobuf:"19000"`
	}
	type word struct {
		A int `protobuf:"varint"`
	}
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[twice](): "both have number 2", reflect.TypeFor[zero](): `"0" is no number of a field`,
		reflect.TypeFor[reserved](): `"19000" is no number`, reflect.TypeFor[word](): `"varint" is no number`,
	} {
		if _, err := protobuf.Descriptor(typ); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", typ, err, want)
		}
	}
}

func TestKindsOfGoHaveTheirTypesOfProtocolBuffers(t *testing.T) {
	type address struct{ City string }
	type order struct {
		ID       uint64            `json:"id"`
		Line     []address         `json:"line-items"`
		Note     *string           `json:"note"`
		Tags     map[string]string `json:"tags"`
		At       time.Time         `json:"at"`
		Any      any               `json:"any"`
		Wrapped  *wrapperspb.StringValue
		Vertices [][]float32
	}
	d := describe(t, reflect.TypeFor[order]())
	if got := d.FullName(); got != "protobuf_test.Order" {
		t.Errorf("the message is called %s", got)
	}
	for name, want := range map[protoreflect.Name]string{
		"id": "uint64", "line_items": "repeated protobuf_test.Address", "note": "optional string", "tags": "map string string",
		"at": "google.protobuf.Timestamp", "any": "google.protobuf.Value", "wrapped": "google.protobuf.StringValue",
		"vertices": "repeated protobuf_test.Float32ListValue",
	} {
		f := d.Fields().ByName(name)
		if f == nil {
			t.Errorf("there is no field %s", name)
			continue
		}
		if got := describeField(f); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func describeField(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	if f.Message() != nil {
		kind = string(f.Message().FullName())
	}
	switch {
	case f.IsMap():
		return "map " + f.MapKey().Kind().String() + " " + f.MapValue().Kind().String()
	case f.IsList():
		return "repeated " + kind
	case f.HasOptionalKeyword():
		return "optional " + kind
	}
	return kind
}

func TestNamesThatProtocolBuffersLacksAreChangedAndKeptApart(t *testing.T) {
	type odd struct {
		A int `json:"a-b"`
		B int `json:"a b"`
		C int `json:"3d"`
		D int `json:"A_B"`
		E int `json:"żółw"`
	}
	fields := describe(t, reflect.TypeFor[odd]()).Fields()
	for i, want := range []protoreflect.Name{"a_b", "a_b2", "x3d", "a_b3", "w"} {
		if got := fields.Get(i).Name(); got != want {
			t.Errorf("field %d is called %s, want %s", i+1, got, want)
		}
	}
	if got := fields.Get(0).JSONName(); got != "aB" {
		t.Errorf("the JSON name is %q", got)
	}
}

func TestAGeneratedMessageHasItsOwnDescriptor(t *testing.T) {
	if got := describe(t, reflect.TypeFor[*wrapperspb.StringValue]()).FullName(); got != "google.protobuf.StringValue" {
		t.Errorf("got %s", got)
	}
}

func TestADescriptorIsMadeOnce(t *testing.T) {
	if a, b := describe(t, reflect.TypeFor[point]()), describe(t, reflect.TypeFor[point]()); a != b {
		t.Error("two descriptors for one type")
	}
}
